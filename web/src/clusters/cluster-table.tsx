import { Link, useLocation } from '@tanstack/react-router'
import clsx from 'clsx'
import { memo, useEffect, useRef } from 'react'
import type { Cluster } from '@/api/model'
import { dollars, grouped, percent } from '@/format/numbers'
import { providerName, versionName } from '@/format/provider'
import { cardClass } from '@/ui/card'
import { Cell } from '@/ui/cell'
import { SpaceRow, useRowsInView } from '@/ui/rows-in-view'
import { SortHead } from '@/ui/sort-head'
import { ClusterMenu } from './cluster-menu'
import { CredentialMark } from './credential-mark'
import { healthInk, NodesReady } from './figures'
import { type FleetView, type SortKey, usualDirection } from './fleet-view'
import { HostChip } from './host-chip'
import { StatusBadge } from './status-badge'
import { Unknown } from './unknown'

const ROW_HEIGHT = 52

interface ClusterTableProps {
  clusters: Cluster[]
  view: FleetView
  onChange: (change: FleetView) => void
}

const columns: { sort: SortKey; name: string; number?: boolean }[] = [
  { sort: 'name', name: 'Name' },
  { sort: 'phase', name: 'Phase' },
  { sort: 'provider', name: 'Provider' },
  { sort: 'kubernetes_version', name: 'Kubernetes' },
  { sort: 'nodes', name: 'Nodes', number: true },
  { sort: 'health', name: 'Health', number: true },
  { sort: 'cpu', name: 'CPU', number: true },
  { sort: 'memory', name: 'Memory', number: true },
  { sort: 'cost', name: 'Cost', number: true },
]

/** One row a cluster. Of many, only those near the part of the page that is seen. */
export default function ClusterTable({ clusters, view, onChange }: ClusterTableProps) {
  const { body, indexes, before, after, isVirtual, virtual } = useRowsInView(clusters.length, ROW_HEIGHT)
  const linked = useLocation({ select: ({ hash }) => hash })
  const linkedRow = clusters.findIndex(({ id }) => id === linked)
  useEffect(() => {
    if (isVirtual && linkedRow >= 0) virtual.scrollToIndex(linkedRow, { align: 'center' })
  }, [isVirtual, linkedRow, virtual])
  const rows = indexes.flatMap((index) => {
    const cluster = clusters[index]
    return cluster ? [{ cluster, index }] : []
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section aria-label="Clusters" tabIndex={0} className={clsx(cardClass, 'relative overflow-x-auto')}>
      <table aria-rowcount={clusters.length + 1} className="w-full border-separate border-spacing-0 text-ui">
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.sort} {...column} view={view} onChange={onChange} />
            ))}
            <th className="border-line border-b">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <SpaceRow height={before} columns={columns.length + 1} />
          {rows.map(({ cluster, index }) => (
            <Row key={cluster.id} cluster={cluster} index={index} linked={cluster.id === linked} />
          ))}
          <SpaceRow height={after} columns={columns.length + 1} />
        </tbody>
      </table>
    </section>
  )
}

interface HeadProps extends Pick<ClusterTableProps, 'view' | 'onChange'> {
  sort: SortKey
  name: string
  number?: boolean
}

function Head({ sort, view, onChange, ...column }: HeadProps) {
  const isSorted = view.sort === sort
  const direction = (isSorted && view.direction) || usualDirection(sort)
  const turn = () => {
    const other = direction === 'asc' ? 'desc' : 'asc'
    onChange({ sort, direction: isSorted && other !== usualDirection(sort) ? other : undefined })
  }
  return <SortHead {...column} sorted={isSorted ? direction : null} onTurn={turn} />
}

const Row = memo(function Row({ cluster, index, linked }: { cluster: Cluster; index: number; linked: boolean }) {
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (linked) row.current?.focus()
  }, [linked])
  const { nodes, health, cpu, memory, cost, kubernetes_version: version } = cluster
  return (
    <tr
      ref={row}
      id={cluster.id}
      tabIndex={-1}
      aria-rowindex={index + 2}
      className="group outline-offset-[-2px] hover:bg-hover"
    >
      <th
        scope="row"
        className="sticky left-0 z-10 h-13 max-w-60 border-line border-b bg-surface pr-3 pl-5 text-left font-medium group-last:border-0 group-hover:bg-hover"
      >
        <span className="flex items-center gap-2">
          <Link
            to="/clusters/$id"
            params={{ id: cluster.id }}
            title={cluster.name}
            className="truncate text-fg hover:underline max-sm:max-w-36"
          >
            {cluster.name}
          </Link>
          {cluster.is_host && <HostChip />}
        </span>
      </th>
      <Cell>
        <span title={cluster.message}>
          <StatusBadge phase={cluster.phase} />
        </span>{' '}
        <CredentialMark credential={cluster.credential} />
      </Cell>
      <Cell>
        {cluster.provider === 'unknown' ? <Unknown /> : providerName(cluster.provider)}
        {cluster.region !== 'unknown' && <span className="block text-fg-3 text-xs">{cluster.region}</span>}
      </Cell>
      <Cell>{version ? versionName(version) : <Unknown />}</Cell>
      <Cell number>
        <NodesReady nodes={nodes} />
      </Cell>
      <Cell number>{health ? <Health health={health} /> : <Unknown />}</Cell>
      <Cell number>{cpu?.percent != null ? <High value={cpu.percent} /> : <Unknown />}</Cell>
      <Cell number>{memory?.percent != null ? <High value={memory.percent} /> : <Unknown />}</Cell>
      <Cell number>
        {cost?.monthly != null ? <span title="US dollars a month">{dollars(cost.monthly)}</span> : <Unknown />}
      </Cell>
      <td className="w-12 border-line border-b pr-3 text-right group-last:border-0">
        <ClusterMenu cluster={cluster} inRow />
      </td>
    </tr>
  )
})

function Health({ health }: { health: NonNullable<Cluster['health']> }) {
  return (
    <span
      className={clsx('font-semibold', healthInk[health.colour])}
      title={`${grouped(health.score)} of 100, ${health.colour}`}
    >
      {Math.round(health.score)}
    </span>
  )
}

function High({ value }: { value: number }) {
  return <span className={clsx(value >= 80 && 'font-semibold text-fg')}>{percent(value)}</span>
}
