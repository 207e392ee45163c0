import * as rules from '@/form/rules'
import { applyHostCluster, orExample, quoted, yaml } from '../yaml'
import type { Details } from './connect'

interface Chosen {
  details: Details
  /** Null when it is the kubeconfig's current one, or none is chosen so far. */
  context: string | null
  /** Address of the Git repository. */
  gitUrl: string
}

/** The name that makes the Secret the cluster's own: it has the beginning of the id. */
const SECRET = `hostcluster-\${ID%%-*}-input-kubeconfig`

/** The form as commands for a terminal. */
export function connectCommands({ details, context, gitUrl }: Chosen): string {
  const name = orExample(details.name, rules.clusterName, 'my-cluster')
  const literal = context === null ? '' : ` \\\n  --from-literal=context=${quoted(context)}`
  const own = `  provider: ${yaml(orExample(details.provider, rules.provider, 'aws'))}
  region: ${yaml(orExample(details.region, rules.region, 'eu-north-1'))}
  connectKubeconfigSecretRef: ${SECRET}`
  return `ID=$(cat /proc/sys/kernel/random/uuid)
kubectl create secret generic "${SECRET}" \\
  -n kubeopera-system --from-file=kubeconfig=${name}.kubeconfig${literal}
${applyHostCluster(details, name, gitUrl, 'connect_existing', own)}`
}
