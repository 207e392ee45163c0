import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { cluster, problem, session, stepsTo } from './fixtures'
import { open, Server } from './kubeopera'

const register = page.getByRole('button', { name: 'Register This Cluster' })
const card = page.getByRole('article', { name: 'kubeopera-host' })
const posts = (server: Server) => server.requests.filter((request) => request === 'POST /api/v1/clusters/register')

const pending = () =>
  cluster({ phase: 'Pending', phases: stepsTo('Pending').map(({ phase }) => ({ phase, state: 'waiting' })) })

test('one click registers this cluster, opens its card and says so', async () => {
  const server = new Server()
  const host = pending()
  server.on('POST /api/v1/clusters/register', () => {
    server.clusters = [host]
    return { status: 201, body: host }
  })
  await open('/clusters')
  await register.click()
  await expect.element(card).toHaveFocus()
  await expect.element(page.getByText('Registered as kubeopera-host')).toBeVisible()
  await expect.element(page.getByText('Get Started')).not.toBeInTheDocument()
})

test('clicks while the first one is answered send nothing more', async () => {
  const server = new Server()
  let answer = () => {}
  server.on('POST /api/v1/clusters/register', async () => {
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return { status: 201, body: cluster() }
  })
  await open('/clusters')
  await register.click()
  await expect.element(register).toHaveAttribute('aria-disabled', 'true')
  for (let click = 0; click < 5; click++) (register.element() as HTMLElement).click()
  answer()
  await expect.element(card).toBeVisible()
  expect(posts(server)).toHaveLength(1)
})

test('a cluster that is registered already is named, and the receipt leads to its card', async () => {
  const server = new Server()
  server.clusters = [cluster({ name: 'kubeopera-host' })]
  server.on('POST /api/v1/clusters/register', () => ({ status: 200, body: server.clusters[0] }))
  const { router } = await open('/clusters/new')
  await register.click()
  await expect.element(page.getByText('This cluster is already registered as kubeopera-host')).toBeVisible()
  await expect.element(card).toHaveFocus()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('button', { name: 'Show its card' }).click()
  await expect.element(card).toHaveFocus()
  expect(router.state.location.pathname).toBe('/clusters')
})

test('a refusal says what happened beside the button, which can be tried again', async () => {
  const server = new Server()
  server.on('POST /api/v1/clusters/register', {
    status: 503,
    body: problem(503, 'kubernetes_away', 'The API server refused the connection.', 'Try again in a minute.'),
  })
  await open('/clusters')
  await register.click()
  await expect.element(page.getByRole('alert')).toHaveTextContent('This cluster was not registered')
  await expect
    .element(page.getByRole('alert'))
    .toHaveTextContent('The API server refused the connection. Try again in a minute.')
  await expect.element(register).not.toHaveAttribute('aria-disabled')
})

test('the whole way can be gone by keyboard', async () => {
  const server = new Server()
  server.on('POST /api/v1/clusters/register', () => ({ status: 201, body: pending() }))
  await open('/clusters')
  await expect.element(register).toBeVisible()
  await userEvent.keyboard('{Tab}')
  await expect.element(page.getByRole('link', { name: 'Skip to content' })).toHaveFocus()
  for (let tabs = 0; tabs < 20 && document.activeElement !== register.element(); tabs++)
    await userEvent.keyboard('{Tab}')
  await expect.element(register).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  await expect.element(card).toHaveFocus()
})

test('the main dashboard points to Clusters while there is no host cluster, and no longer', async () => {
  const server = new Server()
  const { router } = await open('/')
  await page.getByRole('link', { name: 'Go to Clusters' }).click()
  await expect.element(page.getByText('Get Started')).toBeVisible()
  server.emit('cluster', cluster())
  await expect.element(card).toBeVisible()
  await router.navigate({ to: '/' })
  await expect.element(page.getByText('Clusters ready')).toBeVisible()
  await expect.element(page.getByText('KubeOpera has no host cluster yet')).not.toBeInTheDocument()
})

test('somebody who may only look is told so instead of being given a button', async () => {
  const server = new Server()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } })
  await open('/clusters')
  await expect.element(page.getByText('Your role lets you look at clusters, not register them.')).toBeVisible()
  await expect.element(register).not.toBeInTheDocument()
})

test('the same is shown as a resource, whose tree goes where the trees of new clusters go', async () => {
  const server = new Server()
  server.on('GET /api/v1/settings/git', {
    status: 200,
    body: {
      url: 'https://git.acme.com/iac.git',
      branch: 'trees',
      is_built_in: false,
      is_chosen: true,
      changed_at: null,
      credential: null,
      credentials_secret: 'git-of-acme',
    },
  })
  await open('/clusters/new')
  await page.getByText('The same as a HostCluster resource').click()
  const block = page.getByText('kind: HostCluster')
  await expect.element(block).toHaveTextContent('gitOpsRepoURL: "https://git.acme.com/iac.git" gitOpsBranch: trees')
  await expect.element(block).toHaveTextContent('gitCredentialsSecretRef: "git-of-acme"')
  await expect.element(block).not.toHaveTextContent('Kubeconfig')
})
