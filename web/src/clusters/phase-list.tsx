import type { Cluster } from '@/api/model'
import { OnDemand, popup } from '@/ui/on-demand'

const phaseSteps = popup('dialog', () => import('./phase-steps'))

/** A button that shows every phase of the cluster's way. */
export function PhaseList({ cluster }: { cluster: Cluster }) {
  return (
    <OnDemand popup={phaseSteps} with={{ cluster }}>
      <button
        type="button"
        aria-label={`Phases of ${cluster.name}`}
        className="-mx-1.5 -my-1 rounded-md px-1.5 py-1 font-medium text-accent-text hover:bg-hover max-sm:py-2"
      >
        Phases
      </button>
    </OnDemand>
  )
}
