import clsx from 'clsx'
import { EllipsisVertical } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { buttonClass } from '@/ui/button'
import { OnDemand, popup } from '@/ui/on-demand'
import { mayManage, useRole } from './rights'

interface ClusterMenuProps {
  cluster: Cluster
  /** Leaves out the way there. */
  onItsPage?: boolean
  inRow?: boolean
}

const clusterActions = popup('menu', () => import('./cluster-actions'))

/** The button for what can be done with a cluster. */
export function ClusterMenu({ cluster, onItsPage = false, inRow = false }: ClusterMenuProps) {
  const manages = mayManage(useRole())
  if (onItsPage && !manages) return null
  return (
    <OnDemand popup={clusterActions} with={{ cluster, onItsPage }}>
      <button
        type="button"
        aria-label={`Actions for ${cluster.name}`}
        className={clsx(
          buttonClass(onItsPage ? 'secondary' : 'ghost', 'icon'),
          !onItsPage && !inRow && '-mt-1.5 -mr-2',
        )}
      >
        <EllipsisVertical aria-hidden />
      </button>
    </OnDemand>
  )
}
