import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { fleet, problem } from '../fixtures'
import { steerTime } from '../kubeopera'
import { render } from './state'

async function fillIn(username: string, password: string) {
  await page.getByLabelText('Username').fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

render([
  {
    name: 'palette',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByRole('button', { name: 'Search or jump to' }).click()
      await page.getByRole('combobox', { name: 'Search or jump to' }).fill('pro')
      await expect.element(page.getByRole('option', { name: /^prod-payments-euw1/ })).toBeVisible()
    },
  },
  { name: 'missing page', path: '/nowhere', says: 'There is no page here' },
  {
    name: 'server away',
    path: '/clusters',
    arrange: (s) => {
      const pass = steerTime()
      // It is asked for three times.
      s.on('GET /api/v1/session', () => {
        void pass(4_000)
        return 'network error'
      })
    },
    says: 'KubeOpera is not answering',
  },
  {
    name: 'account menu',
    path: '/clusters',
    says: 'Get Started',
    act: async () => {
      await page.getByRole('button', { name: 'Account of admin' }).click()
      await expect.element(page.getByRole('menuitem', { name: 'Log out' })).toBeVisible()
    },
  },
  {
    name: 'login',
    path: '/login',
    arrange: (s) => {
      s.loggedIn = false
    },
    says: 'Log in to KubeOpera',
  },
  {
    name: 'login refused',
    path: '/login?ended=true',
    arrange: (s) => {
      s.loggedIn = false
      s.on('POST /api/v1/session', {
        status: 401,
        body: problem(401, 'wrong_credentials', 'The username or the password is wrong.'),
      })
    },
    says: 'Your session ended',
    act: async () => {
      await fillIn('admin', 'wrong')
      await expect.element(page.getByRole('alert')).toHaveTextContent('The username or the password is wrong.')
    },
  },
  {
    name: 'login throttled',
    path: '/login',
    arrange: (s) => {
      s.loggedIn = false
      s.on('POST /api/v1/session', {
        status: 429,
        headers: { 'retry-after': '30' },
        body: problem(429, 'too_many_attempts', 'Too many attempts to log in.'),
      })
    },
    says: 'Log in to KubeOpera',
    act: async () => {
      await fillIn('admin', 'wrong')
      await expect.element(page.getByRole('alert')).toHaveTextContent(/^Too many attempts\. Try again in \d+ s\.$/)
    },
  },
  {
    name: 'overview',
    path: '/',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'Clusters ready',
  },
])
