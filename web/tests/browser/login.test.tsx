import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { problem, session } from './fixtures'
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

test('where there is an identity provider, a link leads there and back to the page that was asked for', async () => {
  const server = await loggedOut()
  server.on('GET /api/v1/session/ways', { status: 200, body: { password: true, oidc: { name: 'Acme' } } })
  await open('/clusters/new?way=connect')
  const link = page.getByRole('link', { name: 'Log in with Acme' })
  await expect.element(link).toHaveAttribute('href', '/api/v1/session/oidc?return_to=%2Fclusters%2Fnew%3Fway%3Dconnect')
  await expect.element(username).toBeVisible()
})

test('where there is none, or nobody knows, people log in with passwords', async () => {
  const server = await loggedOut()
  server.on('GET /api/v1/session/ways', { status: 503, body: problem(503, 'not_available', 'Not now.') })
  await open('/login')
  await expect.element(username).toBeVisible()
  await expect.element(page.getByRole('link')).not.toBeInTheDocument()
})

test('whoever the identity provider could not log in reads why, whatever the word', async () => {
  await loggedOut()
  for (const [word, sentence] of [
    ['oidc_rejected', 'could not be trusted'],
    ['oidc_no_access', 'Ask a platform administrator which group'],
    ['oidc_unavailable', 'could not be asked'],
    ['unheard_of', 'You could not be logged in.'],
  ]) {
    const { screen } = await open(`/login?refused=${word}`)
    await expect.element(page.getByRole('alert')).toHaveTextContent(sentence ?? '')
    await screen.unmount()
  }
})

const newPassword = page.getByRole('textbox', { name: 'New password', exact: true })
const again = page.getByRole('textbox', { name: 'New password again' })
const setIt = page.getByRole('button', { name: 'Set password and continue' })
const newcomer = { ...session, must_change_password: true }

test('whoever logs in with the printed password chooses another before anything else', async () => {
  const server = await loggedOut()
  const sent: unknown[] = []
  server.on('POST /api/v1/session', { status: 200, body: newcomer })
  server.on(`PUT /api/v1/users/${session.user.id}/password`, async (request) => {
    sent.push(await request.json())
    server.loggedIn = true
    return { status: 200, body: { ended_tokens: [] } }
  })
  const { router } = await open('/clusters')
  await username.fill('admin')
  await password.fill('printed password')
  await submit.click()
  await expect.element(page.getByRole('heading', { name: 'Choose a password' })).toBeVisible()
  await newPassword.fill('short')
  await setIt.click()
  await expect.element(page.getByText('Use at least 12 characters.')).toBeVisible()
  await newPassword.fill('correct horse battery')
  await again.fill('correct horse')
  await setIt.click()
  await expect.element(page.getByText('This is not the same password.')).toBeVisible()
  await again.fill('correct horse battery')
  await setIt.click()
  await expect.element(page.getByText('Get Started')).toBeVisible()
  expect(router.state.location.href).toBe('/clusters')
  expect(sent).toEqual([{ current_password: 'printed password', password: 'correct horse battery' }])
})

test('whoever reloads the page in between enters the printed password again, and is told what is wrong', async () => {
  const server = new Server()
  server.on('GET /api/v1/session', { status: 200, body: newcomer })
  server.on(`PUT /api/v1/users/${session.user.id}/password`, {
    status: 422,
    body: { ...problem(422, 'wrong_password', 'Your present password is another one.'), field: 'current_password' },
  })
  await open('/clusters')
  const printed = page.getByRole('textbox', { name: 'Printed password' })
  await newPassword.fill('correct horse battery')
  await again.fill('correct horse battery')
  await setIt.click()
  await expect.element(page.getByText('Enter the password that KubeOpera printed.')).toBeVisible()
  await printed.fill('guess')
  await setIt.click()
  await expect.element(page.getByText('Your present password is another one.')).toBeVisible()
  await expect.element(printed).toHaveFocus()
})
