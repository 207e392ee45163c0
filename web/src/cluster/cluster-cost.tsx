import type { ReactNode } from 'react'
import type { ClusterMonitor } from '@/api/model'
import { Unknown } from '@/clusters/unknown'
import { dollars, dollarsAndCents, grouped } from '@/format/numbers'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import type { PartProps } from './monitored'

type Cost = NonNullable<ClusterMonitor['cost']>

/** What the cluster costs a month, what of it is priced how, and what is not. */
export function ClusterCost({ cost, about }: PartProps & Pick<ClusterMonitor, 'cost'>) {
  return (
    <Section title="Cost" about={about}>
      {cost ? <Priced cost={cost} /> : <Nothing>Costs are known once the nodes have been read.</Nothing>}
    </Section>
  )
}

function Priced({ cost: { total, items, not_priced: missing, source } }: { cost: Cost }) {
  return (
    <>
      {total.monthly === null ? (
        <p className="text-fg-2">Not known.</p>
      ) : (
        <p>
          <span className="font-semibold text-[1.625rem] tabular-nums leading-8 tracking-tight">
            {dollars(total.monthly)}
          </span>{' '}
          <span className="text-fg-3">a month of 730 hours{total.not_priced > 0 && ', at least'}</span>
        </p>
      )}
      {items.length > 0 && (
        <ul aria-label="What is priced" className="mt-3 divide-y divide-line border-line border-t">
          {items.map(({ kind, what, count, each, monthly, basis }) => (
            <Line key={`${kind} ${what} ${basis} ${each}`} what={what} sum={dollars(monthly)}>
              {grouped(count)} × {dollarsAndCents(each)}, {basis}
            </Line>
          ))}
        </ul>
      )}
      {missing.length > 0 && (
        <>
          <h3 className="mt-4 font-medium text-ui">Not priced</h3>
          <ul aria-label="Not priced" className="mt-1 divide-y divide-line">
            {missing.map(({ kind, what, count, reason }) => (
              <Line key={`${kind} ${what} ${reason}`} what={`${grouped(count)} × ${what}`} sum={<Unknown />}>
                {reason}
              </Line>
            ))}
          </ul>
        </>
      )}
      {source && <p className="mt-3 text-fg-3 text-xs [overflow-wrap:anywhere]">{source}</p>}
    </>
  )
}

function Line({ what, sum, children }: { what: string; sum: ReactNode; children: ReactNode }) {
  return (
    <li className="py-2.5 text-ui">
      <span className="flex justify-between gap-4">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{what}</span>
        <span className="shrink-0 tabular-nums">{sum}</span>
      </span>
      <span className="block text-fg-3 text-xs tabular-nums [overflow-wrap:anywhere]">{children}</span>
    </li>
  )
}
