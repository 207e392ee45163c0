import * as rules from '@/form/rules'
import { optionalLine, orExample, quoted, yaml } from '../yaml'
import type { Details } from './connect'

interface Chosen {
  details: Details
  /** Null when it is the kubeconfig's current one, or none is chosen so far. */
  context: string | null
  /** Address of the Git repository. */
  gitUrl: string
}

/** The form as commands for a terminal. */
export function connectCommands({ details, context, gitUrl }: Chosen): string {
  const name = orExample(details.name, rules.clusterName, 'my-cluster')
  const literal = context === null ? '' : ` \\\n  --from-literal=context=${quoted(context)}`
  return `ID=$(cat /proc/sys/kernel/random/uuid)
kubectl create secret generic "hostcluster-$ID-input-kubeconfig" \\
  -n kubeopera-system --from-file=kubeconfig=${name}.kubeconfig${literal}
kubectl apply -f - <<EOF
apiVersion: kubeopera.io/v1alpha1
kind: HostCluster
metadata:
  name: "$ID"
  namespace: kubeopera-system
  labels:
    kubeopera.io/cluster-name: ${yaml(name)}
spec:
  clusterID: "$ID"
  mode: connect_existing
  provider: ${yaml(orExample(details.provider, rules.provider, 'aws'))}
  region: ${yaml(orExample(details.region, rules.region, 'eu-north-1'))}
  connectKubeconfigSecretRef: hostcluster-$ID-input-kubeconfig
  gitOpsRepoURL: ${yaml(gitUrl)}
  gitOpsPath: ${yaml(orExample(details.git_path, rules.gitPath, `fluxcd/clusters/${name}`))}
  gitCredentialsSecretRef: gitops-iac-credentials${optionalLine('domain', details.domain, rules.domain)}${optionalLine('adminEmail', details.admin_email, rules.email)}${optionalLine('adminUsername', details.admin_username, rules.username)}
EOF`
}
