import { expect, test } from 'vitest'
import { cdp, page } from 'vitest/browser'
import { cluster } from './fixtures'
import { open, Server } from './kubeopera'
import { multi, row } from './monitor-fixtures'

const CLUSTERS = 1_000
const TOGETHER = 250

const factsOf = (at: number) => ({ id: `c-${at}`, name: `cluster-${1_000 + at}`, is_host: false })

/** What the page holds on to, once everything that nobody needs is taken away. */
async function held(): Promise<number> {
  await cdp().send('HeapProfiler.collectGarbage')
  return (await cdp().send('Runtime.getHeapUsage')).usedSize
}

/** Tells of a change of each cluster, so many times, and waits until the last one is on the page. */
async function changes(server: Server, rounds: number, says: string) {
  for (let change = 0; change < rounds * CLUSTERS; change += TOGETHER) {
    const changed = Array.from({ length: TOGETHER }, (_, at) => ({
      ...factsOf((change + at) % CLUSTERS),
      kubernetes_version: `1.34.${change + at}`,
    }))
    server.emitTogether([
      ...changed.map((facts) => ({ event: 'cluster', data: cluster(facts) })),
      { event: 'monitor', data: multi({ clusters: changed.map(row) }) },
    ])
    await new Promise(requestAnimationFrame)
  }
  server.emit('cluster', cluster({ ...factsOf(0), message: says }))
  await expect.element(page.getByText(says).first(), { timeout: 20_000 }).toBeInTheDocument()
}

test('of 10,000 changes, a page of 1,000 clusters keeps only the last ones', async () => {
  const server = new Server()
  server.clusters = Array.from({ length: CLUSTERS }, (_, at) => cluster(factsOf(at)))
  const rows = Array.from({ length: CLUSTERS }, (_, at) => row(factsOf(at)))
  server.on('GET /api/v1/clusters/multi', { status: 200, body: multi({ clusters: rows }) })
  await open('/clusters?view=cards&sort=name')
  await expect.element(page.getByText('1,000 clusters')).toBeVisible()
  await changes(server, 2, 'The first.')
  const before = await held()
  const elements = document.querySelectorAll('*').length
  await changes(server, 8, 'The last.')
  // A change is about 2 kB: had they been kept, it would be four times that.
  const grown = (await held()) - before
  expect(grown).toBeLessThan(4_000_000)
  expect(Math.abs(document.querySelectorAll('*').length - elements)).toBeLessThan(200)
}, 60_000)
