import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { Staleness } from '@/live/staleness'
import { ProblemState } from '@/shell/page-states'
import { buttonClass } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { PageHeader } from '@/ui/page-header'
import { Skeleton } from '@/ui/skeleton'
import { ClusterCard } from './cluster-card'
import type { Fleet } from './clusters'
import { GetStarted } from './get-started'
import { byAttention } from './phases'
import { useFleet } from './use-fleet'

export function ClustersPage() {
  const query = useFleet()
  const { data: fleet, error } = query
  const empty = fleet?.items.length === 0
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
          {empty ? <GetStarted /> : <Cards fleet={fleet} />}
        </>
      ) : error ? (
        <ProblemState error={error} onRetry={query.refetch} />
      ) : (
        <Loading />
      )}
    </>
  )
}

const grid = 'mt-6 grid grid-cols-[repeat(auto-fill,minmax(min(22rem,100%),1fr))] gap-5'

function Cards({ fleet }: { fleet: Fleet }) {
  return (
    <ul aria-label="Clusters" className={grid}>
      {fleet.items.toSorted(byAttention).map((cluster) => (
        <li key={cluster.id} className="flex min-w-0">
          <ClusterCard cluster={cluster} />
        </li>
      ))}
    </ul>
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
    <div className={`${grid} skeletons`}>
      <p role="status" className="sr-only">
        Loading clusters
      </p>
      {['a', 'b', 'c'].map((key) => (
        <div key={key} aria-hidden className={`${cardClass} h-[19rem] p-5`}>
          <div className="flex gap-3.5">
            <Skeleton className="size-10 rounded-xl" />
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
