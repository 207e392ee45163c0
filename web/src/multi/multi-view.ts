import type { MultiClusterRow } from '@/api/model'
import { by, type Direction } from '@/clusters/order'

/** What can be sorted by, with the way that is the useful one first. */
const sortKeys = { name: 'asc', health: 'asc', nodes: 'asc', cpu: 'desc', memory: 'desc', cost: 'desc' } as const

export type MultiSort = keyof typeof sortKeys

/** The order of the table, as the address of the page has it. What is not said is as usual. */
export interface MultiView {
  sort?: MultiSort
  direction?: Direction
}

/** What of an address is a view; the rest of it is left out. */
export function multiViewOf({ sort, direction }: Record<string, unknown>): MultiView {
  return {
    sort: (Object.keys(sortKeys) as MultiSort[]).find((key) => key === sort),
    direction: (['asc', 'desc'] as const).find((known) => known === direction),
  }
}

/** What needs a person first: the worst health. */
const USUAL_SORT: MultiSort = 'health'

/** The order that a view stands for, with nothing left out. */
export function orderOf({ sort = USUAL_SORT, direction = sortKeys[sort] }: MultiView) {
  return { sort, direction }
}

/** The view after the head of a column was pressed: the useful way round first, then the other. */
export function turned(view: MultiView, sort: MultiSort): MultiView {
  const before = orderOf(view)
  const usual = sortKeys[sort]
  const direction = before.sort === sort && before.direction === usual ? (usual === 'asc' ? 'desc' : 'asc') : undefined
  return { sort: sort === USUAL_SORT ? undefined : sort, direction }
}

/** The rows in their order: what is not known last in both directions, what is alike by name. */
export function arrangedRows(rows: MultiClusterRow[], view: MultiView): MultiClusterRow[] {
  const { sort, direction } = orderOf(view)
  return rows.toSorted(by((row) => comparable(row, sort), direction))
}

function comparable(row: MultiClusterRow, sort: MultiSort): string | number | null {
  switch (sort) {
    case 'name':
      return row.name
    case 'health':
      return row.health?.score ?? null
    case 'nodes':
      // Of no nodes, no part is ready.
      return row.nodes && row.nodes.total > 0 ? row.nodes.ready / row.nodes.total : null
    case 'cpu':
    case 'memory':
      return row[sort]?.percent ?? null
    case 'cost':
      return row.cost?.monthly ?? null
  }
}
