import * as rules from '@/form/rules'
import { applyHostCluster, orExample, yaml } from '../yaml'
import { type Order, VANILLA } from './create'

const modes: Record<string, string> = {
  vanilla_kubeadm: 'provision_vanilla',
  managed_eks: 'provision_eks',
  managed_gke: 'provision_gke',
}

/** What is chosen from a list needs no rule of its own here, only to be one harmless word. */
const word = (text: string) => /^[A-Za-z0-9._-]+$/.test(text) || 'Choose one.'

/** The form as commands for a terminal, whose API server checks the resource before it takes it. */
export function createCommands(order: Order, gitUrl: string): string {
  const name = orExample(order.name, rules.clusterName, 'my-cluster')
  const topology = orExample(order.topology, word, VANILLA)
  const nodes = /^\d+$/.test(order.node_count) ? order.node_count : '2'
  const controlPlanes =
    topology === VANILLA ? `\n    controlPlaneCount: ${Number.parseInt(order.control_plane_count, 10) || 1}` : ''
  const own = `  provider: ${yaml(orExample(order.provider, word, 'aws'))}
  region: ${yaml(orExample(order.region, word, 'eu-north-1'))}
  provisioning:
    topology: ${topology}${controlPlanes}
    nodeCount: ${nodes}
    instanceType: ${yaml(orExample(order.instance_type, word, 't3.medium'))}
    kubernetesVersion: ${yaml(orExample(order.kubernetes_version, word, '1.34.4'))}
    credentialRef: ${order.credential_id ? yaml(order.credential_id) : '<id of the cloud credential>'}`
  return `ID=$(cat /proc/sys/kernel/random/uuid)
${applyHostCluster(order, name, gitUrl, modes[topology] ?? 'provision_vanilla', own)}`
}
