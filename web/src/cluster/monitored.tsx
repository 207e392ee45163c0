import type { ReactNode } from 'react'
import type { Cluster, ClusterMonitor } from '@/api/model'
import { useMonitor } from '@/monitor/monitor'
import { Ago } from '@/ui/ago'
import { Loaded } from '@/ui/loaded'
import { Section } from '@/ui/section'
import { ClusterCost } from './cluster-cost'
import { ClusterHealth } from './cluster-health'
import { ClusterNodes } from './cluster-nodes'
import { ClusterUsage } from './cluster-usage'
import { RecentEvents } from './recent-events'

/** How the cluster is, as k8s-monitor knows it: health, nodes, usage, cost and events of late. */
export function Monitored({ cluster }: { cluster: Pick<Cluster, 'id' | 'phase'> }) {
  const query = useMonitor(cluster.id)
  const { data } = query
  if (!data || isUnread(data))
    return (
      <Section title="Health">
        <Loaded query={query} what="how the cluster is">
          {() => (
            <p className="text-fg-3">
              KubeOpera has not read this cluster yet
              {cluster.phase !== 'Ready' && ', as it is not Ready'}. Health, nodes, usage, cost and events are shown
              here once it has.
            </p>
          )}
        </Loaded>
      </Section>
    )
  return (
    <div className="grid gap-5">
      <Loaded query={query} what="how the cluster is">
        {({ freshness, health, nodes, usage, cost, events }) => (
          <>
            <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
              <ClusterHealth health={health} about={<AsItWas freshness={freshness} />} />
              <div className="grid gap-5">
                <ClusterUsage usage={usage} about={<AsItWas freshness={freshness} />} />
                <ClusterCost cost={cost} about={<AsItWas freshness={freshness} />} />
              </div>
            </div>
            <ClusterNodes nodes={nodes} about={<AsItWas freshness={freshness} />} />
            <RecentEvents
              events={events}
              about={<AsItWas freshness={freshness} />}
              isReading={query.isFetching}
              onReadAgain={() => void query.refetch()}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const isUnread = ({ freshness, health, nodes }: ClusterMonitor) =>
  freshness.as_of === null && health === null && nodes === null

/** How old a part is of a cluster that does not answer. Nothing is said of what is of this moment. */
function AsItWas({ freshness: { as_of: asOf, unreachable } }: Pick<ClusterMonitor, 'freshness'>) {
  if (!unreachable) return null
  return (
    <span className="font-medium text-warn-fg">
      {asOf ? (
        <>
          The cluster does not answer: this is as it was <Ago at={asOf} />.
        </>
      ) : (
        'The cluster does not answer, and never did.'
      )}
    </span>
  )
}

/** What a section of the page is given besides its own part. */
export interface PartProps {
  /** How old it is, if that has to be said. */
  about: ReactNode
}
