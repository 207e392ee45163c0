import { describe, expect, test } from 'vitest'
import type { MultiClusterRow } from '@/api/model'
import { nextTile, type Tile, tilesOf, type Way } from '@/multi/treemap-layout'

const rowsOf = (...used: (number | null)[]) =>
  used.map((amount, index) => ({
    id: `c-${index}`,
    name: `cluster-${index}`,
    cpu: amount === null ? null : { used: amount, percent: 1, allocatable: 1 },
  })) as MultiClusterRow[]

/** The same numbers each time. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
const random = numbers(7)

const fleets: Record<string, MultiClusterRow[]> = {
  'a single one': rowsOf(4_000),
  'a single one that is not known': rowsOf(null),
  'all nought': rowsOf(0, 0, 0, 0, 0),
  'all unknown': rowsOf(null, null, null),
  'one nought': rowsOf(4_000, 0, 2_000),
  'one not known': rowsOf(4_000, null, 2_000),
  'what is no amount': rowsOf(4_000, Number.NaN, -5, Number.POSITIVE_INFINITY, 2_000),
  'one a thousand times larger': rowsOf(1_000_000, 1_000, 1_000, 1_000, 1_000),
  '300 alike': rowsOf(...Array<number>(300).fill(500)),
  '300 of all sizes': rowsOf(...Array.from({ length: 300 }, () => Math.round(100_000 * random() ** 6))),
  '299 small beside one a thousand times larger': rowsOf(1_000_000, ...Array<number>(299).fill(1_000)),
}

const area = ({ width, height }: Tile) => width * height

describe.each(Object.entries(fleets))('%s', (_, rows) => {
  for (const [width, height] of [
    [1_100, 380],
    [318, 380],
  ] as const) {
    const tiles = tilesOf(rows, width, height)

    test(`each cluster has one tile that can be pointed at, inside of ${width} x ${height}`, () => {
      expect(tiles.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort())
      for (const tile of tiles) {
        expect(Math.min(tile.width, tile.height)).toBeGreaterThan(4)
        expect(tile.x).toBeGreaterThanOrEqual(0)
        expect(tile.y).toBeGreaterThanOrEqual(0)
        expect(tile.x + tile.width).toBeLessThanOrEqual(width + 1e-6)
        expect(tile.y + tile.height).toBeLessThanOrEqual(height + 1e-6)
      }
    })

    test(`no two tiles overlap at ${width}`, () => {
      for (const [index, a] of tiles.entries())
        for (const b of tiles.slice(index + 1)) {
          const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
          const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
          expect(across > 1e-6 && down > 1e-6, `${a.id} lies on ${b.id}`).toBe(false)
        }
    })

    test(`arrows reach each tile from the first one at ${width}`, () => {
      const reached = new Set(tiles.slice(0, 1))
      for (const tile of reached)
        for (const way of ['left', 'right', 'up', 'down'] satisfies Way[]) {
          const next = nextTile(tiles, tile, way)
          if (next) reached.add(next)
        }
      expect(tiles.filter((tile) => !reached.has(tile)).map(({ id }) => id)).toEqual([])
    })
  }
})

test('twice the CPU is twice the area', () => {
  const [large, small] = tilesOf(rowsOf(4_000, 2_000), 1_000, 1_000)
  expect(large && small && area(large) / area(small)).toBeCloseTo(2, 1)
})

test('what is not known or nought has the smallest tile, and so has what is very small', () => {
  const [largest, unknown, ...others] = tilesOf(rowsOf(100_000, null, 0, 1), 1_000, 1_000)
  if (!largest || !unknown) throw new Error('there are four clusters')
  for (const tile of others) expect(area(tile) / area(unknown)).toBeCloseTo(1, 1)
  expect(area(unknown) / area(largest)).toBeGreaterThan(0.02)
  expect(area(unknown) / area(largest)).toBeLessThan(0.05)
})

test('the same clusters in another order have the same tiles', () => {
  const rows = rowsOf(5, 5, 5, null, 0, 9)
  expect(tilesOf(rows.toReversed(), 500, 300)).toEqual(tilesOf(rows, 500, 300))
})

test('there is no tile without a cluster, and none without room', () => {
  expect(tilesOf([], 500, 300)).toEqual([])
  expect(tilesOf(rowsOf(1), 0, 300)).toEqual([])
})
