import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo } from 'react'
import { grouped } from '@/format/numbers'
import { Staleness } from '@/live/staleness'
import { ProblemState } from '@/shell/page-states'
import { Button, buttonClass } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { PageHeader } from '@/ui/page-header'
import { Skeleton } from '@/ui/skeleton'
import { Steady } from '@/ui/steady'
import { cardGrid } from './card-grid'
import { ClusterCards } from './cluster-cards'
import type { Fleet } from './clusters'
import { ClustersToolbar } from './clusters-toolbar'
import { arranged, type FleetView, usualLayout } from './fleet-view'
import { GetStarted } from './get-started'
import { useFleet } from './use-fleet'

const loadTable = () => import('./cluster-table')
const ClusterTable = lazy(loadTable)

export function ClustersPage({ view }: { view: FleetView }) {
  const query = useFleet()
  const { data: fleet, error } = query
  const empty = fleet?.items.length === 0
  // Many clusters are shown in the table: it comes while they do.
  useEffect(() => void loadTable().catch(() => {}), [])
  return (
    <>
      <PageHeader
        title="Clusters"
        actions={
          !empty && (
            <Link to="/clusters/new" className={buttonClass('primary')}>
              <Plus aria-hidden />
              New Cluster
            </Link>
          )
        }
      >
        The Kubernetes clusters KubeOpera runs workloads on.
      </PageHeader>
      {fleet ? (
        <>
          <Staleness query={query} />
          <KubernetesAway kubernetes={fleet.kubernetes} />
          {empty ? <GetStarted /> : <Clusters fleet={fleet} view={view} />}
        </>
      ) : error ? (
        <ProblemState error={error} onRetry={query.refetch} />
      ) : (
        <Loading />
      )}
    </>
  )
}

function Clusters({ fleet: { items }, view }: { fleet: Fleet; view: FleetView }) {
  const navigate = useNavigate()
  const change = (change: FleetView) =>
    void navigate({ to: '/clusters', search: { ...view, ...change }, replace: true, resetScroll: false })
  const clusters = useMemo(() => arranged(items, view), [items, view])
  const layout = view.view ?? usualLayout(items.length)
  return (
    <>
      <ClustersToolbar clusters={items} view={view} layout={layout} onChange={change} />
      <p role="status" className="mt-3 mb-3 text-fg-3 text-ui tabular-nums">
        {clusters.length === items.length
          ? `${grouped(items.length)} ${items.length === 1 ? 'cluster' : 'clusters'}`
          : `${grouped(clusters.length)} of ${grouped(items.length)} clusters`}
      </p>
      {clusters.length === 0 ? (
        <div className="py-16 text-center">
          <p className="text-fg-2">No clusters match these filters.</p>
          <Button
            className="mt-4"
            onClick={() => change({ q: undefined, phase: undefined, provider: undefined, label: undefined })}
          >
            Clear filters
          </Button>
        </div>
      ) : (
        <Steady rows={clusters} asked={view}>
          {(clusters) =>
            layout === 'list' ? (
              <Suspense>
                <ClusterTable clusters={clusters} view={view} onChange={change} />
              </Suspense>
            ) : (
              <ClusterCards clusters={clusters} />
            )
          }
        </Steady>
      )}
    </>
  )
}

/** The records are there, their resources cannot be read: phases are as they were last seen. */
function KubernetesAway({ kubernetes }: Pick<Fleet, 'kubernetes'>) {
  if (kubernetes.available) return null
  return (
    <Notice tone="warn" role="status" className="mt-5" title="KubeOpera cannot reach its Kubernetes API">
      {kubernetes.reason} Phases and messages are as they were last seen.
    </Notice>
  )
}

function Loading() {
  return (
    <div className={`${cardGrid} skeletons mt-6`}>
      <p role="status" className="sr-only">
        Loading clusters
      </p>
      {['a', 'b', 'c'].map((key) => (
        <div key={key} aria-hidden className={`${cardClass} h-[19rem] p-5`}>
          <div className="flex gap-3.5">
            <Skeleton className="size-10 rounded-full" />
            <div className="flex-1">
              <Skeleton className="h-5 w-1/2" />
              <Skeleton className="mt-2 h-6 w-28 rounded-full" />
            </div>
          </div>
          <Skeleton className="mt-6 h-1.5" />
          <Skeleton className="mt-4 h-4 w-5/6" />
          <Skeleton className="mt-2 h-4 w-2/3" />
          <Skeleton className="mt-16 h-8" />
        </div>
      ))}
    </div>
  )
}
