import type { Cluster } from '@/api/model'
import { useShowCard } from '@/clusters/register'
import { dollarsAndCents, grouped } from '@/format/numbers'
import { providerName } from '@/format/provider'
import { useProvisioning } from '@/provisioning/provisioning'
import { showReceipt } from '@/ui/toasts'
import { ConfirmByName } from './confirm-by-name'
import { deleteCluster } from './parting'

/** Deletes a provisioned cluster with its infrastructure, after its name was typed. */
export default function DeleteDialog({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { id, name, nodes, provider, region } = cluster
  const showCard = useShowCard()
  const { data: ledger } = useProvisioning(id)
  return (
    <ConfirmByName
      name={name}
      title={`Delete ${name}?`}
      keep="Keep it"
      act="Delete cluster"
      failed="It is not being deleted"
      run={(typed) => deleteCluster(id, typed)}
      onDone={async () => {
        await showCard(id)
        showReceipt({
          tone: 'info',
          title: `Deleting ${name}`,
          description: 'Its page lists what is gone and what is left. Its card goes when nothing is left.',
        })
      }}
      onClose={onClose}
    >
      <p className="text-fg-2">
        This destroys the cluster and everything in the cloud that KubeOpera built for it. It cannot be undone.
      </p>
      <ul className="mt-3 list-disc pl-5 text-fg-2 text-ui marker:text-fg-3">
        <li>
          {nodes
            ? `${grouped(nodes.total)} ${nodes.total === 1 ? 'node' : 'nodes'} and what runs on them`
            : 'Its nodes and what runs on them'}
        </li>
        <li>
          The network and load balancers in {providerName(provider)} {region}
        </li>
        <li>The data on its volumes, unless you have a copy elsewhere</li>
        {ledger && ledger.left > 0 && (
          <li>
            {grouped(ledger.left)} resources in the cloud in all, {dollarsAndCents(ledger.left_monthly)} a month at list
            prices
            {ledger.left_not_priced > 0 && `, ${grouped(ledger.left_not_priced)} of them without a known price`}
          </li>
        )}
      </ul>
    </ConfirmByName>
  )
}
