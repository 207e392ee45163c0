import { afterEach, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { auditEntry, cluster, credential, fleet, person } from './fixtures'
import { open, Server } from './kubeopera'
import { monitored, multi, rows } from './monitor-fixtures'

afterEach(() => localStorage.clear())

const list = (...items: unknown[]) => ({ status: 200, body: { items, next_cursor: null } })

const git = {
  url: 'https://git.acme.com/gitops-iac.git',
  branch: 'trees',
  is_built_in: false,
  is_chosen: true,
  changed_at: new Date(Date.now() - 3_600_000).toISOString(),
  credential: null,
  credentials_secret: 'git',
}

function serving() {
  const server = new Server()
  server.clusters = fleet()
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const entry = {
    id: 'e-1',
    user: 'u',
    address: '::1',
    created_at: hourAgo,
    last_seen_at: hourAgo,
    expires_at: hourAgo,
  }
  return server
    .on('GET /api/v1/clusters/c-4/monitor', { status: 200, body: monitored() })
    .on('GET /api/v1/clusters/multi', { status: 200, body: multi({ clusters: rows() }) })
    .on('GET /api/v1/sessions', list({ ...entry, current: true }))
    .on('GET /api/v1/tokens', list({ ...entry, label: 'CI', last_used_at: hourAgo }))
    .on('GET /api/v1/users', list(person({})))
    .on('GET /api/v1/credentials', list(credential()))
    .on('GET /api/v1/settings/git', { status: 200, body: git })
    .on('GET /api/v1/settings/registry', { status: 200, body: { credential: null } })
    .on('GET /api/v1/audit', list(auditEntry({ position: 1 })))
}

/** Every page: its address, its title in the tab, its own title, and what it shows. */
const pages = [
  ['/', 'Overview', 'Overview', 'Clusters ready'],
  ['/clusters?view=list&sort=health&phase=Ready', 'Clusters', 'Clusters', 'oslo-edge-lab'],
  ['/clusters?view=cards&q=oslo', 'Clusters', 'Clusters', 'oslo-edge-lab'],
  ['/clusters/multi?sort=cost&direction=asc', 'Multi-Cluster', 'Multi-Cluster', 'Average CPU'],
  ['/clusters/c-4', 'oslo-edge-lab', 'oslo-edge-lab', '27.5 points lost.'],
  ['/clusters/none', 'Not found', 'KubeOpera has no such cluster', 'It was disconnected or deleted'],
  ['/clusters/new', 'Cluster Setup Wizard', 'Cluster Setup Wizard', 'Registering is safe to repeat'],
  ['/clusters/new?way=connect', 'Cluster Setup Wizard', 'Cluster Setup Wizard', 'Check Kubeconfig'],
  ['/settings/account', 'Your account', 'Settings', 'CI'],
  ['/settings/people', 'People', 'Settings', 'olga'],
  ['/settings/credentials', 'Cloud credentials', 'Settings', 'acme-platform'],
  ['/settings/git', 'Git and registry', 'Settings', 'https://git.acme.com/gitops-iac.git'],
  ['/settings/audit?outcome=done', 'Audit log', 'Settings', 'Details'],
  ['/nowhere', 'Not found', 'There is no page here', 'Go to'],
] as const

for (const [path, title, heading, shows] of pages)
  test(`${path} can be come to from outside, names itself, tells exact times, and Back leads away from it`, async () => {
    serving()
    const { router } = await open('/clusters?q=oslo&view=list')
    await expect.element(page.getByText('1 of 6 clusters')).toBeVisible()
    await router.navigate({ href: path })
    await expect.element(page.getByRole('heading', { level: 1, name: heading })).toBeVisible()
    await expect.element(page.getByText(shows).first()).toBeInTheDocument()
    await expect.poll(() => document.title).toBe(`${title} · KubeOpera`)
    expect(document.querySelectorAll('h1').length).toBe(1)
    for (const time of document.querySelectorAll('time')) {
      expect(time.title, time.outerHTML).not.toBe('')
      expect(Date.parse(time.dateTime), time.outerHTML).not.toBeNaN()
    }
    // What stands in the address is not thrown away by coming to it.
    const wanted = new URLSearchParams(path.split('?')[1])
    for (const [key, value] of wanted) expect(router.state.location.search).toHaveProperty(key, value)
    router.history.back()
    await expect.poll(() => router.state.location.search).toEqual({ q: 'oslo', view: 'list' })
    await expect.element(page.getByRole('searchbox', { name: 'Find a cluster by name' })).toHaveValue('oslo')
  })

test('the tab is named anew when the cluster of the page is', async () => {
  const server = serving()
  await open('/clusters/c-4')
  await expect.poll(() => document.title).toBe('oslo-edge-lab · KubeOpera')
  server.update(cluster({ ...server.clusters[3], name: 'oslo-lab', revision: 10_000 }))
  await expect.poll(() => document.title).toBe('oslo-lab · KubeOpera')
  await expect.element(page.getByRole('navigation', { name: 'Breadcrumb' })).toHaveTextContent('oslo-lab')
})

test('the icon of the tab tells of trouble, of work under way and of silence', async () => {
  const icon = Object.assign(document.createElement('link'), { rel: 'icon', href: 'data:,' })
  document.head.prepend(icon)
  const server = serving()
  await open('/clusters')
  await expect.poll(() => decodeURIComponent(icon.href)).toContain('#dc2626')
  for (const { id } of server.clusters.filter(({ phase }) => phase === 'Failed')) server.emit('cluster.removed', { id })
  await expect.poll(() => decodeURIComponent(icon.href)).toContain('#d97706')
  server.streamAnswer = 'network error'
  server.dropStreams()
  await expect.poll(() => decodeURIComponent(icon.href), { timeout: 10_000 }).toContain('#6b7280')
  icon.remove()
})

test('nothing moves for people who asked for that', async () => {
  expect(matchMedia('(prefers-reduced-motion: reduce)').matches).toBe(true)
  const server = serving()
  server.on('GET /api/v1/clusters/multi', 'never')
  const { router } = await open('/clusters')
  await expect.element(page.getByText('prod-payments-euw1')).toBeVisible()
  expect(document.getAnimations()).toEqual([])
  await router.navigate({ to: '/clusters/multi' })
  await expect.element(page.getByText('Loading the comparison')).toBeInTheDocument()
  expect(document.getAnimations()).toEqual([])
})

test('what has to be typed elsewhere can be copied', async () => {
  serving()
  const { router } = await open('/clusters/c-4')
  for (const name of ["Copy the cluster's ID", 'Copy the whole commit'])
    await expect.element(page.getByRole('button', { name })).toBeVisible()
  await router.navigate({ to: '/clusters/new', search: { way: 'connect' } })
  await page.getByText('The same as a HostCluster resource').click()
  await expect.element(page.getByRole('button', { name: 'Copy the commands that connect this cluster' })).toBeVisible()
})
