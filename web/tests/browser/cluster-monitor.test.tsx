import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import type { ClusterMonitor } from '@/api/model'
import { fleet } from './fixtures'
import { open, Server } from './kubeopera'
import { minutesAgo, monitored, node } from './monitor-fixtures'

const section = (name: string) => page.getByRole('region', { name, exact: true })

async function showing(change: Partial<ClusterMonitor> = {}) {
  const server = new Server()
  server.clusters = fleet()
  server.on('GET /api/v1/clusters/c-4/monitor', { status: 200, body: monitored(change) })
  await open('/clusters/c-4')
  await expect.element(section('Health')).toBeVisible()
  return server
}

test('the score is accounted for: each deduction is a line, and so is what was not assessed and why', async () => {
  await showing()
  await expect.element(section('Health')).toHaveTextContent(/72\.5 of 100, amber\.27\.5 points lost\./)
  const lines = section('Health').getByRole('list', { name: 'Deductions' }).getByRole('listitem')
  await expect.element(lines).toHaveLength(3)
  await expect.element(lines.nth(0)).toHaveTextContent(/−1010 points lost: The node is not ready.*Node ip-10-0-1-9$/)
  await expect.element(lines.nth(1)).toHaveTextContent(/−2\.5.*Pod shop\/cart-7d9f$/)
  await expect.element(lines.nth(2)).toHaveTextContent('15 more pods have failed.')
  await expect
    .element(section('Health').getByRole('list', { name: 'Not assessed' }))
    .toHaveTextContent('etcd. The cloud operates etcd and does not show it.')
})

test('a score without deductions says so', async () => {
  await showing({ health: { score: 100, colour: 'green', deducted: 0, deductions: [], not_assessed: [] } })
  await expect.element(section('Health')).toHaveTextContent(/100 of 100, green\.Nothing costs points\.$/)
})

test('nodes that need a look come first, with what they have, use, request and cost', async () => {
  await showing()
  const rows = section('Nodes').getByRole('row')
  await expect.element(rows).toHaveLength(3)
  await expect
    .element(rows.nth(1))
    .toHaveTextContent(
      /^ip-10-0-1-9Joined 9.d agoNot readyCordonedMemory–not known yet used–not known yet requested of/,
    )
  await expect.element(rows.nth(1)).toHaveTextContent(/Spot · eu-north-1a–not known yet$/)
  await expect
    .element(rows.nth(2))
    .toHaveTextContent(
      /^ip-10-0-1-7.*ReadyNone0\.8.cores \(41%\) used1\.3.cores \(65%\) requested of 1\.9.cores2\.5.GiB \(36%\) used3.GiB \(43%\) requested of 7.GiB2.cores8.GiBv1\.34\.4m6i\.largeOn demand · eu-north-1a\$74$/,
    )
})

test('of 500 nodes, only those that are seen are on the page', async () => {
  await showing({ nodes: Array.from({ length: 500 }, (_, index) => node({ name: `node-${index}` })) })
  const table = section('Table of nodes').getByRole('table')
  await expect.element(table).toHaveAttribute('aria-rowcount', '501')
  expect(document.querySelectorAll('[aria-label="Table of nodes"] tbody th').length).toBeLessThan(100)
})

test('usage says of which nodes it is, and what is not known is not nought', async () => {
  await showing()
  await expect.element(section('Usage').getByRole('meter', { name: 'CPU' })).toHaveAttribute('aria-valuetext', '41%')
  await expect
    .element(section('Usage'))
    .toHaveTextContent(/0\.8.cores of 1\.9.cores used · 2\.6.cores of 3\.9.cores requested \(67%\)/)
  await expect.element(section('Usage')).toHaveTextContent(/2\.5.GiB of 7.GiB used · what pods request is not known/)
  await expect
    .element(section('Usage'))
    .toHaveTextContent(/Measured on 1 of 2 nodes\. The metrics API does not tell of 1 node\.$/)
})

test('the cost is accounted for, and says what is not in it and why', async () => {
  await showing()
  const cost = section('Cost')
  await expect.element(cost).toHaveTextContent(/^Cost\$147 a month of 730 hours, at least/)
  await expect.element(cost).toHaveTextContent(/m6i\.large in eu-north-1\$741 × \$74\.46, list price, on demand/)
  await expect
    .element(cost.getByRole('list', { name: 'Not priced' }))
    .toHaveTextContent(/^1 × a node without an instance type.*No label says of which instance type it is\.$/)
  await expect.element(cost).toHaveTextContent(/Prices are list prices of November 2026\.$/)
})

test('a cost of which nothing is priced is not nought', async () => {
  const cost = monitored().cost
  if (!cost) throw new Error('the fixture has a cost')
  await showing({ cost: { ...cost, total: { monthly: null, priced: 0, not_priced: 3 }, items: [], source: '' } })
  await expect.element(section('Cost')).toHaveTextContent(/^CostNot known.Not priced/)
})

