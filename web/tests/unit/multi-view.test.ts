import { expect, test } from 'vitest'
import type { MultiClusterRow } from '@/api/model'
import { arrangedRows, type MultiSort, type MultiView, multiViewOf, orderOf, turned } from '@/multi/multi-view'

const row = (name: string, change: object = {}) =>
  ({ id: name, name, health: null, nodes: null, cpu: null, memory: null, cost: null, ...change }) as MultiClusterRow

const names = (rows: MultiClusterRow[], view: MultiView) => arrangedRows(rows, view).map(({ name }) => name)

const of: Record<Exclude<MultiSort, 'name'>, (value: number) => object> = {
  health: (score) => ({ health: { score, colour: 'green' } }),
  nodes: (ready) => ({ nodes: { ready, total: 100 } }),
  cpu: (percent) => ({ cpu: { percent, used: 1, allocatable: 1 } }),
  memory: (percent) => ({ memory: { percent, used: 1, allocatable: 1 } }),
  cost: (monthly) => ({ cost: { monthly, priced: 1, not_priced: 0 } }),
}

test.each(Object.keys(of) as (keyof typeof of)[])(
  '%s is sorted by its amount, what is not known comes last both ways, and what is alike goes by name both ways',
  (sort) => {
    const rows = [
      row('unknown-b'),
      row('nine', of[sort](9)),
      row('alike-2', of[sort](50)),
      row('nought', of[sort](0)),
      row('unknown-a'),
      row('alike-10', of[sort](50)),
    ]
    const known = { asc: ['nought', 'nine', 'alike-2', 'alike-10'], desc: ['alike-2', 'alike-10', 'nine', 'nought'] }
    for (const direction of ['asc', 'desc'] as const)
      for (const shuffled of [rows, rows.toReversed()])
        expect(names(shuffled, { sort, direction })).toEqual([...known[direction], 'unknown-a', 'unknown-b'])
  },
)

test('what is known only in part is not known: no measured node, nothing priced, no node at all', () => {
  const rows = [
    row('a', { cpu: { percent: null, used: null, allocatable: 4 }, nodes: { ready: 0, total: 0 } }),
    row('b', { cpu: { percent: 0, used: 0, allocatable: 4 }, nodes: { ready: 0, total: 3 } }),
  ]
  for (const direction of ['asc', 'desc'] as const) {
    expect(names(rows, { sort: 'cpu', direction })).toEqual(['b', 'a'])
    expect(names(rows, { sort: 'nodes', direction })).toEqual(['b', 'a'])
  }
})

test('readiness is a part of all nodes, not a number of nodes', () => {
  const rows = [row('large', { nodes: { ready: 90, total: 100 } }), row('small', { nodes: { ready: 1, total: 3 } })]
  expect(names(rows, { sort: 'nodes' })).toEqual(['small', 'large'])
})

test('the worst health comes first unless the address says otherwise, and nonsense in it is left out', () => {
  expect(orderOf({})).toEqual({ sort: 'health', direction: 'asc' })
  expect(orderOf({ sort: 'cost' })).toEqual({ sort: 'cost', direction: 'desc' })
  expect(multiViewOf({ sort: '__proto__', direction: 'up', q: 1 })).toEqual({ sort: undefined, direction: undefined })
})

test('a head that is pressed again turns the order round, and round again', () => {
  const once = turned({}, 'cpu')
  expect(orderOf(once)).toEqual({ sort: 'cpu', direction: 'desc' })
  const twice = turned(once, 'cpu')
  expect(orderOf(twice)).toEqual({ sort: 'cpu', direction: 'asc' })
  expect(turned(twice, 'cpu')).toEqual(once)
  expect(orderOf(turned({}, 'health'))).toEqual({ sort: 'health', direction: 'desc' })
})
