import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { cluster } from './fixtures'
import { open, Server } from './kubeopera'
import { minutesAgo, multi, row, rows, summary } from './monitor-fixtures'

const table = page.getByRole('region', { name: 'Comparison' })
const tiles = page.getByRole('region', { name: /^Clusters by CPU in use/ })
const live = page.getByText('Live', { exact: true })

function serving(view = multi()) {
  const server = new Server()
  server.on('GET /api/v1/clusters/multi', { status: 200, body: view })
  return server
}

const names = () => [...document.querySelectorAll('tbody th a')].map((link) => link.textContent)

test('the summary says of which clusters each figure is', async () => {
  serving()
  await open('/clusters/multi')
  const figure = (name: string) =>
    [...document.querySelectorAll('#main dt')].find((term) => term.textContent === name)?.parentElement?.textContent
  await expect.element(page.getByText('Average CPU')).toBeVisible()
  expect(figure('Clusters')).toMatch(/^Clusters52 healthy1 degraded1 unreachable1 setting up/)
  expect(figure('Healthy clusters')).toBe('Healthy clusters2of 5 clusters')
  expect(figure('Ready nodes')).toBe('Ready nodes44of 46, in 3 of 5 clusters')
  expect(figure('Average CPU')).toBe('Average CPU83%over 2 of 5 clusters · memory 71%')
  expect(figure('Monthly cost')).toBe('Monthly cost$7,430of 2 of 5 clusters, 3 not or only partly priced')
})

test('nothing that is not known is shown as nought', async () => {
  const nothing = { nodes: { total: 0, ready: 0 }, nodes_of: 0, cpu_percent: null, cpu_of: 0, monthly_cost: null }
  serving(multi({ summary: summary({ ...nothing, memory_percent: null, priced: 0, not_priced: 5 }) }))
  await open('/clusters/multi')
  await expect.element(page.getByText('over 0 of 5 clusters')).toBeVisible()
  for (const name of ['Ready nodes', 'Average CPU', 'Monthly cost'])
    expect(page.getByText(name, { exact: true }).element().nextElementSibling?.textContent).toBe('–not known yet')
})

test('the worst health comes first, heads turn the order, and the address keeps it', async () => {
  serving()
  const { router } = await open('/clusters/multi')
  await expect.element(table).toBeVisible()
  const byHealth = ['prod-payments-euw1', 'staging-ledger', 'oslo-edge-lab', 'kubeopera-host', 'dev-ml-train']
  expect(names()).toEqual(byHealth)
  const head = (name: string) => table.getByRole('columnheader', { name })
  await expect.element(head('Health')).toHaveAttribute('aria-sort', 'ascending')
  await head('CPU').getByRole('button').click()
  const byCpu = ['prod-payments-euw1', 'kubeopera-host', 'staging-ledger', 'dev-ml-train', 'oslo-edge-lab']
  await expect.poll(names).toEqual(byCpu)
  await expect.element(head('CPU')).toHaveAttribute('aria-sort', 'descending')
  expect(document.querySelectorAll('[aria-sort]')).toHaveLength(1)
  expect(router.state.location.search).toEqual({ sort: 'cpu' })
  await head('CPU').getByRole('button').click()
  await expect.poll(names).toEqual([...byCpu.slice(0, 3).reverse(), ...byCpu.slice(3)])
  expect(router.state.location.search).toEqual({ sort: 'cpu', direction: 'asc' })
})

test('an address with an order shows it', async () => {
  serving()
  await open('/clusters/multi?sort=cost&direction=asc')
  await expect.element(table).toBeVisible()
  expect(names()).toEqual(['kubeopera-host', 'staging-ledger', 'prod-payments-euw1', 'dev-ml-train', 'oslo-edge-lab'])
})

test('a cluster that does not answer is marked with how old its figures are and why', async () => {
  serving()
  await open('/clusters/multi')
  await expect.element(page.getByText('1 cluster does not answer')).toBeVisible()
  const stale = table.getByRole('row', { name: /^staging-ledger/ })
  await expect.element(stale).toHaveTextContent(/12.min ago.*did not answer within 10 s\./)
  await expect.element(table.getByRole('row', { name: /^kubeopera-host/ })).toHaveTextContent(/now$/)
})

test('each cluster is one tile that says in words what its colour and area say', async () => {
  serving()
  await open('/clusters/multi')
  await expect.element(tiles.getByRole('link')).toHaveLength(5)
  await expect
    .element(tiles.getByRole('link', { name: 'prod-payments-euw1: degraded, 138 cores in use, 86%' }))
    .toBeVisible()
  const unknown = tiles.getByRole('link', { name: 'oslo-edge-lab: healthy, CPU not known' })
  await expect.element(unknown).toHaveAttribute('data-unmeasured')
  expect(getComputedStyle(unknown.element()).backgroundImage).toContain('repeating-linear-gradient')
  const looks = rows().map(({ id }) => {
    const { backgroundColor, backgroundImage, boxShadow, outlineStyle } = getComputedStyle(
      document.querySelector(`[data-id="${id}"]`) as Element,
    )
    return { colour: backgroundColor, pattern: backgroundImage + boxShadow + outlineStyle }
  })
  const [healthy, degraded, unreachable] = looks
  expect(new Set([healthy?.pattern, degraded?.pattern, unreachable?.pattern]).size).toBe(3)
})

