import * as rules from '@/form/rules'
import { hostClusterOf, orExample, type TreePlace } from '../host-cluster'
import { type Order, requestOf, VANILLA } from './create'

/**
 * The request that the form sends, as commands for Bash. The token reaches curl through a file descriptor: what stands in a
 * command line can be read by everybody on the machine.
 */
export function createCommands(order: Order, origin: string): string {
  return `read -rsp 'Personal access token: ' TOKEN
curl --fail-with-body '${origin}/api/v1/clusters/create' \\
  --header @<(printf 'Authorization: Bearer %s' "$TOKEN") \\
  --header "Idempotency-Key: $(cat /proc/sys/kernel/random/uuid)" \\
  --json @- <<'EOF'
${JSON.stringify(requestOf(order), null, 2)}
EOF`
}

const modes: Record<string, string> = {
  vanilla_kubeadm: 'provision_vanilla',
  managed_eks: 'provision_eks',
  managed_gke: 'provision_gke',
}

/** What is chosen from a list needs no rule of its own here, only to be one word. */
const word = (text: string) => /^[A-Za-z0-9._-]+$/.test(text) || 'Choose one.'

/** The resource that KubeOpera writes for it. */
export function createdResource(order: Order, place: TreePlace, id: string): string {
  const topology = orExample(order.topology, word, VANILLA)
  const controlPlanes = { controlPlaneCount: Number.parseInt(order.control_plane_count, 10) || 1 }
  return hostClusterOf({
    id,
    name: orExample(order.name, rules.clusterName, 'my-cluster'),
    mode: modes[topology] ?? 'provision_vanilla',
    provider: orExample(order.provider, word, 'aws'),
    region: orExample(order.region, word, 'eu-north-1'),
    own: {
      provisioning: {
        topology,
        ...(topology === VANILLA && controlPlanes),
        nodeCount: /^\d+$/.test(order.node_count) ? Number(order.node_count) : 2,
        instanceType: orExample(order.instance_type, word, 't3.medium'),
        kubernetesVersion: orExample(order.kubernetes_version, word, '1.34.4'),
        credentialRef: order.credential_id || '<id of the cloud credential>',
      },
    },
    place,
    described: order,
  })
}
