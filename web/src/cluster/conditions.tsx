import clsx from 'clsx'
import { Check, CircleHelp, X } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { Ago } from '@/ui/ago'
import { Section } from '@/ui/section'

const marks = {
  True: { icon: Check, tint: 'text-ok-fg' },
  False: { icon: X, tint: 'text-bad-fg' },
  Unknown: { icon: CircleHelp, tint: 'text-fg-3' },
}

/** The conditions of the HostCluster resource, as `kubectl describe` shows them. */
export function Conditions({ conditions }: Pick<Cluster, 'conditions'>) {
  return (
    <Section title="Conditions" about="What host-cluster-controller says of the HostCluster resource.">
      {conditions.length === 0 ? (
        <p className="text-fg-3">There are none yet.</p>
      ) : (
        <ul className="-my-3 divide-y divide-line">
          {conditions.map(({ type, status, reason, message, last_transition_time: since }) => {
            const { icon: Icon, tint } = marks[status as keyof typeof marks] ?? marks.Unknown
            return (
              <li key={type} className="flex gap-3 py-3">
                <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tint)} />
                <div className="min-w-0 flex-1">
                  <div className="flex flex-wrap items-baseline justify-between gap-x-4">
                    <p className="min-w-0 [overflow-wrap:anywhere]">
                      <span className="font-medium">{type}</span>{' '}
                      <span className={clsx('text-ui', tint)}>{status}</span>
                    </p>
                    <p className="min-w-0 text-fg-3 text-xs tabular-nums [overflow-wrap:anywhere]">
                      {reason} · <Ago at={since} />
                    </p>
                  </div>
                  {message && <p className="mt-0.5 text-fg-2 text-ui [overflow-wrap:anywhere]">{message}</p>}
                </div>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
