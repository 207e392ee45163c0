import clsx from 'clsx'
import { Boxes, CircleDollarSign, Cpu, HeartPulse, type LucideIcon, Server } from 'lucide-react'
import type { ReactNode } from 'react'
import type { MultiCluster } from '@/api/model'
import { Unknown } from '@/clusters/unknown'
import { dollars, grouped, percent } from '@/format/numbers'
import { Card } from '@/ui/card'
import { Skeleton } from '@/ui/skeleton'
import { standingNames, standings } from './standing'

/** All clusters in sum; each figure says which clusters it leaves out. */
export function Summary({ summary: sum }: { summary: MultiCluster['summary'] }) {
  return (
    <dl aria-label="Summary" className={grid}>
      <Figure icon={Boxes} name="Clusters" value={grouped(sum.total)}>
        <Bar parts={standingNames.map((standing) => ({ size: sum[standing], className: standings[standing].bar }))} />
        <span className="flex flex-wrap gap-x-3 gap-y-1">
          {standingNames
            .filter((standing) => sum[standing] > 0)
            .map((standing) => {
              const { word, icon: Icon, ink } = standings[standing]
              return (
                <span key={standing} title={word} className={clsx('inline-flex items-center gap-1', ink)}>
                  <Icon aria-hidden className="size-3" />
                  {grouped(sum[standing])}
                  <span className="sr-only"> {word.toLowerCase()}</span>
                </span>
              )
            })}
        </span>
      </Figure>
      <Figure icon={HeartPulse} name="Healthy clusters" value={grouped(sum.healthy)}>
        <Bar parts={[{ size: sum.healthy, className: 'bg-ok' }, { size: sum.total - sum.healthy }]} />
        of {countOf(sum.total)}
      </Figure>
      <Figure icon={Server} name="Ready nodes" value={sum.nodes_of > 0 ? grouped(sum.nodes.ready) : <Unknown />}>
        <Bar
          parts={[
            { size: sum.nodes.ready, className: 'bg-ok' },
            { size: sum.nodes.total - sum.nodes.ready, className: 'bg-warn' },
          ]}
        />
        {sum.nodes_of > 0 && `of ${grouped(sum.nodes.total)}, `}
        {over('in', sum.nodes_of, sum.total)}
      </Figure>
      <Figure
        icon={Cpu}
        name="Average CPU"
        value={sum.cpu_percent === null ? <Unknown /> : percent(sum.cpu_percent)}
        title="Weighted by what the nodes can allocate: a large cluster counts for more"
      >
        <Bar
          parts={[
            { size: sum.cpu_percent ?? 0, className: 'bg-accent' },
            { size: 100 - Math.min(100, sum.cpu_percent ?? 0) },
          ]}
        />
        {over('over', sum.cpu_of, sum.total)}
        {sum.memory_percent !== null && <> · memory {percent(sum.memory_percent)}</>}
      </Figure>
      <Figure
        icon={CircleDollarSign}
        name="Monthly cost"
        value={sum.monthly_cost === null ? <Unknown /> : dollars(sum.monthly_cost)}
        title="US dollars in a month of 730 hours"
      >
        <Bar parts={[{ size: sum.priced, className: 'bg-accent' }, { size: sum.not_priced }]} />
        {sum.not_priced === 0
          ? over('of', sum.priced, sum.total)
          : `${over('of', sum.priced, sum.total)}, ${grouped(sum.not_priced)} not or only partly priced`}
      </Figure>
    </dl>
  )
}

const countOf = (clusters: number) => (clusters === 1 ? '1 cluster' : `${grouped(clusters)} clusters`)

/** "over 3 of 4 clusters" */
const over = (word: string, some: number, all: number) => `${word} ${grouped(some)} of ${countOf(all)}`

const grid = 'mt-6 grid grid-cols-2 gap-4 md:grid-cols-3 xl:grid-cols-5'

interface FigureProps {
  icon: LucideIcon
  name: string
  value: ReactNode
  title?: string
  children: ReactNode
}

function Figure({ icon: Icon, name, value, title, children }: FigureProps) {
  return (
    <Card className="min-w-0 px-5 py-4 max-sm:px-4 max-xl:last:col-span-2 md:max-xl:last:col-span-1">
      <dt className="flex items-center gap-2 text-fg-3 text-ui">
        <Icon aria-hidden className="size-4 shrink-0 max-sm:hidden" />
        {name}
      </dt>
      <dd title={title} className="mt-1 font-semibold text-[1.625rem] tabular-nums leading-8 tracking-tight">
        {value}
      </dd>
      <dd className="mt-2 text-fg-3 text-xs tabular-nums">{children}</dd>
    </Card>
  )
}

/** What the words beside it say, as lengths. */
function Bar({ parts }: { parts: { size: number; className?: string }[] }) {
  const all = parts.reduce((sum, { size }) => sum + size, 0)
  return (
    <span aria-hidden className="mb-2 flex h-1.5 gap-px overflow-hidden rounded-full bg-line forced-colors:border">
      {all > 0 &&
        parts.map(({ size, className }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts have a fixed order
          <span key={index} className={className} style={{ width: `${(100 * size) / all}%` }} />
        ))}
    </span>
  )
}

export function SummaryLoading() {
  return (
    <div aria-hidden className={grid}>
      {['a', 'b', 'c', 'd', 'e'].map((key) => (
        <Card key={key} className="h-[8.25rem] px-5 py-4">
          <Skeleton className="h-4 w-24" />
          <Skeleton className="mt-2 h-7 w-14" />
          <Skeleton className="mt-4 h-1.5" />
        </Card>
      ))}
    </div>
  )
}
