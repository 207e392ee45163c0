import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { byAttention, toneOf } from '@/clusters/phases'
import { StatusBadge } from '@/clusters/status-badge'
import { Unknown } from '@/clusters/unknown'
import { useFleet } from '@/clusters/use-fleet'
import { grouped } from '@/format/numbers'
import { Staleness } from '@/live/staleness'
import { ProblemState } from '@/shell/page-states'
import { buttonClass } from '@/ui/button'
import { Card, cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { PageHeader } from '@/ui/page-header'
import { Skeleton } from '@/ui/skeleton'

export function OverviewPage() {
  const query = useFleet()
  const { data: fleet, error } = query
  return (
    <>
      <PageHeader title="Overview">What KubeOpera manages, at a glance.</PageHeader>
      {fleet ? (
        <>
          <Staleness query={query} />
          {fleet.items.length === 0 ? <NoHostCluster /> : <Summary clusters={fleet.items} />}
        </>
      ) : error ? (
        <ProblemState error={error} onRetry={query.refetch} />
      ) : (
        <Loading />
      )}
    </>
  )
}

function NoHostCluster() {
  return (
    <Notice
      tone="info"
      className="mt-6 px-5 py-5"
      title="KubeOpera has no host cluster yet"
      action={
        <Link to="/clusters" className={buttonClass('primary')}>
          Go to Clusters
          <ArrowRight aria-hidden />
        </Link>
      }
    >
      Register the cluster KubeOpera is running on, or connect or create another, on the Clusters page.
    </Notice>
  )
}

function Summary({ clusters }: { clusters: Cluster[] }) {
  const count = (tone: ReturnType<typeof toneOf>) => clusters.filter(({ phase }) => toneOf(phase) === tone).length
  const known = clusters.flatMap(({ nodes }) => nodes ?? [])
  const nodes = known.reduce((sum, { total }) => sum + total, 0)
  const ready = known.reduce((sum, node) => sum + node.ready, 0)
  return (
    <>
      <dl className="mt-6 grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Figure name="Clusters ready" value={count('ok')} of={clusters.length} />
        <Figure name="Being set up" value={count('warn')} />
        <Figure name="Failed" value={count('bad')} />
        <Figure name="Nodes ready" value={known.length ? ready : null} of={nodes} />
      </dl>
      <section aria-labelledby="overview-clusters" className="mt-8">
        <div className="flex items-baseline justify-between">
          <h2 id="overview-clusters" className="font-semibold">
            Clusters
          </h2>
          <Link to="/clusters" className="font-medium text-accent-text text-ui hover:underline">
            All clusters
          </Link>
        </div>
        <ul className={`${cardClass} mt-3 divide-y divide-line`}>
          {clusters
            .toSorted(byAttention)
            .slice(0, 8)
            .map((cluster) => (
              <li
                key={cluster.id}
                className="relative grid items-center gap-x-4 gap-y-1.5 px-5 py-3.5 first:rounded-t-xl last:rounded-b-xl hover:bg-hover sm:grid-cols-[minmax(0,16rem)_11.5rem_minmax(0,1fr)]"
              >
                <Link
                  to="/clusters/$id"
                  params={{ id: cluster.id }}
                  className="min-w-0 truncate font-medium after:absolute after:inset-0"
                >
                  {cluster.name}
                </Link>
                <span>
                  <StatusBadge phase={cluster.phase} />
                </span>
                <p className="truncate text-fg-3 text-ui max-sm:line-clamp-2 max-sm:whitespace-normal">
                  {cluster.message}
                </p>
              </li>
            ))}
        </ul>
      </section>
    </>
  )
}

function Figure({ name, value, of }: { name: string; value: number | null; of?: number }) {
  return (
    <Card className="px-5 py-4">
      <dt className="text-fg-3 text-ui">{name}</dt>
      <dd className="mt-1 font-semibold text-[1.625rem] tabular-nums leading-8 tracking-tight">
        {value === null ? <Unknown /> : grouped(value)}
        {value !== null && of !== undefined && (
          <span className="ml-1.5 font-normal text-fg-3 text-sm tracking-normal">of {grouped(of)}</span>
        )}
      </dd>
    </Card>
  )
}

function Loading() {
  return (
    <div className="skeletons mt-6 grid grid-cols-2 gap-4 lg:grid-cols-4">
      <p role="status" className="sr-only">
        Loading
      </p>
      {['a', 'b', 'c', 'd'].map((key) => (
        <Card key={key} className="h-[5.5rem] px-5 py-4">
          <Skeleton className="h-4 w-24" />
          <Skeleton className="mt-2 h-7 w-12" />
        </Card>
      ))}
    </div>
  )
}
