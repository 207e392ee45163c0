import clsx from 'clsx'
import { TriangleAlert } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { grouped } from '@/format/numbers'
import { Unknown } from './unknown'

/** Text in the colour of a health score. */
export const healthInk = { green: 'text-ok-fg', amber: 'text-warn-fg', red: 'text-bad-fg' }

/** How many nodes are ready of how many, in a table. */
export function NodesReady({ nodes }: { nodes: Cluster['nodes'] }) {
  if (!nodes) return <Unknown />
  const isShort = nodes.ready < nodes.total
  return (
    <span className={clsx('inline-flex items-center gap-1', isShort && 'text-warn-fg')}>
      {isShort && <TriangleAlert aria-hidden className="size-3.5" />}
      {grouped(nodes.ready)}/{grouped(nodes.total)}
    </span>
  )
}