test('the tiles are one stop of the Tab key, arrows go on, Enter opens the cluster', async () => {
  const server = serving()
  server.clusters = [cluster({ id: 'c-2', name: 'prod-payments-euw1' })]
  const { router } = await open('/clusters/multi')
  await expect.element(tiles.getByRole('link')).toHaveLength(5)
  expect(document.querySelectorAll('.tile[tabindex="0"]')).toHaveLength(1)
  const reached = new Set<string | undefined>()
  const first = document.querySelector<HTMLElement>('.tile[tabindex="0"]')
  first?.focus()
  await expect.element(page.getByText('38 of 40')).toBeVisible()
  for (const key of ['{Home}', '{ArrowRight}', '{ArrowDown}', '{ArrowDown}', '{ArrowRight}', '{ArrowUp}', '{End}']) {
    await userEvent.keyboard(key)
    reached.add((document.activeElement as HTMLElement).dataset.id)
  }
  expect(reached.size).toBeGreaterThan(2)
  await userEvent.keyboard('{Home}')
  expect(document.activeElement).toBe(first)
  await userEvent.keyboard('{Escape}')
  await expect.element(page.getByText('38 of 40')).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => router.state.location.pathname).toBe('/clusters/c-2')
})

test('pointing at a tile shows its details, and leaving takes them away', async () => {
  serving()
  await open('/clusters/multi')
  await tiles.getByRole('link', { name: /^staging-ledger/ }).hover()
  await expect.element(page.getByText('82 of 100', { exact: true })).toBeVisible()
  await expect.element(page.getByText(/^As it was/)).toHaveTextContent(/12.min ago.*did not answer within 10 s\./)
  await page.getByRole('heading', { name: 'Multi-Cluster' }).hover()
  await expect.element(page.getByText('82 of 100', { exact: true })).not.toBeInTheDocument()
})

test('what the stream tells is shown at once, without asking again', async () => {
  const server = serving()
  await open('/clusters/multi')
  await expect.element(live).toBeVisible()
  await expect.element(table).toBeVisible()
  const asked = () => server.requests.filter((what) => what === 'GET /api/v1/clusters/multi').length
  const before = asked()
  server.emit('monitor', {
    summary: summary({ total: 6, healthy: 4, degraded: 0 }),
    clusters: [
      row({ ...rows()[1], standing: 'healthy', health: { score: 100, colour: 'green' } }),
      row({ id: 'c-6', name: 'brand-new', is_host: false }),
    ],
  })
  await expect.element(table.getByRole('row', { name: /^brand-new/ })).toBeVisible()
  await expect.element(table.getByRole('row', { name: /^prod-payments-euw1/ })).toHaveTextContent(/Healthy/)
  await expect.element(page.getByText('of 6 clusters', { exact: true })).toBeVisible()
  server.emit('cluster.removed', { id: 'c-6' })
  await expect.element(table.getByRole('row', { name: /^brand-new/ })).not.toBeInTheDocument()
  expect(asked()).toBe(before)
})

test('each connection to the stream begins with reading the comparison again', async () => {
  const server = serving()
  await open('/clusters/multi')
  await expect.element(table).toBeVisible()
  server.on('GET /api/v1/clusters/multi', { status: 200, body: multi({ clusters: [row({ name: 'after-the-gap' })] }) })
  server.emit('hello', {})
  await expect.element(table.getByRole('row', { name: /^after-the-gap/ })).toBeVisible()
})

test('Refresh asks every cluster anew and tells who did not answer', async () => {
  const server = serving()
  let wanted: string | null = null
  await open('/clusters/multi')
  await expect.element(table).toBeVisible()
  server.on('GET /api/v1/clusters/multi', (request) => {
    wanted = new URL(request.url).searchParams.get('refresh')
    const stale = { as_of: minutesAgo(1), reason: 'It did not answer within 2 s.' }
    return { status: 200, body: multi({ clusters: [...rows().slice(1), row({ stale })] }) }
  })
  await page.getByRole('button', { name: 'Refresh' }).click()
  await expect.element(page.getByText('2 clusters do not answer')).toBeVisible()
  await expect.element(page.getByText('3 of 5 clusters answered')).toBeInTheDocument()
  expect(wanted).toBe('true')
})

test('names and reasons with markup in them are text', async () => {
  const evil = '<img src=x onerror="document.title=`owned`">'
  serving(multi({ clusters: [row({ name: evil, region: evil, stale: { as_of: null, reason: evil } })] }))
  await open('/clusters/multi')
  await expect.element(table).toHaveTextContent(evil)
  await tiles.getByRole('link').hover()
  expect(document.querySelector('#main table img, #main .tile img, [role=tooltip] img')).toBeNull()
})

test('300 clusters are 300 tiles, and a table of which only what is seen is on the page', async () => {
  const many = Array.from({ length: 300 }, (_, index) =>
    row({
      id: `c-${index}`,
      name: `cluster-${index}`,
      cpu: { percent: 10, used: 10 + index * 40, allocatable: 20_000 },
    }),
  )
  serving(multi({ clusters: many }))
  await open('/clusters/multi?sort=name')
  await expect.element(tiles.getByRole('link')).toHaveLength(300)
  expect(names().slice(0, 3)).toEqual(['cluster-0', 'cluster-1', 'cluster-2'])
  expect(names().length).toBeLessThan(100)
})
