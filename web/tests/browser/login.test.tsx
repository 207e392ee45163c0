import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { problem } from './fixtures'
import { open, Server } from './kubeopera'

const username = page.getByLabelText('Username')
const password = page.getByRole('textbox', { name: 'Password' })
const submit = page.getByRole('button', { name: 'Log in' })

async function loggedOut() {
  const server = new Server()
  server.loggedIn = false
  return server
}

test('a page asked for without a session is shown after logging in', async () => {
  const server = await loggedOut()
  const { router } = await open('/clusters/new?way=connect')
  await username.fill('admin')
  await password.fill('correct horse')
  await submit.click()
  await expect.element(page.getByRole('heading', { name: 'Cluster Setup Wizard' })).toBeVisible()
  expect(router.state.location.href).toBe('/clusters/new?way=connect')
  expect(server.requests.filter((request) => request === 'POST /api/v1/session')).toHaveLength(1)
})

test('an empty field is named and focused, and nothing is sent', async () => {
  const server = await loggedOut()
  await open('/login')
  await submit.click()
  await expect.element(page.getByText('Enter your username.')).toBeVisible()
  await expect.element(username).toHaveFocus()
  await username.fill('admin')
  await submit.click()
  await expect.element(page.getByText('Enter your password.')).toBeVisible()
  await expect.element(password).toHaveFocus()
  expect(server.requests).not.toContain('POST /api/v1/session')
})

test('a refusal says why and selects the password for the next try', async () => {
  const server = await loggedOut()
  server.on('POST /api/v1/session', {
    status: 401,
    body: problem(401, 'wrong', 'The username or the password is wrong.'),
  })
  await open('/login')
  await username.fill('admin')
  await password.fill('wrong')
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('alert')).toHaveTextContent('The username or the password is wrong.')
  await expect.element(password).toHaveFocus()
})

test('while throttled nothing is sent, and the wait counts down until it is over', async () => {
  const server = await loggedOut()
  server.on('POST /api/v1/session', {
    status: 429,
    headers: { 'retry-after': '2' },
    body: problem(429, 'too_many_attempts', 'Too many attempts to log in.'),
  })
  await open('/login')
  await username.fill('admin')
  await password.fill('guess')
  await submit.click()
  await expect.element(page.getByRole('alert')).toHaveTextContent('Too many attempts. Try again in')
  await userEvent.keyboard('{Enter}')
  expect(server.requests.filter((request) => request === 'POST /api/v1/session')).toHaveLength(1)
  await expect.element(page.getByRole('alert'), { timeout: 5_000 }).toHaveTextContent('You can try again now.')
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => server.requests.filter((request) => request === 'POST /api/v1/session')).toHaveLength(2)
})

test('the password can be looked at', async () => {
  await loggedOut()
  await open('/login')
  await expect.element(password).toHaveAttribute('type', 'password')
  await page.getByRole('button', { name: 'Show password' }).click()
  await expect.element(password).toHaveAttribute('type', 'text')
})

test('logging out ends the session and forgets what was read', async () => {
  const server = new Server()
  const { router, queryClient } = await open('/clusters')
  await expect.element(page.getByText('Get Started')).toBeVisible()
  await page.getByRole('button', { name: 'Account of admin' }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await expect.element(page.getByRole('heading', { name: 'Log in to KubeOpera' })).toBeVisible()
  expect(router.state.location.href).toBe('/login')
  expect(server.requests).toContain('DELETE /api/v1/session')
  await expect.poll(() => server.openStreams).toBe(0)
  expect(queryClient.getQueryData(['clusters'])).toBeUndefined()
})

test('a session that ends while the page is open leads to the login page, with the way back kept', async () => {
  const server = new Server()
  const { router } = await open('/clusters')
  await expect.element(page.getByText('Get Started')).toBeVisible()
  server.loggedIn = false
  server.on('POST /api/v1/clusters/register', { status: 401, body: problem(401, 'no_session', 'Nobody is logged in.') })
  await page.getByRole('button', { name: 'Register This Cluster' }).click()
  await expect.element(page.getByText('Your session ended.')).toBeVisible()
  expect(router.state.location.search).toEqual({ next: '/clusters', ended: true })
})
