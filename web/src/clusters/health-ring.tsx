import clsx from 'clsx'
import type { Cluster } from '@/api/model'
import { grouped } from '@/format/numbers'

const tint = { green: 'text-ok', amber: 'text-warn', red: 'text-bad' }
const RADIUS = 17
const LENGTH = 2 * Math.PI * RADIUS

/** The health score: the number, and as much of a ring. A dash while it is not known. */
export function HealthRing({ health }: Pick<Cluster, 'health'>) {
  const words = health ? `Health ${grouped(health.score)} of 100, ${health.colour}` : 'Health not known'
  return (
    <span role="img" aria-label={words} title={words} className="relative grid size-10 shrink-0 place-items-center">
      <svg aria-hidden="true" viewBox="0 0 40 40" className="absolute inset-0 -rotate-90">
        <circle cx="20" cy="20" r={RADIUS} fill="none" strokeWidth="3" stroke="currentColor" className="text-line" />
        {health && (
          <circle
            cx="20"
            cy="20"
            r={RADIUS}
            fill="none"
            strokeWidth="3"
            strokeLinecap="round"
            stroke="currentColor"
            strokeDasharray={LENGTH}
            strokeDashoffset={LENGTH * (1 - health.score / 100)}
            className={tint[health.colour]}
          />
        )}
      </svg>
      <span aria-hidden className={clsx('font-semibold text-xs tabular-nums', health ? 'text-fg' : 'text-fg-3')}>
        {health ? Math.round(health.score) : '–'}
      </span>
    </span>
  )
}
