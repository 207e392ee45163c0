import type { ClusterMonitor } from '@/api/model'
import { UsageMeter } from '@/clusters/usage-meter'
import { bytes } from '@/format/bytes'
import { cores, grouped, percent } from '@/format/numbers'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import type { PartProps } from './monitored'

type Usage = NonNullable<ClusterMonitor['usage']>

/** CPU and memory of the whole cluster: used on the nodes that are measured, and requested by its pods. */
export function ClusterUsage({ usage, about }: PartProps & Pick<ClusterMonitor, 'usage'>) {
  return (
    <Section title="Usage" about={about}>
      {usage ? (
        <div className="grid gap-5">
          <Resource name="CPU" resource={usage.cpu} amount={cores} />
          <Resource name="Memory" resource={usage.memory} amount={bytes} />
          <p className="text-fg-3 text-ui [overflow-wrap:anywhere]">
            {usage.not_measured ? (
              <>
                Measured on {grouped(usage.measured_nodes)} of {grouped(usage.nodes)} nodes. {usage.not_measured}
              </>
            ) : (
              'Measured on all nodes.'
            )}
          </p>
        </div>
      ) : (
        <Nothing>Usage is known once the nodes of the cluster have been read.</Nothing>
      )}
    </Section>
  )
}

interface ResourceProps {
  name: string
  resource: Usage['cpu']
  amount: (value: number) => string
}

function Resource({ name, resource, amount }: ResourceProps) {
  const { used, measured_allocatable: measured, requested, allocatable } = resource
  const part = (value: number | null, of: number | null) => (value === null || !of ? null : (100 * value) / of)
  const requestedPart = part(requested, allocatable)
  return (
    <div>
      <UsageMeter name={name} usage={{ percent: part(used, measured), used, allocatable }} />
      <p className="mt-1.5 text-fg-3 text-xs tabular-nums">
        {used === null || measured === null
          ? 'What is used is not known'
          : `${amount(used)} of ${amount(measured)} used`}
        {' · '}
        {requested === null
          ? 'what pods request is not known'
          : `${amount(requested)} of ${amount(allocatable)} requested${requestedPart === null ? '' : ` (${percent(requestedPart)})`}`}
      </p>
    </div>
  )
}
