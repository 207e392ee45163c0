import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { cluster, fleet, session } from './fixtures'
import { open, Server } from './kubeopera'

const box = page.getByRole('combobox', { name: 'Search or jump to' })
const options = page.getByRole('option')

function serving() {
  const server = new Server()
  server.clusters = fleet()
  return server
}

test('Ctrl K finds a cluster by a few letters, and Enter goes there', async () => {
  serving()
  const { router } = await open('/clusters')
  await expect.element(page.getByRole('article', { name: 'oslo-edge-lab' })).toBeVisible()
  await userEvent.keyboard('{Control>}k{/Control}')
  await expect.element(box).toHaveFocus()
  await userEvent.keyboard('oslo')
  await expect.element(options).toHaveLength(1)
  await expect.element(options.nth(0)).toHaveAttribute('aria-selected', 'true')
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('heading', { name: 'oslo-edge-lab', level: 1 })).toBeVisible()
  expect(router.state.location.pathname).toBe('/clusters/c-4')
  await expect.element(box).not.toBeInTheDocument()
})

test('arrows go through the entries and round, the box names the one that is meant', async () => {
  serving()
  await open('/')
  await page.getByRole('button', { name: 'Search or jump to' }).click()
  await userEvent.keyboard('theme')
  await expect.element(options).toHaveLength(3)
  await userEvent.keyboard('{ArrowUp}')
  await expect.element(options.nth(2)).toHaveAttribute('aria-selected', 'true')
  await expect.element(box).toHaveAttribute('aria-activedescendant', options.nth(2).element().id)
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => document.documentElement.dataset.theme).toBe('dark')
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.keyboard('theme: sys{Enter}')
  await expect.poll(() => localStorage.getItem('theme')).toBeNull()
})

test('what fits nothing says so, and Escape closes', async () => {
  serving()
  await open('/')
  await page.getByRole('button', { name: 'Search or jump to' }).click()
  await userEvent.keyboard('zzz')
  await expect.element(page.getByText('Nothing fits “zzz”.')).toBeVisible()
  await userEvent.keyboard('{Enter}{Escape}')
  await expect.element(box).not.toBeInTheDocument()
})

test('nobody is offered what their role cannot do', async () => {
  const server = serving()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } })
  await open('/')
  await page.getByRole('button', { name: 'Search or jump to' }).click()
  await expect.element(page.getByRole('option', { name: 'Overview' })).toBeVisible()
  for (const name of ['People', 'Audit log', 'Create a new cluster', 'Register This Cluster'])
    await expect.element(page.getByRole('option', { name })).not.toBeInTheDocument()
})

test('the icon of the tab tells of a failed cluster and of a lost connection', async () => {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]') ?? document.createElement('link')
  link.rel = 'icon'
  document.head.append(link)
  const icon = () => decodeURIComponent(link.href)
  const server = new Server()
  server.clusters = [cluster()]
  await open('/')
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  await expect.poll(icon).toContain('<svg')
  expect(icon()).not.toContain('#dc2626')
  server.update(cluster({ phase: 'Failed' }))
  await expect.poll(icon).toContain('#dc2626')
  server.streamAnswer = 'network error'
  server.dropStreams()
  await expect.poll(icon).toContain('#6b7280')
})
