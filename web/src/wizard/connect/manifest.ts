import * as rules from '@/form/rules'
import type { Details } from './connect'

interface Chosen {
  details: Details
  /** Null when it is the kubeconfig's current one, or none is chosen so far. */
  context: string | null
  /** Address of the Git repository. */
  gitUrl: string
}

/**
 * The form as commands for a terminal. A field that is empty or not acceptable shows an example: what goes into a script
 * has passed its rule.
 */
export function connectCommands({ details, context, gitUrl }: Chosen): string {
  const given = (field: keyof Details, rule: (text: string) => true | string, example: string) =>
    yaml(rule(details[field]) === true ? details[field] : example)
  const name = rules.clusterName(details.name) === true ? details.name : 'my-cluster'
  const optional = (key: string, field: keyof Details, rule: (text: string) => true | string) =>
    rule(details[field]) === true ? `\n  ${key}: ${yaml(details[field])}` : ''
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
  provider: ${given('provider', rules.provider, 'aws')}
  region: ${given('region', rules.region, 'eu-north-1')}
  connectKubeconfigSecretRef: hostcluster-$ID-input-kubeconfig
  gitOpsRepoURL: ${yaml(gitUrl)}
  gitOpsPath: ${given('git_path', rules.gitPath, `fluxcd/clusters/${name}`)}
  gitCredentialsSecretRef: gitops-iac-credentials${optional('domain', 'domain', rules.domain)}${optional('adminEmail', 'admin_email', rules.email)}${optional('adminUsername', 'admin_username', rules.username)}
EOF`
}

/** One word of a shell, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A string of YAML inside a here-document, where a shell would replace what a dollar sign begins. */
const yaml = (text: string) => JSON.stringify(text).replaceAll('$', '\\$')
