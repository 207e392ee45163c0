import { afterEach, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { cluster, context, fleet, problem } from './fixtures'
import { open, Server } from './kubeopera'

const cards = page.getByRole('list', { name: 'Clusters' }).getByRole('article')
const rows = page.getByRole('row')
const search = page.getByRole('searchbox', { name: 'Find a cluster by name' })

afterEach(() => localStorage.clear())

function serving(clusters = fleet()) {
  const server = new Server()
  server.clusters = clusters
  return server
}

const thousand = () =>
  Array.from({ length: 1_000 }, (_, index) =>
    cluster({
      id: `c-${index}`,
      name: `cluster-${index}`,
      is_host: false,
      labels: { env: index % 2 ? 'prod' : 'dev' },
      nodes: { total: index, ready: index },
    }),
  )

test('what is looked for is in the address, and all of it comes back from there', async () => {
  serving([
    cluster({ labels: { env: 'prod' } }),
    cluster({ id: 'c-2', name: 'second', is_host: false, provider: 'gcp', labels: { env: 'prod' } }),
    cluster({ id: 'c-3', name: 'third', is_host: false, phase: 'Failed', labels: { env: 'dev' } }),
  ])
  const { router, screen } = await open('/clusters')
  await expect.element(page.getByText('3 clusters')).toBeVisible()
  await page.getByLabelText('Label').selectOptions('env=prod')
  await expect.element(page.getByText('2 of 3 clusters')).toBeVisible()
  await page.getByLabelText('Provider').selectOptions('gcp')
  await search.fill('SEC')
  await page.getByLabelText('Sort by').selectOptions('name')
  await page.getByRole('button', { name: /Turn the order round/ }).click()
  await expect.element(page.getByText('1 of 3 clusters')).toBeVisible()
  expect(router.state.location.search).toEqual({
    q: 'SEC',
    label: 'env=prod',
    provider: 'gcp',
    sort: 'name',
    direction: 'desc',
  })
  const { href } = router.state.location
  await screen.unmount()
  await open(href)
  await expect.element(search).toHaveValue('SEC')
  await expect.element(page.getByText('1 of 3 clusters')).toBeVisible()
  await expect.element(page.getByRole('article', { name: 'second' })).toBeVisible()
})

test('phases are counted over all clusters, and one click shows those that failed', async () => {
  serving()
  await open('/clusters')
  await expect.element(page.getByRole('button', { name: 'Failed 1' })).toBeVisible()
  await page.getByRole('button', { name: 'Failed 1' }).click()
  await expect.element(cards).toHaveLength(1)
  await expect.element(page.getByRole('button', { name: 'Setting up 3' })).toBeVisible()
  await page.getByRole('button', { name: 'Setting up 3' }).click()
  await expect.element(cards).toHaveLength(3)
})

test('filters that fit nothing say so, and are cleared with one button', async () => {
  serving()
  await open('/clusters?q=nothing-of-this-name')
  await expect.element(page.getByText('No clusters match these filters.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.element(cards).toHaveLength(6)
})

test('a slash goes to the box that finds clusters, but not from inside another one', async () => {
  serving()
  await open('/clusters')
  await expect.element(search).toBeVisible()
  await userEvent.keyboard('/')
  await expect.element(search).toHaveFocus()
  await userEvent.keyboard('a/b')
  await expect.element(search).toHaveValue('a/b')
})

test('the list says the same in rows, sorts by its heads, and is kept as the layout', async () => {
  serving()
  const { router, screen } = await open('/clusters')
  await page.getByRole('button', { name: 'List' }).click()
  await expect.element(rows).toHaveLength(7)
  const nodes = page.getByRole('columnheader', { name: 'Nodes' })
  await nodes.getByRole('button').click()
  await expect.element(nodes).toHaveAttribute('aria-sort', 'descending')
  await expect.element(rows.nth(1)).toHaveTextContent(/prod-search/)
  await nodes.getByRole('button').click()
  await expect.element(nodes).toHaveAttribute('aria-sort', 'ascending')
  await expect.element(rows.nth(1)).toHaveTextContent(/oslo-edge-lab/)
  await expect.element(rows.nth(6)).toHaveTextContent(/prod-payments|dev-ml/)
  expect(router.state.location.search).toMatchObject({ view: 'list', sort: 'nodes', direction: 'asc' })
  await screen.unmount()
  await open('/clusters')
  await expect.element(rows).toHaveLength(7)
})

test('a thousand clusters are a list of which few rows are on the page, and any of them can be found', async () => {
  serving(thousand())
  await open('/clusters')
  await expect.element(page.getByText('1,000 clusters')).toBeVisible()
  await expect.element(page.getByRole('table')).toHaveAttribute('aria-rowcount', '1001')
  await expect.poll(() => document.querySelectorAll('tbody tr').length).toBeGreaterThan(10)
  expect(document.querySelectorAll('tbody tr').length).toBeLessThan(60)
  expect(document.querySelectorAll('*').length).toBeLessThan(2_500)
  scrollTo(0, document.body.scrollHeight)
  await expect.element(page.getByText('cluster-999')).toBeInTheDocument()
  await search.fill('cluster-77')
  await expect.element(page.getByText('11 of 1,000 clusters')).toBeVisible()
})

test('a thousand cards are few on the page, too, and a link to one of them finds it', async () => {
  serving(thousand())
  await open('/clusters?view=cards#c-700')
  await expect.element(page.getByRole('article', { name: 'cluster-700' })).toHaveFocus()
  expect(document.querySelectorAll('article').length).toBeLessThan(60)
})

test('what happens reaches a list that is filtered', async () => {
  const server = serving()
  await open('/clusters?phase=Failed&view=list')
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  await expect.element(rows).toHaveLength(2)
  server.update(cluster({ ...server.clusters[2], phase: 'Failed', revision: 10_000 }))
  await expect.element(rows).toHaveLength(3)
})

test('health, usage and cost are shown where they are known', async () => {
  serving([
    cluster({
      health: { score: 62.5, colour: 'amber' },
      cpu: { percent: 92, used: 1, allocatable: 2 },
      memory: { percent: null, used: null, allocatable: 2 },
      cost: { monthly: 1234.4, priced: 3, not_priced: 1 },
    }),
    cluster({ id: 'c-2', name: 'second', is_host: false }),
  ])
  await open('/clusters')
  const card = page.getByRole('article', { name: 'kubeopera-host' })
  await expect.element(card.getByRole('img', { name: 'Health 62.5 of 100, amber' })).toBeVisible()
  await expect.element(card.getByRole('meter', { name: 'CPU' })).toHaveAttribute('aria-valuetext', '92%')
  await expect.element(card.getByRole('meter', { name: 'Memory' })).not.toBeInTheDocument()
  await expect.element(card).toHaveTextContent(/Memory–not known yet/)
  await expect.element(card).toHaveTextContent(/at least \$1,234 a month/)
  await expect
    .element(page.getByRole('article', { name: 'second' }).getByRole('img', { name: 'Health not known' }))
    .toBeVisible()
})

test('name and labels are changed with the mark of what was seen', async () => {
  const server = serving([cluster({ labels: { env: 'dev' } })])
  const { id } = server.clusters[0] as { id: string }
  let sent: unknown[] = []
  server.on(`GET /api/v1/clusters/${id}`, () => ({
    status: 200,
    body: server.clusters[0],
    headers: { etag: '"7-abc"' },
  }))
  server.on(`PATCH /api/v1/clusters/${id}`, async (request) => {
    sent = [request.headers.get('if-match'), await request.json()]
    return { status: 200, body: cluster({ name: 'renamed', revision: 10_000 }) }
  })
  await open('/clusters')
  await page.getByRole('button', { name: 'Actions for kubeopera-host' }).click()
  await page.getByRole('menuitem', { name: 'Edit name and labels…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabelText('Name').fill('renamed')
  await dialog.getByLabelText('Value 1').fill('prod')
  await dialog.getByRole('button', { name: 'Add a label' }).click()
  await dialog.getByLabelText('Key 2').fill('env')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(dialog.getByText('There is another label with this key.').first()).toBeVisible()
  await dialog.getByLabelText('Key 2').fill('acme.com/team')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(page.getByRole('article', { name: 'renamed' })).toBeVisible()
  expect(sent).toEqual(['"7-abc"', { name: 'renamed', labels: { env: 'prod', 'acme.com/team': '' } }])
})

test('a change of somebody else meanwhile is told, not lost', async () => {
  const server = serving([cluster()])
  const { id } = server.clusters[0] as { id: string }
  server.on(`PATCH /api/v1/clusters/${id}`, {
    status: 412,
    body: problem(412, 'changed_meanwhile', 'Somebody else changed this cluster meanwhile.', 'Look again.'),
  })
  await open('/clusters')
  await page.getByRole('button', { name: 'Actions for kubeopera-host' }).click()
  await page.getByRole('menuitem', { name: 'Edit name and labels…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect.element(page.getByRole('alert')).toHaveTextContent('Somebody else changed this cluster meanwhile.')
})

test('a kubeconfig is replaced only by one that leads to the same cluster', async () => {
  const known = { code: 'cluster_already_known', field: null, message: 'It is known.', commands: [] }
  const server = serving([cluster({ id: 'c-2', name: 'second', is_host: false })])
  server.on('POST /api/v1/clusters/kubeconfig-check', {
    status: 200,
    body: {
      preferred: 'other',
      contexts: [
        context({ name: 'other' }),
        context({
          name: 'same',
          verdict: 'refused',
          refusal: known,
          cluster: { ...(context({}).cluster as object), known_as: { id: 'c-2', name: 'second' } } as never,
        }),
      ],
    },
  })
  let sent: unknown
  server.on('PUT /api/v1/clusters/c-2/kubeconfig', async (request) => {
    sent = await request.json()
    return { status: 200, body: server.clusters[0] }
  })
  await open('/clusters/c-2')
  await page.getByRole('button', { name: 'Actions for second' }).click()
  await page.getByRole('menuitem', { name: 'Replace kubeconfig…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await expect.element(dialog.getByText('Supply a kubeconfig and have it checked first.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Kubeconfig' }).fill('kind: Config')
  await dialog.getByRole('button', { name: 'Check Kubeconfig' }).click()
  await expect.element(dialog.getByText('This leads to another cluster than second.')).toBeVisible()
  await expect.element(dialog.getByRole('radio', { name: 'same' })).toBeChecked()
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await expect.element(page.getByText('second has another kubeconfig')).toBeVisible()
  expect(sent).toEqual({ kubeconfig: 'kind: Config', encoding: 'text', context: 'same' })
})
