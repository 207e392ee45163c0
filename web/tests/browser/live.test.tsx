import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { cluster, stepsTo } from './fixtures'
import { open, Server } from './kubeopera'

const card = page.getByRole('article', { name: 'kubeopera-host' })
const live = page.getByText('Live', { exact: true })

test('a card follows the phases as they happen, and the change is spoken once', async () => {
  const server = new Server()
  server.clusters = [cluster({ phase: 'BootstrappingFlux', message: 'Installing Flux.' })]
  await open('/clusters')
  await expect.element(card.getByText('BootstrappingFlux')).toBeVisible()
  await expect.element(live).toBeVisible()
  server.update(
    cluster({
      phase: 'GeneratingGitOpsTree',
      phases: stepsTo('GeneratingGitOpsTree'),
      message: 'Committing 142 files.',
    }),
  )
  await expect.element(card.getByText('GeneratingGitOpsTree')).toBeVisible()
  await expect.element(card.getByText('Committing 142 files.')).toBeVisible()
  await expect
    .element(card.getByRole('progressbar'))
    .toHaveAttribute('aria-valuetext', 'Phase 2 of 3: GeneratingGitOpsTree')
  await expect.element(page.getByText('kubeopera-host is now GeneratingGitOpsTree')).toBeInTheDocument()
})

test('an event that is older than what is shown changes nothing', async () => {
  const server = new Server()
  const old = cluster({ phase: 'BootstrappingFlux' })
  server.clusters = [cluster({ phase: 'Ready' })]
  await open('/clusters')
  await expect.element(live).toBeVisible()
  server.emit('cluster', old)
  server.emit('cluster', cluster({ id: 'c-marker', name: 'marker', is_host: false }))
  await expect.element(page.getByRole('article', { name: 'marker' })).toBeVisible()
  await expect.element(card.getByText('Ready', { exact: true })).toBeVisible()
})

test('a removed cluster disappears, and the last one gives way to Get Started', async () => {
  const server = new Server()
  server.clusters = [cluster()]
  await open('/clusters')
  await expect.element(card).toBeVisible()
  await expect.element(live).toBeVisible()
  server.emit('cluster.removed', { id: server.clusters[0]?.id })
  await expect.element(page.getByText('Get Started')).toBeVisible()
})

test('a reset makes the page read the list again', async () => {
  const server = new Server()
  await open('/clusters')
  await expect.element(live).toBeVisible()
  await expect.element(page.getByText('Get Started')).toBeVisible()
  server.clusters = [cluster()]
  server.emit('reset', {})
  await expect.element(card).toBeVisible()
})

test('a lost stream is said, and resumes after the last event', async () => {
  const server = new Server()
  server.clusters = [cluster({ phase: 'BootstrappingFlux' })]
  await open('/clusters')
  await expect.element(live).toBeVisible()
  const newer = cluster({ phase: 'InstallingKubeOpera' })
  server.update(newer)
  await expect.element(card.getByText('InstallingKubeOpera')).toBeVisible()
  server.dropStreams()
  await expect.element(page.getByText('Reconnecting')).toBeVisible()
  await expect.element(live, { timeout: 5_000 }).toBeVisible()
  expect(server.resumedFrom).toEqual([null, String(newer.revision)])
})

test('a stream that was refused because the session ended is not asked for again', async () => {
  const server = new Server()
  server.streamAnswer = { status: 401 }
  await open('/clusters')
  await expect.element(page.getByText('Your session ended.')).toBeVisible()
  expect(server.requests.filter((request) => request === 'GET /api/v1/events')).toHaveLength(1)
})

test('a list longer than one page is read to its end', async () => {
  const server = new Server()
  server.on('GET /api/v1/clusters', (request) => {
    const cursor = new URL(request.url).searchParams.get('cursor')
    const kubernetes = { available: true, reason: null }
    return cursor === 'next'
      ? {
          status: 200,
          body: { items: [cluster({ id: 'c-2', name: 'second', is_host: false })], next_cursor: null, kubernetes },
        }
      : { status: 200, body: { items: [cluster()], next_cursor: 'next', kubernetes } }
  })
  await open('/clusters')
  await expect.element(card).toBeVisible()
  await expect.element(page.getByRole('article', { name: 'second' })).toBeVisible()
})
