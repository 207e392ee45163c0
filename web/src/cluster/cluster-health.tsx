import { CircleHelp } from 'lucide-react'
import type { ClusterMonitor } from '@/api/model'
import { HealthRing } from '@/clusters/health-ring'
import { grouped } from '@/format/numbers'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import { Sentences } from '@/ui/sentences'
import type { PartProps } from './monitored'
import { objectName } from './object-name'

type Health = NonNullable<ClusterMonitor['health']>

/** The score, every point it lost, and what could not be looked at. */
export function ClusterHealth({ health, about }: PartProps & Pick<ClusterMonitor, 'health'>) {
  return (
    <Section title="Health" about={about}>
      {health ? (
        <>
          <Score health={health} />
          <Deductions health={health} />
          <NotAssessed health={health} />
        </>
      ) : (
        <Nothing>There is no score until the whole cluster has been read once.</Nothing>
      )}
    </Section>
  )
}

function Score({ health }: { health: Health }) {
  return (
    <div className="flex items-center gap-4">
      <HealthRing health={health} />
      <p>
        <span className="font-semibold tabular-nums">{grouped(health.score)}</span> of 100, {health.colour}.
        <span className="block text-fg-3 text-ui">
          {health.deductions.length === 0
            ? 'Nothing costs points.'
            : `${points(health.deducted)} lost${health.deducted > 100 ? '; a score is never below 0' : ''}.`}
        </span>
      </p>
    </div>
  )
}

const points = (amount: number) => `${grouped(amount)} ${amount === 1 ? 'point' : 'points'}`

function Deductions({ health: { deductions } }: { health: Health }) {
  if (deductions.length === 0) return null
  return (
    <ul aria-label="Deductions" className="mt-4 divide-y divide-line border-line border-t">
      {deductions.map(({ penalty, object, points: lost, message }) => (
        <li key={`${penalty} ${object ? objectName(object) : ''}`} className="flex gap-4 py-2.5">
          <span className="w-10 shrink-0 text-right font-semibold text-bad-fg tabular-nums">
            <span aria-hidden>−{grouped(lost)}</span>
            <span className="sr-only">{points(lost)} lost: </span>
          </span>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <Sentences>{message}</Sentences>
            {object && <span className="block text-fg-3 text-ui">{objectName(object)}</span>}
          </span>
        </li>
      ))}
    </ul>
  )
}

const assessed: Record<Health['not_assessed'][number]['what'], string> = {
  nodes: 'Nodes',
  pods: 'Pods',
  api_server: 'API server',
  scheduler: 'Scheduler',
  controller_manager: 'Controller manager',
  etcd: 'etcd',
  cpu: 'CPU',
  memory: 'Memory',
}

/** It costs no points, but the score says nothing about it. */
function NotAssessed({ health: { not_assessed: missing } }: { health: Health }) {
  if (missing.length === 0) return null
  return (
    <div className="mt-4 border-line border-t pt-4">
      <h3 className="font-medium text-ui">Not assessed</h3>
      <ul aria-label="Not assessed" className="mt-2 grid gap-2 text-ui">
        {missing.map(({ what, reason }) => (
          <li key={what} className="flex gap-2.5">
            <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-fg-3" />
            <span className="min-w-0 text-fg-2 [overflow-wrap:anywhere]">
              <span className="font-medium text-fg">{assessed[what] ?? what}.</span> <Sentences>{reason}</Sentences>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
