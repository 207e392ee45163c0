import type { Cluster } from '@/api/model'
import { modeName } from '@/clusters/mode'
import { Ago } from '@/ui/ago'
import { CopyButton } from '@/ui/copy-button'
import { Fact, Facts } from '@/ui/facts'
import { Section } from '@/ui/section'
import { StoredCredential } from './stored-credential'

/** How KubeOpera reaches the cluster, and under which name Kubernetes knows it. */
export function Connection({ cluster }: { cluster: Cluster }) {
  const reach = cluster.conditions.find(({ type }) => type === 'Reachable')
  return (
    <Section title="Connection">
      <Facts>
        <Fact name="Joined">
          {modeName(cluster)}, <Ago at={cluster.created_at} />
        </Fact>
        <Fact name="Reached with">
          {cluster.is_host
            ? "KubeOpera's own service account"
            : cluster.mode === 'connect_existing'
              ? 'The kubeconfig that was supplied'
              : 'A kubeconfig of the cluster that was created'}
        </Fact>
        {!cluster.is_host && (
          <Fact name="Credential">
            <StoredCredential credential={cluster.credential} />
          </Fact>
        )}
        <Fact name="Reachable">
          {reach ? (
            <>
              {reach.status === 'True' ? 'Yes, since ' : reach.status === 'False' ? 'No, since ' : 'Not known, since '}
              <Ago at={reach.last_transition_time} />
              {reach.status !== 'True' && reach.message && <p className="mt-1 text-bad-fg">{reach.message}</p>}
            </>
          ) : (
            'Not known yet'
          )}
        </Fact>
        <Fact name="HostCluster resource">
          <span className="flex items-center gap-1">
            <span className="font-mono text-xs">{cluster.id}</span>
            <CopyButton text={cluster.id} label="Copy the cluster's ID" className="-my-1.5" />
          </span>
        </Fact>
      </Facts>
    </Section>
  )
}
