import type { ReactNode } from 'react'
import type { MultiClusterRow } from '@/api/model'
import { Unknown } from '@/clusters/unknown'
import { cores, dollars, grouped, percent } from '@/format/numbers'
import { providerName, versionName } from '@/format/provider'
import { Ago } from '@/ui/ago'
import { StandingBadge } from './standing'

/** What a tile stands for. */
export function TileDetails({ row }: { row: MultiClusterRow }) {
  const { health, nodes, cpu, memory, cost, stale, kubernetes_version: version } = row
  const about = [
    row.provider !== 'unknown' && providerName(row.provider),
    row.region !== 'unknown' && row.region,
    version && versionName(version),
  ].filter(Boolean)
  return (
    <>
      <div className="flex items-start justify-between gap-3">
        <p className="min-w-0 font-semibold [overflow-wrap:anywhere]">{row.name}</p>
        <StandingBadge standing={row.standing} />
      </div>
      {about.length > 0 && <p className="mt-0.5 text-fg-3 text-xs">{about.join(' · ')}</p>}
      <dl className="mt-3 grid gap-1.5 text-xs">
        <Line name="Health">{health ? `${grouped(health.score)} of 100` : <Unknown />}</Line>
        <Line name="Nodes ready">{nodes ? `${nodes.ready} of ${nodes.total}` : <Unknown />}</Line>
        <Line name="CPU">
          {cpu?.used != null ? (
            <>
              {cpu.percent !== null && `${percent(cpu.percent)} · `}
              {cores(cpu.used)}
            </>
          ) : (
            <Unknown />
          )}
        </Line>
        <Line name="Memory">{memory?.percent != null ? percent(memory.percent) : <Unknown />}</Line>
        <Line name="Cost a month">
          {cost?.monthly != null ? `${cost.not_priced > 0 ? 'at least ' : ''}${dollars(cost.monthly)}` : <Unknown />}
        </Line>
      </dl>
      {row.not_measured && <Why>{row.not_measured}</Why>}
      {stale && (
        <Why>
          {stale.as_of ? (
            <>
              As it was <Ago at={stale.as_of} />.{' '}
            </>
          ) : (
            'Never read. '
          )}
          {stale.reason}
        </Why>
      )}
    </>
  )
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-3">
      <dt className="text-fg-3">{name}</dt>
      <dd className="font-medium tabular-nums">{children}</dd>
    </div>
  )
}

function Why({ children }: { children: ReactNode }) {
  return (
    <p className="mt-2.5 line-clamp-6 border-line border-t pt-2.5 text-fg-2 text-xs [overflow-wrap:anywhere]">
      {children}
    </p>
  )
}
