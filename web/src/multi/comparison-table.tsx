import { Link, useNavigate } from '@tanstack/react-router'
import clsx from 'clsx'
import { TriangleAlert } from 'lucide-react'
import { memo, type ReactNode, useMemo } from 'react'
import type { MultiClusterRow } from '@/api/model'
import { healthInk, NodesReady } from '@/clusters/figures'
import { HostChip } from '@/clusters/host-chip'
import { Unknown } from '@/clusters/unknown'
import { dollars, grouped, percent } from '@/format/numbers'
import { providerName } from '@/format/provider'
import { Ago } from '@/ui/ago'
import { cardClass } from '@/ui/card'
import { Cell } from '@/ui/cell'
import { SpaceRow, useRowsInView } from '@/ui/rows-in-view'
import { SortHead } from '@/ui/sort-head'
import { Steady } from '@/ui/steady'
import { arrangedRows, type MultiSort, type MultiView, orderOf, turned } from './multi-view'
import { StandingBadge } from './standing'

const ROW_HEIGHT = 52

const columns: { sort: MultiSort; name: string; number?: boolean }[] = [
  { sort: 'name', name: 'Cluster' },
  { sort: 'health', name: 'Health', number: true },
  { sort: 'nodes', name: 'Nodes ready', number: true },
  { sort: 'cpu', name: 'CPU', number: true },
  { sort: 'memory', name: 'Memory', number: true },
  { sort: 'cost', name: 'Cost a month', number: true },
]
/** Status and age are shown, and not sorted by. */
const COLUMNS = columns.length + 2

interface ComparisonTableProps {
  rows: MultiClusterRow[]
  view: MultiView
  /** Since when nothing has been heard; null while all that is not stale is of this moment. */
  heardAt: string | null
}

/** All clusters with their figures, and how old those are. */
export const ComparisonTable = memo(function ComparisonTable({ rows, view, heardAt }: ComparisonTableProps) {
  const sorted = useMemo(() => arrangedRows(rows, view), [rows, view])
  return (
    <Steady rows={sorted} asked={view}>
      {(shown) => <Table rows={shown} view={view} heardAt={heardAt} />}
    </Steady>
  )
})

/** The rows in the order in which they come. */
function Table({ rows, view, heardAt }: ComparisonTableProps) {
  const navigate = useNavigate()
  const { body, indexes, before, after } = useRowsInView(rows.length, ROW_HEIGHT)
  const order = orderOf(view)
  const turn = (sort: MultiSort) =>
    void navigate({ to: '/clusters/multi', search: turned(view, sort), replace: true, resetScroll: false })
  return (
    <section
      aria-label="Comparison"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
      tabIndex={0}
      className={clsx(cardClass, 'relative mt-5 overflow-x-auto')}
    >
      <table aria-rowcount={rows.length + 1} className="w-full border-separate border-spacing-0 text-ui">
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ sort, name, number }) => (
              <SortHead
                key={sort}
                name={name}
                number={number}
                sorted={order.sort === sort ? order.direction : null}
                onTurn={() => turn(sort)}
              />
            ))}
            <PlainHead>Status</PlainHead>
            <PlainHead>As of</PlainHead>
          </tr>
        </thead>
        <tbody ref={body}>
          <SpaceRow height={before} columns={COLUMNS} />
          {indexes.map((index) => {
            const row = rows[index]
            return row && <Row key={row.id} row={row} index={index} heardAt={heardAt} />
          })}
          <SpaceRow height={after} columns={COLUMNS} />
        </tbody>
      </table>
    </section>
  )
}

function PlainHead({ children }: { children: ReactNode }) {
  return (
    <th scope="col" className="border-line border-b px-2.5 text-left font-medium text-fg-3 text-xs">
      {children}
    </th>
  )
}

interface RowProps {
  row: MultiClusterRow
  index: number
  heardAt: string | null
}

const Row = memo(function Row({ row, index, heardAt }: RowProps) {
  const { name, health, nodes, cpu, memory, cost, stale } = row
  const place = [
    row.provider !== 'unknown' && providerName(row.provider),
    row.region !== 'unknown' && row.region,
  ].filter(Boolean)
  return (
    <tr aria-rowindex={index + 2} data-stale={stale ? '' : undefined} className="group hover:bg-hover">
      <th
        scope="row"
        className="sticky left-0 z-10 h-13 max-w-64 border-line border-b bg-surface pr-3 pl-5 text-left font-medium group-last:border-0 group-hover:bg-hover max-sm:max-w-40"
      >
        <span className="flex items-center gap-2">
          <Link
            to="/clusters/$id"
            params={{ id: row.id }}
            preload={false}
            title={name}
            className="truncate text-fg hover:underline"
          >
            {name}
          </Link>
          {row.is_host && <HostChip />}
        </span>
        {place.length > 0 && <span className="block truncate font-normal text-fg-3 text-xs">{place.join(' · ')}</span>}
      </th>
      <Cell number>{health ? <Health health={health} /> : <Unknown />}</Cell>
      <Cell number>
        <NodesReady nodes={nodes} />
      </Cell>
      <Usage usage={cpu} why={row.not_measured} />
      <Usage usage={memory} why={row.not_measured} />
      <Cell number>
        {cost?.monthly != null ? (
          <span title={cost.not_priced > 0 ? 'At least: some of it has no known price' : 'US dollars a month'}>
            {cost.not_priced > 0 && (
              <>
                <span aria-hidden>≥ </span>
                <span className="sr-only">at least </span>
              </>
            )}
            {dollars(cost.monthly)}
          </span>
        ) : (
          <Unknown />
        )}
      </Cell>
      <Cell>
        <StandingBadge standing={row.standing} />
      </Cell>
      <Cell>
        {stale ? (
          <span className="block max-w-44 text-warn-fg" title={stale.reason}>
            <span className="flex items-center gap-1 font-medium">
              <TriangleAlert aria-hidden className="size-3.5 shrink-0" />
              {stale.as_of ? <Ago at={stale.as_of} /> : 'Never read'}
            </span>
            <span className="block truncate text-xs">{stale.reason}</span>
          </span>
        ) : health === null ? (
          <Unknown />
        ) : heardAt ? (
          <Ago at={heardAt} />
        ) : (
          'now'
        )}
      </Cell>
    </tr>
  )
})

function Health({ health }: { health: NonNullable<MultiClusterRow['health']> }) {
  return (
    <span className={clsx('font-semibold', healthInk[health.colour])} title={`${grouped(health.score)} of 100`}>
      {Math.round(health.score)}
      <span className="sr-only"> of 100, {health.colour}</span>
    </span>
  )
}

/** Amber from 80 %, red from 95 %, as the health score has it. */
function Usage({ usage, why }: { usage: MultiClusterRow['cpu']; why: string | null }) {
  const used = usage?.percent ?? null
  return (
    <Cell number>
      <span title={why ?? undefined} className="inline-flex items-center gap-2.5">
        {used === null ? (
          <Unknown />
        ) : (
          <>
            <span
              aria-hidden
              className="h-1.5 w-16 overflow-hidden rounded-full bg-line max-lg:hidden forced-colors:border"
            >
              <span
                style={{ width: `${Math.min(100, used)}%` }}
                className={clsx(
                  'block h-full rounded-full forced-colors:bg-[CanvasText]',
                  used >= 95 ? 'bg-bad' : used >= 80 ? 'bg-warn' : 'bg-accent',
                )}
              />
            </span>
            <span className={clsx('min-w-9', used >= 80 && 'font-semibold text-fg')}>{percent(used)}</span>
          </>
        )}
      </span>
    </Cell>
  )
}
