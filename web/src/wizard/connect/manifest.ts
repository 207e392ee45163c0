import * as rules from '@/form/rules'
import { applied, hostClusterOf, orExample, quoted, type TreePlace } from '../host-cluster'
import type { Details } from './connect'

interface Chosen {
  id: string
  details: Details
  /** Null when it is the kubeconfig's current one, or none is chosen so far. */
  context: string | null
  place: TreePlace
}

/** The form as commands for a terminal. */
export function connectCommands({ id, details, context, place }: Chosen): string {
  const name = orExample(details.name, rules.clusterName, 'my-cluster')
  // The name that makes the Secret the cluster's own: it has the beginning of the id.
  const secret = `hostcluster-${id.split('-')[0]}-input-kubeconfig`
  const literal = context === null ? '' : ` \\\n  --from-literal=context=${quoted(context)}`
  const resource = hostClusterOf({
    id,
    name,
    mode: 'connect_existing',
    provider: orExample(details.provider, rules.provider, 'aws'),
    region: orExample(details.region, rules.region, 'eu-north-1'),
    own: { connectKubeconfigSecretRef: secret },
    place,
    described: details,
  })
  return `kubectl create secret generic ${secret} \\
  -n kubeopera-system --from-file=kubeconfig=${name}.kubeconfig${literal}
${applied(resource)}`
}
