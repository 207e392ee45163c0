import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Boxes, RotateCw } from 'lucide-react'
import type { MultiCluster, MultiClusterRow } from '@/api/model'
import { grouped } from '@/format/numbers'
import { useStream } from '@/live/live'
import { Staleness } from '@/live/staleness'
import { multiQuery, useRefresh } from '@/monitor/monitor'
import { PageState, ProblemState } from '@/shell/page-states'
import { Button, buttonClass } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { PageHeader } from '@/ui/page-header'
import { Section } from '@/ui/section'
import { Skeleton } from '@/ui/skeleton'
import { ComparisonTable } from './comparison-table'
import type { MultiView } from './multi-view'
import { standingNames, standings } from './standing'
import { Summary, SummaryLoading } from './summary'
import { Treemap } from './treemap'

export function MultiPage({ view }: { view: MultiView }) {
  const query = useQuery(multiQuery)
  const { data, error } = query
  const refresh = useRefresh()
  return (
    <>
      <PageHeader
        title="Multi-Cluster"
        actions={
          data &&
          data.clusters.length > 0 && (
            <Button busy={refresh.isPending} onClick={() => refresh.mutate()}>
              {!refresh.isPending && <RotateCw aria-hidden />}
              Refresh
            </Button>
          )
        }
      >
        Every cluster side by side.
      </PageHeader>
      {data ? (
        <>
          <Staleness query={query} />
          {data.clusters.length === 0 ? (
            <NoClusters />
          ) : (
            <Comparison multi={data} view={view} readAt={query.dataUpdatedAt} />
          )}
        </>
      ) : error ? (
        <ProblemState error={error} onRetry={query.refetch} />
      ) : (
        <Loading />
      )}
    </>
  )
}

function Comparison({ multi, view, readAt }: { multi: MultiCluster; view: MultiView; readAt: number }) {
  const { state, heardAt } = useStream()
  const isLive = state === 'live'
  return (
    <>
      <Silent rows={multi.clusters} />
      <Summary summary={multi.summary} />
      <div className="mt-5">
        <Section title="CPU by cluster" about="The area of a tile is the CPU in use." action={<Legend />}>
          <Treemap rows={multi.clusters} />
        </Section>
      </div>
      <ComparisonTable
        rows={multi.clusters}
        view={view}
        heardAt={isLive ? null : new Date(Math.max(heardAt ?? 0, readAt)).toISOString()}
      />
    </>
  )
}

/** Figures of clusters that do not answer are old, and in the sums only where a sum says so. */
function Silent({ rows }: { rows: MultiClusterRow[] }) {
  const silent = rows.filter(({ stale }) => stale).length
  if (silent === 0) return null
  return (
    <Notice
      tone="warn"
      role="status"
      className="mt-5"
      title={silent === 1 ? '1 cluster does not answer' : `${grouped(silent)} clusters do not answer`}
    >
      What is shown of {silent === 1 ? 'it' : 'them'} is as it was. The nodes and the averages leave{' '}
      {silent === 1 ? 'it' : 'them'} out; the cost does not, as {silent === 1 ? 'it still costs' : 'they still cost'}.
    </Notice>
  )
}

function Legend() {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1.5 text-fg-2 text-xs">
      {standingNames.map((standing) => {
        const { word, icon: Icon, tile } = standings[standing]
        return (
          <li key={standing} className="flex items-center gap-1.5">
            <span data-standing={standing} className={`tile grid size-4.5 place-items-center rounded ${tile}`}>
              <Icon aria-hidden className="size-2.5" />
            </span>
            {word}
          </li>
        )
      })}
      <li className="flex items-center gap-1.5">
        <span data-unmeasured="" className="tile size-4.5 rounded bg-tile-new" />
        CPU not known
      </li>
    </ul>
  )
}

function NoClusters() {
  return (
    <PageState
      icon={Boxes}
      title="There is nothing to compare yet"
      action={
        <Link to="/clusters" className={buttonClass('primary')}>
          Go to Clusters
        </Link>
      }
    >
      <p>Register the cluster KubeOpera runs on, or connect or create another: they are compared here.</p>
    </PageState>
  )
}

function Loading() {
  return (
    <div className="skeletons">
      <p role="status" className="sr-only">
        Loading the comparison
      </p>
      <SummaryLoading />
      <div aria-hidden className={`${cardClass} mt-5 h-[29rem] p-5`}>
        <Skeleton className="h-5 w-40" />
        <Skeleton className="mt-4 h-[380px]" />
      </div>
      <div aria-hidden className={`${cardClass} mt-5 grid gap-4 p-5`}>
        {['a', 'b', 'c', 'd'].map((key) => (
          <Skeleton key={key} className="h-6" />
        ))}
      </div>
    </div>
  )
}
