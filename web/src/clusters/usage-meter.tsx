import clsx from 'clsx'
import type { Cluster } from '@/api/model'
import { percent } from '@/format/numbers'
import { Unknown } from './unknown'

interface UsageMeterProps {
  name: string
  usage: Cluster['cpu']
}

/** Amber from 80 %, red from 95 %, as the health score has it. */
export function UsageMeter({ name, usage }: UsageMeterProps) {
  const used = usage?.percent ?? null
  const isHigh = used !== null && used >= 80
  return (
    <div className="grid grid-cols-[3.75rem_minmax(0,1fr)_2.75rem] items-center gap-3 text-ui">
      <span className="text-fg-3">{name}</span>
      {/* A meter has a value; without one this is an empty line. */}
      <span
        {...(used !== null && {
          role: 'meter',
          'aria-label': name,
          'aria-valuemin': 0,
          'aria-valuemax': 100,
          'aria-valuenow': Math.round(used),
          'aria-valuetext': percent(used),
        })}
        className="h-1.5 overflow-hidden rounded-full bg-line forced-colors:border"
      >
        {used !== null && (
          <span
            style={{ width: `${Math.min(100, used)}%` }}
            className={clsx(
              'block h-full rounded-full forced-colors:bg-[CanvasText]',
              used >= 95 ? 'bg-bad' : isHigh ? 'bg-warn' : 'bg-accent',
            )}
          />
        )}
      </span>
      <span className={clsx('text-right tabular-nums', isHigh ? 'font-semibold text-fg' : 'text-fg-2')}>
        {used === null ? <Unknown /> : percent(used)}
      </span>
    </div>
  )
}
