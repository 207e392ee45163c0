import clsx from 'clsx'
import { CircleCheck, CircleX } from 'lucide-react'
import { memo, type ReactNode, useMemo } from 'react'
import type { ClusterMonitor, ClusterNode } from '@/api/model'
import { compareTexts } from '@/clusters/order'
import { Unknown } from '@/clusters/unknown'
import { bytes } from '@/format/bytes'
import { cores, dollars, percent } from '@/format/numbers'
import { versionName } from '@/format/provider'
import { Ago } from '@/ui/ago'
import { Chip, Nothing } from '@/ui/rows'
import { SpaceRow, useRowsInView } from '@/ui/rows-in-view'
import { Section } from '@/ui/section'
import type { PartProps } from './monitored'

const ROW_HEIGHT = 60

const columns = ['Node', 'Ready', 'Pressure', 'CPU', 'Memory', 'Capacity', 'Kubelet', 'Instance type', 'Price a month']

/** Every node, those first that need a look. */
export function ClusterNodes({ nodes, about }: PartProps & Pick<ClusterMonitor, 'nodes'>) {
  return (
    <Section title="Nodes" about={about}>
      {nodes === null ? (
        <Nothing>The nodes have not been read yet, or KubeOpera may not read them; Health says which.</Nothing>
      ) : nodes.length === 0 ? (
        <Nothing>The cluster has no nodes.</Nothing>
      ) : (
        <Table nodes={nodes} />
      )}
    </Section>
  )
}

const needsLook = (node: ClusterNode) => !node.ready || pressuresOf(node).length > 0

function Table({ nodes }: { nodes: ClusterNode[] }) {
  const sorted = useMemo(
    () => nodes.toSorted((a, b) => Number(needsLook(b)) - Number(needsLook(a)) || compareTexts.compare(a.name, b.name)),
    [nodes],
  )
  const { body, indexes, before, after } = useRowsInView(sorted.length, ROW_HEIGHT)
  return (
    <section
      aria-label="Table of nodes"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
      tabIndex={0}
      className="relative -mx-5 -mb-5 overflow-x-auto border-line border-t"
    >
      <table aria-rowcount={nodes.length + 1} className="w-full border-separate border-spacing-0 text-ui">
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((name) => (
              <th
                key={name}
                scope="col"
                className="whitespace-nowrap border-line border-b px-2.5 py-2 text-left font-medium text-fg-3 text-xs first:sticky first:left-0 first:z-10 first:bg-surface first:pl-5 last:pr-5 last:text-right"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <SpaceRow height={before} columns={columns.length} />
          {indexes.map((index) => {
            const node = sorted[index]
            return node && <Row key={node.name} node={node} index={index} />
          })}
          <SpaceRow height={after} columns={columns.length} />
        </tbody>
      </table>
    </section>
  )
}

const Row = memo(function Row({ node, index }: { node: ClusterNode; index: number }) {
  const { capacity, allocatable, requested, used, price, created_at: created } = node
  // Linux goes without saying.
  const system = node.operating_system !== 'linux' && node.operating_system
  const sold = node.capacity_type && { on_demand: 'On demand', spot: 'Spot' }[node.capacity_type]
  return (
    <tr aria-rowindex={index + 2} className="group hover:bg-hover">
      <th
        scope="row"
        className="sticky left-0 z-10 h-15 max-w-64 border-line border-b bg-surface pr-3 pl-5 text-left font-medium group-last:border-0 group-hover:bg-hover max-sm:max-w-40"
      >
        <span className="block truncate" title={node.name}>
          {node.name}
        </span>
        <span className="block truncate font-normal text-fg-3 text-xs">
          {created ? (
            <>
              Joined <Ago at={created} />
            </>
          ) : (
            'Age not known'
          )}
        </span>
      </th>
      <Cell>
        <Ready node={node} />
      </Cell>
      <Cell>
        <Pressures node={node} />
      </Cell>
      <Cell>
        <Amounts
          used={used?.cpu_millicores}
          requested={requested?.cpu_millicores}
          of={allocatable.cpu_millicores}
          amount={cores}
        />
      </Cell>
      <Cell>
        <Amounts
          used={used?.memory_bytes}
          requested={requested?.memory_bytes}
          of={allocatable.memory_bytes}
          amount={bytes}
        />
      </Cell>
      <Cell>
        {cores(capacity.cpu_millicores)}
        <Small>{bytes(capacity.memory_bytes)}</Small>
      </Cell>
      <Cell>{node.version ? versionName(node.version) : <Unknown />}</Cell>
      <Cell>
        {node.instance_type ?? <Unknown />}
        <Small>{[sold, node.zone ?? node.region, system].filter(Boolean).join(' · ')}</Small>
      </Cell>
      <Cell last>
        {price ? (
          <span title={price.basis}>{dollars(price.monthly)}</span>
        ) : (
          <span title="Cost says why">
            <Unknown />
          </span>
        )}
      </Cell>
    </tr>
  )
})

function Ready({ node: { ready, schedulable } }: { node: ClusterNode }) {
  const Icon = ready ? CircleCheck : CircleX
  return (
    <>
      <span className={clsx('flex items-center gap-1.5', ready ? 'text-ok-fg' : 'font-medium text-bad-fg')}>
        <Icon aria-hidden className="size-4" />
        {ready ? 'Ready' : 'Not ready'}
      </span>
      {!schedulable && <Small>Cordoned</Small>}
    </>
  )
}

function pressuresOf(node: ClusterNode): string[] {
  return [
    node.memory_pressure && 'Memory',
    node.disk_pressure && 'Disk',
    node.pid_pressure && 'Processes',
    node.network_unavailable && 'No network',
  ].filter((pressure) => pressure !== false)
}

function Pressures({ node }: { node: ClusterNode }) {
  const pressures = pressuresOf(node)
  if (pressures.length === 0) return <span className="text-fg-3">None</span>
  return (
    <span className="flex gap-1">
      {pressures.map((pressure) => (
        <Chip key={pressure} tone="warn">
          {pressure}
        </Chip>
      ))}
    </span>
  )
}

interface AmountsProps {
  used: number | undefined
  requested: number | undefined
  of: number
  amount: (value: number) => string
}

/** What is used and requested of what pods can have. */
function Amounts({ used, requested, of, amount }: AmountsProps) {
  const part = (value: number) => (of > 0 ? ` (${percent((100 * value) / of)})` : '')
  return (
    <>
      {used === undefined ? <Unknown /> : `${amount(used)}${part(used)}`} used
      <Small>
        {requested === undefined ? <Unknown /> : `${amount(requested)}${part(requested)}`} requested of {amount(of)}
      </Small>
    </>
  )
}

function Cell({ last, children }: { last?: boolean; children: ReactNode }) {
  return (
    <td
      className={clsx(
        'whitespace-nowrap border-line border-b px-2.5 py-2 text-fg-2 tabular-nums group-last:border-0',
        last && 'pr-5 text-right',
      )}
    >
      {children}
    </td>
  )
}

const Small = ({ children }: { children: ReactNode }) => <span className="block text-fg-3 text-xs">{children}</span>
