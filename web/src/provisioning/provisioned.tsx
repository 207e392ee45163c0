import { lazy, Suspense, useState } from 'react'
import type { Cluster, ClusterProvisioning } from '@/api/model'
import { isAdministrator, mayManage, useRole } from '@/clusters/rights'
import { Button } from '@/ui/button'
import { Loaded } from '@/ui/loaded'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import { Ledger } from './ledger'
import { isStuck, useProvisioning } from './provisioning'
import { RunLog } from './run-log'

const GiveUpDialog = lazy(() => import('./give-up-dialog'))

/** What KubeOpera creates for a cluster in the cloud, while and after it does. Nothing of clusters that others created. */
export function Provisioned({ cluster }: { cluster: Cluster }) {
  const role = useRole()
  if (cluster.mode === 'connect_existing' || !mayManage(role)) return null
  return <Runs cluster={cluster} />
}

function Runs({ cluster }: { cluster: Cluster }) {
  const role = useRole()
  const query = useProvisioning(cluster.id, cluster.revision)
  const [isGivingUp, setGivingUp] = useState(false)
  return (
    <div className="grid gap-5">
      <Section
        title="Infrastructure"
        about={query.data && aboutRun(query.data)}
        action={
          isStuck(cluster) && isAdministrator(role) && <Button onClick={() => setGivingUp(true)}>Give it up…</Button>
        }
      >
        <Loaded query={query} what="the infrastructure">
          {(data) =>
            data ? <Ledger provisioning={data} /> : <Nothing>Nothing has been created in the cloud yet.</Nothing>
          }
        </Loaded>
      </Section>
      {query.data && <RunLog id={cluster.id} />}
      {isGivingUp && (
        <Suspense>
          <GiveUpDialog cluster={cluster} left={query.data?.left} onClose={() => setGivingUp(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** What is kept of the infrastructure of a cluster that is gone; nothing, if it had none. */
export function WasProvisioned({ id }: { id: string }) {
  return mayManage(useRole()) ? <PastRuns id={id} /> : null
}

function PastRuns({ id }: { id: string }) {
  const { data } = useProvisioning(id)
  if (!data) return null
  return (
    <div className="mt-5 grid gap-5">
      <Section title="Infrastructure" about={aboutRun(data)}>
        <Ledger provisioning={data} />
      </Section>
      <RunLog id={id} />
    </div>
  )
}

const states: Record<ClusterProvisioning['state'], string> = {
  running: 'is at work',
  succeeded: 'is done',
  failed: 'has stopped short',
  destroyed: 'has deleted it',
  given_up: 'was the last before it was given up',
}

const aboutRun = ({ run, state }: ClusterProvisioning) => (run ? `Run ${run} ${states[state]}.` : undefined)
