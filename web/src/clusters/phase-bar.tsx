import clsx from 'clsx'
import type { Cluster, PhaseStep } from '@/api/model'
import { progress } from './phases'

const fill: Record<PhaseStep['state'], string> = {
  done: 'bg-ok',
  current: 'bg-warn breathe',
  failed: 'bg-bad',
  waiting: 'bg-line',
}

/** One segment for each phase of the cluster's way to Ready. */
export function PhaseBar({ cluster }: { cluster: Pick<Cluster, 'name' | 'phase' | 'phases'> }) {
  const { step, of } = progress(cluster)
  return (
    <div
      role="progressbar"
      aria-label={`Setup of ${cluster.name}`}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={step}
      aria-valuetext={`Phase ${step} of ${of}: ${cluster.phase}`}
      className="flex gap-1"
    >
      {cluster.phases.map(({ phase, state }) => (
        <span key={phase} data-state={state} className={clsx('phase-segment h-1.5 flex-1 rounded-full', fill[state])} />
      ))}
    </div>
  )
}
