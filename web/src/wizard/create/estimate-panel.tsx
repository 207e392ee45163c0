import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Catalogue } from '@/api/model'
import { Problem } from '@/api/problem'
import { dollars, grouped } from '@/format/numbers'
import { Skeleton } from '@/ui/skeleton'
import { chosenOf, estimateQuery, type Order, sizeOf, VANILLA } from './create'

interface EstimatePanelProps {
  order: Order
  catalogue: Catalogue
}

/** What the cluster would cost a month, and what to know before it is created. */
export function EstimatePanel({ order, catalogue }: EstimatePanelProps) {
  const size = useSettled(order, 400)
  const query = useQuery({ ...estimateQuery(sizeOf(size)), placeholderData: keepPreviousData })
  const { data: estimate, error, isFetching } = query
  const warnings = warningsOf(order, catalogue)
  return (
    <aside
      aria-label="Before you create it"
      className="grid content-start gap-5 self-start rounded-xl bg-sunken p-5 xl:sticky xl:top-20"
    >
      <section aria-labelledby="estimate">
        <h3 id="estimate" className="font-semibold text-ui">
          Estimated cost a month
        </h3>
        <div role="status" aria-busy={isFetching} className={isFetching && estimate ? 'opacity-60' : undefined}>
          {error ? (
            <p className="mt-2 text-fg-2 text-ui">{Problem.of(error).message}</p>
          ) : estimate ? (
            <>
              <p className="mt-1 font-semibold text-2xl tabular-nums tracking-tight">
                {estimate.monthly === null ? 'Not known' : dollars(estimate.monthly)}
              </p>
              <ul className="mt-3 grid gap-2.5 text-ui">
                {estimate.items.map(({ what, count, monthly, basis }) => (
                  <li key={what}>
                    <p className="flex justify-between gap-3 tabular-nums">
                      <span>
                        {what} {count > 1 && <span className="text-fg-3">× {grouped(count)}</span>}
                      </span>
                      <span>{dollars(monthly)}</span>
                    </p>
                    <p className="text-fg-3 text-xs">{basis}</p>
                  </li>
                ))}
              </ul>
              {estimate.not_priced.length > 0 && (
                <>
                  <p className="mt-3 font-medium text-fg-2 text-xs">Not in the sum</p>
                  <ul className="mt-1 list-disc pl-4 text-fg-3 text-xs">
                    {estimate.not_priced.map((sentence) => (
                      <li key={sentence}>{sentence}</li>
                    ))}
                  </ul>
                </>
              )}
            </>
          ) : isFetching ? (
            <Skeleton className="mt-2 h-8 w-24" />
          ) : (
            <p className="mt-2 text-fg-3 text-ui">Choose what to build, the region, version and size to see it.</p>
          )}
        </div>
      </section>
      {warnings.length > 0 && (
        <section aria-labelledby="warnings">
          <h3 id="warnings" className="font-semibold text-ui">
            Worth knowing
          </h3>
          <ul className="mt-2 grid gap-2 text-ui">
            {warnings.map((warning) => (
              <li key={warning} className="flex gap-2">
                <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn-fg" />
                <span className="min-w-0 text-fg-2">{warning}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  )
}

/** A value once it has stayed the same for a while: who types a number asks for one price, not for three. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

const SOON_MS = 180 * 86_400_000

function warningsOf(order: Order, catalogue: Catalogue): string[] {
  const { cloud, topology, region, version } = chosenOf(catalogue, order)
  const warnings: string[] = []
  if (region?.opt_in) warnings.push(`${region.name} has to be enabled in the ${cloud?.title} account first.`)
  const end = version?.supported_until
  const endsOn = end && new Date(end).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
  if (version?.support === 'extended')
    warnings.push(
      `Kubernetes ${version.version} is in extended support, which costs more${endsOn ? ` and ends on ${endsOn}` : ''}.`,
    )
  else if (end && Date.parse(end) - Date.now() < SOON_MS)
    warnings.push(`Support for Kubernetes ${version?.version} ends on ${endsOn}.`)
  if (order.topology === VANILLA && order.control_plane_count === '1')
    warnings.push('With one control-plane node, the API of the cluster is away whenever that node is.')
  if (topology && order.node_count === '1') warnings.push('With one node, nothing runs while it is replaced.')
  if (topology && !order.domain) warnings.push('Without a domain, nothing on the cluster can be reached from outside.')
  return warnings
}
