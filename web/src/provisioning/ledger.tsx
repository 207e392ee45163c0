import clsx from 'clsx'
import { CircleCheck, CircleDot } from 'lucide-react'
import { useState } from 'react'
import type { ClusterProvisioning } from '@/api/model'
import { dollarsAndCents, grouped } from '@/format/numbers'
import { capital } from '@/format/words'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Nothing } from '@/ui/rows'

type Resource = ClusterProvisioning['resources'][number]

/** More are shown when asked for. */
const AT_FIRST = 12

/** What a run created in the cloud: what is there with its price, and what is gone. */
export function Ledger({ provisioning }: { provisioning: ClusterProvisioning }) {
  const { resources } = provisioning
  const [all, setAll] = useState(false)
  // What is left is what costs.
  const ordered = [...resources.filter(({ gone_at: gone }) => !gone), ...resources.filter(({ gone_at: gone }) => gone)]
  const shown = all ? ordered : ordered.slice(0, AT_FIRST)
  return (
    <>
      <p className="text-fg-2 [overflow-wrap:anywhere]">{provisioning.message}</p>
      <Sum provisioning={provisioning} />
      {resources.length === 0 ? (
        <div className="mt-4">
          <Nothing>Nothing has been created in the cloud yet.</Nothing>
        </div>
      ) : (
        <ul aria-label="In the cloud" className="mt-4 divide-y divide-line border-line border-t">
          {shown.map((resource) => (
            <Line key={`${resource.address} ${resource.id}`} {...resource} />
          ))}
        </ul>
      )}
      {shown.length < ordered.length && (
        <Button className="mt-3" onClick={() => setAll(true)}>
          Show all {grouped(ordered.length)}
        </Button>
      )}
    </>
  )
}

function Sum({ provisioning }: { provisioning: ClusterProvisioning }) {
  const { resources, left, left_monthly: monthly, left_not_priced: notPriced, state, ended_at: ended } = provisioning
  const gone = resources.length - left
  return (
    <p className={clsx('mt-1 tabular-nums', state === 'given_up' && left > 0 ? 'text-warn-fg' : 'text-fg-3')}>
      {grouped(left)} in the cloud{gone > 0 && `, ${grouped(gone)} gone`}
      {left > 0 && (
        <>
          {'. '}
          {dollarsAndCents(monthly)} a month at list prices
          {notPriced > 0 && `, and ${grouped(notPriced)} without a known price`}
        </>
      )}
      .
      {ended && (
        <>
          {' '}
          {state === 'given_up' ? 'Given up' : 'Ended'} <Ago at={ended} />.
        </>
      )}
    </p>
  )
}

function Line({ what, address, id, gone_at: gone, monthly }: Resource) {
  const Icon = gone ? CircleCheck : CircleDot
  return (
    <li className="flex gap-3 py-2.5">
      <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', gone ? 'text-ok-fg' : 'text-fg-3')} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline justify-between gap-x-4">
          <span className={clsx('min-w-0 font-medium [overflow-wrap:anywhere]', gone && 'text-fg-3')}>
            {capital(what)}
          </span>
          <span className="text-fg-3 text-ui tabular-nums">
            {gone ? (
              <>
                Gone <Ago at={gone} />
              </>
            ) : (
              price(monthly)
            )}
          </span>
        </p>
        <p className="font-mono text-fg-3 text-xs [overflow-wrap:anywhere]">
          {address}
          {id && <span className="block">{id}</span>}
        </p>
      </div>
    </li>
  )
}

function price(monthly: number | null): string {
  if (monthly === null) return 'Not priced'
  return monthly === 0 ? 'Free' : `${dollarsAndCents(monthly)} a month`
}