test('events come by last occurrence, and the list says that it is not all of them', async () => {
  const server = await showing()
  const events = section('Recent events')
  await expect.element(events).toHaveTextContent(/By last occurrence\. The latest 2: 480 more are in the cluster/)
  const lines = events.getByRole('listitem')
  await expect
    .element(lines.nth(0))
    .toHaveTextContent(/^Warning: BackOff Pod shop\/cart-7d9f14 times since 40.min ago, last 2.min ago/)
  await expect.element(lines.nth(1)).toHaveTextContent(/^Normal: Pulled.*when is not said/)
  const items = [{ ...monitored().events.items[0], reason: 'Killing', last_seen: minutesAgo(0) }]
  server.on('GET /api/v1/clusters/c-4/monitor', {
    status: 200,
    body: { ...monitored(), events: { items, more: 0, not_readable: null } },
  })
  await events.getByRole('button', { name: 'Read again' }).click()
  await expect.element(lines).toHaveLength(1)
  await expect.element(events.getByText('Killing')).toBeVisible()
  await expect.element(events).not.toHaveTextContent(/more are in the cluster/)
})

test('many events are shown when asked for', async () => {
  const [event] = monitored().events.items
  if (!event) throw new Error('the fixture has events')
  const items = Array.from({ length: 50 }, (_, index) => ({ ...event, message: `It happened ${index}` }))
  await showing({ events: { items, more: 0, not_readable: null } })
  await expect.element(section('Recent events').getByText('It happened 19')).toBeInTheDocument()
  await expect.element(section('Recent events').getByText('It happened 20')).not.toBeInTheDocument()
  await section('Recent events').getByRole('button', { name: 'Show all 50' }).click()
  await expect.element(section('Recent events').getByText('It happened 49')).toBeInTheDocument()
})

test('what is shown of a cluster that does not answer says how old it is', async () => {
  await showing({
    freshness: { as_of: minutesAgo(12), unreachable: { since: minutesAgo(11), reason: 'No route to host.' } },
  })
  for (const name of ['Health', 'Usage', 'Cost', 'Nodes', 'Recent events'])
    await expect.element(section(name)).toHaveTextContent(/The cluster does not answer: this is as it was 12.min ago\./)
})

test('a cluster that was not read yet says so once', async () => {
  const server = new Server()
  server.clusters = fleet()
  await open('/clusters/c-3')
  await expect
    .element(section('Health'))
    .toHaveTextContent(/^HealthKubeOpera has not read this cluster yet, as it is not Ready\./)
  await expect.element(section('Nodes')).not.toBeInTheDocument()
})

test('a new event of Kubernetes alone brings the page up to date, and what happens on other clusters costs nothing', async () => {
  const server = await showing()
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  const asked = () => server.requests.filter((what) => what.endsWith('/monitor')).length
  const before = asked()
  server.emit('monitor.changed', { ids: ['c-2'] })
  const [event] = monitored().events.items
  if (!event) throw new Error('the fixture has events')
  const events = { items: [{ ...event, reason: 'OOMKilling' }], more: 0, not_readable: null }
  server.on('GET /api/v1/clusters/c-4/monitor', { status: 200, body: monitored({ events }) })
  server.emit('monitor.changed', { ids: ['c-2', 'c-4'] })
  await expect.element(section('Recent events')).toHaveTextContent(/OOMKilling/)
  expect(asked()).toBe(before + 1)
})

test('a cluster that changes faster than it is read is read to the end, and then once more', async () => {
  const server = await showing()
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  const answers: (() => void)[] = []
  let score = 0
  server.on('GET /api/v1/clusters/c-4/monitor', async () => {
    const health = { score: ++score, colour: 'red', deducted: 60, deductions: [], not_assessed: [] } as const
    await new Promise<void>((answer) => answers.push(answer))
    return { status: 200, body: monitored({ health: { ...health, deductions: [], not_assessed: [] } }) }
  })
  for (let news = 0; news < 5; news += 1) server.emit('monitor.changed', { ids: ['c-4'] })
  await expect.poll(() => answers.length).toBe(1)
  server.emit('monitor.changed', { ids: ['c-4'] })
  server.emit('monitor.changed', { ids: ['c-4'] })
  answers[0]?.()
  await expect.element(section('Health')).toHaveTextContent(/1 of 100, red/)
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.()
  await expect.element(section('Health')).toHaveTextContent(/2 of 100, red/)
  expect(answers.length).toBe(2)
})

test('markup in what the cluster says is text', async () => {
  const evil = '<img src=x onerror="document.title=`owned`">'
  const { events, health } = monitored()
  const [event] = events.items
  const [deduction] = health?.deductions ?? []
  if (!event || !health || !deduction) throw new Error('the fixture has these')
  await showing({
    nodes: [node({ name: evil, instance_type: evil, version: evil })],
    health: {
      ...health,
      deductions: [{ ...deduction, message: evil }],
      not_assessed: [{ what: 'etcd', reason: evil }],
    },
    events: { items: [{ ...event, reason: evil, message: evil }], more: 0, not_readable: evil },
  })
  await expect.element(section('Recent events')).toHaveTextContent(evil)
  await expect.element(section('Nodes')).toHaveTextContent(evil)
  expect(document.querySelector('#main img, #main script')).toBeNull()
})
