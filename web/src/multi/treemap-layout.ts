import { hierarchy, treemap, treemapSquarify } from 'd3-hierarchy'
import type { MultiClusterRow } from '@/api/model'
import { compareTexts } from '@/clusters/order'

/**
 * The smallest tile has this part of the area of the largest one and of the average one, whichever is more, so that every
 * cluster can be seen and pointed at.
 */
const OF_LARGEST = 0.02
const OF_AVERAGE = 0.15
/** Somewhat wide tiles have room for a name; much wider ones become strips on a phone. */
const RATIO = 1.2
const GAP = 2

export interface Tile {
  id: string
  x: number
  y: number
  width: number
  height: number
}

/** One tile a cluster, the largest first; the area is the CPU in use, and the smallest if that is not known. */
export function tilesOf(rows: MultiClusterRow[], width: number, height: number): Tile[] {
  if (rows.length === 0 || width <= 0 || height <= 0) return []
  const used = rows.map(usedBy)
  const average = used.reduce((sum, amount) => sum + amount, 0) / used.length
  // Where nothing is in use, all are alike.
  const smallest = Math.max(OF_LARGEST * Math.max(...used), OF_AVERAGE * average) || 1
  const area = (row: MultiClusterRow) => Math.max(usedBy(row), smallest)
  const root = hierarchy<{ row?: MultiClusterRow; children?: { row: MultiClusterRow }[] }>({
    children: rows.map((row) => ({ row })),
  })
    .sum(({ row }) => (row ? area(row) : 0))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0) || compareTexts.compare(nameOf(a.data.row), nameOf(b.data.row)))
  const layout = treemap<typeof root.data>().tile(treemapSquarify.ratio(RATIO)).size([width, height]).paddingInner(GAP)
  return layout(root)
    .leaves()
    .flatMap(({ data: { row }, x0, y0, x1, y1 }) =>
      row ? [{ id: row.id, x: x0, y: y0, width: x1 - x0, height: y1 - y0 }] : [],
    )
}

/** What is no amount takes no room. */
const usedBy = ({ cpu }: MultiClusterRow) => (cpu?.used != null && Number.isFinite(cpu.used) ? cpu.used : 0)

const nameOf = (row: MultiClusterRow | undefined) => row?.name ?? ''

export type Way = 'left' | 'right' | 'up' | 'down'

/** How much farther away a tile counts that lies aside of the way. */
const ASIDE = 3

/** The tile next to `from` on the way; undefined at the edge. */
export function nextTile(tiles: Tile[], from: Tile, way: Way): Tile | undefined {
  const isAcross = way === 'left' || way === 'right'
  const sign = way === 'right' || way === 'down' ? 1 : -1
  const [start, start2] = spans(from, isAcross)
  let best: Tile | undefined
  let least = Number.POSITIVE_INFINITY
  for (const tile of tiles) {
    const [along, aside] = spans(tile, isAcross)
    const ahead = sign > 0 ? along.low - start.high : start.low - along.high
    if (tile === from || ahead < 0) continue
    const off = Math.max(0, aside.low - start2.high, start2.low - aside.high)
    // Of tiles that are equally near, the one whose middle is.
    const middles = Math.abs(aside.low + aside.high - start2.low - start2.high) / 2
    const distance = ahead + ASIDE * off + middles / 10_000
    if (distance < least) {
      least = distance
      best = tile
    }
  }
  return best
}

/** Where a tile begins and ends along the way, and aside of it. */
function spans({ x, y, width, height }: Tile, isAcross: boolean) {
  const across = { low: x, high: x + width }
  const down = { low: y, high: y + height }
  return isAcross ? ([across, down] as const) : ([down, across] as const)
}
