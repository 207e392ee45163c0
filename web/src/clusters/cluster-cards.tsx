import { lazy, Suspense } from 'react'
import type { Cluster } from '@/api/model'
import { cardGrid } from './card-grid'
import { ClusterCard } from './cluster-card'

/** Up to here all of them are on the page, for the browser to find and to print. */
const WITHOUT_VIRTUAL = 60

const VirtualCards = lazy(() => import('./virtual-cards'))

export function ClusterCards({ clusters }: { clusters: Cluster[] }) {
  if (clusters.length > WITHOUT_VIRTUAL)
    return (
      <Suspense>
        <VirtualCards clusters={clusters} />
      </Suspense>
    )
  return (
    <ul aria-label="Clusters" className={cardGrid}>
      {clusters.map((cluster) => (
        <li key={cluster.id} className="flex min-w-0">
          <ClusterCard cluster={cluster} />
        </li>
      ))}
    </ul>
  )
}
