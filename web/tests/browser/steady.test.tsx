import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import type { Cluster, MultiClusterRow } from '@/api/model'
import { cluster } from './fixtures'
import { open, Server } from './kubeopera'
import { multi, row, summary } from './monitor-fixtures'

const newOrder = page.getByRole('button', { name: 'The order has changed. Show the new one' })
const elsewhere = page.getByRole('heading', { level: 1 })
const names = () => [...document.querySelectorAll('tbody th a, article h2')].map((link) => link.textContent)

const nodes = (count: number) => ({ total: count, ready: count })
const one = (name: string, count: number, change: Partial<Cluster> = {}) =>
  cluster({ id: name, name, is_host: false, nodes: nodes(count), ...change })

/** The list, by the number of nodes: c, b, a. */
async function list(path = '/clusters?view=list&sort=nodes') {
  const server = new Server()
  server.clusters = [one('a', 1), one('b', 2), one('c', 3)]
  await open(path)
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  await expect.poll(names).toEqual(['c', 'b', 'a'])
  await elsewhere.hover()
  return server
}

test('a row that is pointed at stays where it is, shows what is new, and moves once the pointer has left', async () => {
  const server = await list()
  await page.getByRole('link', { name: 'b', exact: true }).hover()
  server.update(one('a', 9, { revision: 10_000 }))
  await expect.element(page.getByRole('row').nth(3)).toHaveTextContent(/^a.*9/)
  expect(names()).toEqual(['c', 'b', 'a'])
  await expect.element(newOrder).toBeVisible()
  await elsewhere.hover()
  await expect.poll(names).toEqual(['a', 'c', 'b'])
  await expect.element(newOrder).not.toBeInTheDocument()
})

test('nobody is there: rows are in their order at once', async () => {
  const server = await list()
  server.update(one('a', 9, { revision: 10_000 }))
  await expect.poll(names).toEqual(['a', 'c', 'b'])
})

test('a row with the focus stays where it is, and the new order is one Tab and Enter away', async () => {
  const server = await list()
  page.getByRole('button', { name: 'Actions for a' }).element().focus()
  server.update(one('a', 9, { revision: 10_000 }))
  await expect.element(newOrder).toBeVisible()
  expect(names()).toEqual(['c', 'b', 'a'])
  await userEvent.tab()
  await expect.element(newOrder).toHaveFocus()
  expect(names()).toEqual(['c', 'b', 'a'])
  await userEvent.keyboard('{Enter}')
  await expect.poll(names).toEqual(['a', 'c', 'b'])
  await expect.poll(() => document.activeElement?.contains(document.querySelector('table'))).toBe(true)
})

test('a menu that was opened from a row holds it, too', async () => {
  const server = await list()
  await page.getByRole('button', { name: 'Actions for a' }).click()
  await page.getByRole('menuitem', { name: 'Open' }).hover()
  server.update(one('a', 9, { revision: 10_000 }))
  await expect.element(newOrder).toBeInTheDocument()
  expect(names()).toEqual(['c', 'b', 'a'])
})

test('rows that are gone go, new ones come at the end, and another order that is asked for is shown at once', async () => {
  const server = await list()
  await page.getByRole('link', { name: 'b', exact: true }).hover()
  server.emit('cluster', one('d', 50, { revision: 10_001 }), '10001')
  await expect.poll(names).toEqual(['c', 'b', 'a', 'd'])
  server.emit('cluster.removed', { id: 'c' })
  await expect.poll(names).toEqual(['b', 'a', 'd'])
  const head = page.getByRole('columnheader', { name: 'Nodes' }).getByRole('button')
  head.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.poll(names).toEqual(['a', 'b', 'd'])
  await expect.element(newOrder).not.toBeInTheDocument()
})

test('cards stay under the pointer as rows do', async () => {
  const server = await list('/clusters?view=cards&sort=nodes')
  await page.getByRole('article', { name: 'b' }).hover()
  server.update(one('a', 9, { revision: 10_000 }))
  await expect.element(newOrder).toBeVisible()
  expect(names()).toEqual(['c', 'b', 'a'])
  await newOrder.click()
  await expect.poll(names).toEqual(['a', 'c', 'b'])
})

test('the comparison keeps its order under the pointer, and its figures go on changing', async () => {
  const health = (score: number): Partial<MultiClusterRow> => ({ health: { score, colour: 'green' } })
  const server = new Server()
  server.on('GET /api/v1/clusters/multi', {
    status: 200,
    body: {
      ...multi(),
      clusters: [row({ id: 'a', name: 'a', ...health(91) }), row({ id: 'b', name: 'b', ...health(95) })],
    },
  })
  await open('/clusters/multi')
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  await expect.poll(names).toEqual(['a', 'b'])
  await page.getByRole('cell', { name: '95 of 100, green' }).hover()
  server.emit('monitor', { summary: summary(), clusters: [row({ id: 'b', name: 'b', ...health(50) })] })
  await expect.element(page.getByRole('cell', { name: '50 of 100, green' })).toBeVisible()
  expect(names()).toEqual(['a', 'b'])
  await elsewhere.hover()
  await expect.poll(names).toEqual(['b', 'a'])
})
