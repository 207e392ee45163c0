import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { Compass } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Cluster } from '@/api/model'
import { ClusterMenu } from '@/clusters/cluster-menu'
import { HostChip } from '@/clusters/host-chip'
import { PhaseBar } from '@/clusters/phase-bar'
import { StatusBadge } from '@/clusters/status-badge'
import { Unknown } from '@/clusters/unknown'
import { useCluster } from '@/clusters/use-cluster'
import { grouped } from '@/format/numbers'
import { providerName, versionName } from '@/format/provider'
import { exact } from '@/format/time'
import { Staleness } from '@/live/staleness'
import { Provisioned, WasProvisioned } from '@/provisioning/provisioned'
import { PageLoading, PageState, ProblemState } from '@/shell/page-states'
import { Ago } from '@/ui/ago'
import { buttonClass } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { Sentences } from '@/ui/sentences'
import { Conditions } from './conditions'
import { Connection } from './connection'
import { GitTree } from './git-tree'
import { Monitored } from './monitored'
import { PhaseTimeline } from './phase-timeline'
import { CredentialEnds } from './stored-credential'

export function ClusterPage({ id }: { id: string }) {
  const query = useCluster(id)
  const { data: cluster, error } = query
  if (cluster) {
    // Until it is Ready, its way there is what matters.
    const parts = [
      <Setup key="setup" cluster={cluster} />,
      <Provisioned key="provisioned" cluster={cluster} />,
      <Monitored key="monitored" cluster={cluster} />,
    ]
    return (
      <>
        <Header cluster={cluster} />
        <Staleness query={query} />
        <ResourceAway cluster={cluster} />
        <Unreached cluster={cluster} />
        <CredentialEnds cluster={cluster} />
        <Summary cluster={cluster} />
        <div className="mt-5 grid gap-5">{cluster.phase === 'Ready' ? parts.toReversed() : parts}</div>
      </>
    )
  }
  if (cluster === null)
    return (
      <>
        <Gone />
        <WasProvisioned id={id} />
      </>
    )
  return error ? <ProblemState error={error} onRetry={query.refetch} heading="h1" /> : <PageLoading />
}

/** How the cluster came to be managed, and what it is managed by. */
function Setup({ cluster }: { cluster: Cluster }) {
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="grid min-w-0 gap-5">
        <PhaseTimeline cluster={cluster} />
        <Conditions conditions={cluster.conditions} />
      </div>
      <div className="grid min-w-0 gap-5">
        <GitTree cluster={cluster} />
        <Connection cluster={cluster} />
      </div>
    </div>
  )
}

function Header({ cluster }: { cluster: Cluster }) {
  return (
    <header className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1
            tabIndex={-1}
            className="min-w-0 font-semibold text-xl tracking-tight outline-none [overflow-wrap:anywhere]"
          >
            {cluster.name}
          </h1>
          <StatusBadge phase={cluster.phase} />
          {cluster.is_host && <HostChip />}
        </div>
        <p
          className={clsx(
            'mt-1.5 max-w-prose [overflow-wrap:anywhere]',
            cluster.phase === 'Failed' ? 'text-bad-fg' : 'text-fg-2',
          )}
        >
          {cluster.message}
        </p>
      </div>
      <ClusterMenu cluster={cluster} onItsPage />
    </header>
  )
}

/** The record is there, its resource cannot be read. */
function ResourceAway({ cluster: { stale_since: since } }: { cluster: Cluster }) {
  if (!since) return null
  return (
    <Notice tone="warn" role="status" className="mt-5" title="KubeOpera cannot reach its Kubernetes API">
      Phase and message are as they were last seen, <Ago at={since} />.
    </Notice>
  )
}

/** The cluster does not answer: nodes, usage and health are as they were last seen. */
function Unreached({ cluster: { unreachable } }: { cluster: Cluster }) {
  if (!unreachable) return null
  return (
    <Notice tone="warn" role="status" className="mt-5" title="KubeOpera does not reach this cluster">
      <Sentences>{unreachable.reason}</Sentences> That began <Ago at={unreachable.since} />.
    </Notice>
  )
}

function Summary({ cluster }: { cluster: Cluster }) {
  const { nodes, kubernetes_version: version, phase_started_at: since, phase } = cluster
  return (
    <div className={clsx(cardClass, 'mt-5')}>
      {phase !== 'Ready' && (
        <div className="px-5 pt-5">
          <PhaseBar cluster={cluster} />
        </div>
      )}
      <dl className="grid grid-cols-2 gap-x-5 gap-y-4 px-5 py-4.5 sm:grid-cols-3 xl:grid-cols-6">
        <Figure name="Provider">{providerName(cluster.provider)}</Figure>
        <Figure name="Region">{cluster.region}</Figure>
        <Figure name="Kubernetes">{version ? versionName(version) : <Unknown />}</Figure>
        <Figure name="Nodes ready">
          {nodes ? (
            <span className={clsx(nodes.ready < nodes.total && 'text-warn-fg')}>
              {grouped(nodes.ready)} of {grouped(nodes.total)}
            </span>
          ) : (
            <Unknown />
          )}
        </Figure>
        <Figure name={`${phase} since`}>{since ? <Ago at={since} /> : <Unknown />}</Figure>
        <Figure name="Known since">
          <time dateTime={cluster.created_at} title={exact(cluster.created_at)}>
            {new Date(cluster.created_at).toLocaleDateString(undefined, { dateStyle: 'medium' })}
          </time>
        </Figure>
      </dl>
    </div>
  )
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-fg-3 text-xs">{name}</dt>
      <dd className="mt-0.5 truncate font-medium tabular-nums">{children}</dd>
    </div>
  )
}

function Gone() {
  return (
    <PageState
      icon={Compass}
      title="KubeOpera has no such cluster"
      heading="h1"
      action={
        <Link to="/clusters" className={buttonClass('secondary')}>
          Go to Clusters
        </Link>
      }
    >
      <p>It was disconnected or deleted, or the address is misspelt.</p>
    </PageState>
  )
}
