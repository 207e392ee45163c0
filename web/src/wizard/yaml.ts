import * as rules from '@/form/rules'

/** A string of YAML inside a here-document, where a shell would replace what a dollar sign begins. */
export const yaml = (text: string) => JSON.stringify(text).replaceAll('$', '\\$')

/** One word of a shell, whatever is in it. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** `given` if it passes its rule, or else an example: what goes into a script is known to be harmless. */
export const orExample = (given: string, rule: (text: string) => true | string, example: string) =>
  rule(given) === true ? given : example

/** A line of a mapping, if there is something to say. */
export const optionalLine = (key: string, given: string, rule: (text: string) => true | string) =>
  rule(given) === true ? `\n  ${key}: ${yaml(given)}` : ''

/** What people say of a cluster whichever way it comes in. */
interface Described {
  git_path: string
  domain: string
  admin_email: string
  admin_username: string
}

/** The command that applies a HostCluster whose id the shell has in ID. `own` is what its way has between mode and Git. */
export function applyHostCluster(described: Described, name: string, gitUrl: string, mode: string, own: string) {
  return `kubectl apply -f - <<EOF
apiVersion: kubeopera.io/v1alpha1
kind: HostCluster
metadata:
  name: "$ID"
  namespace: kubeopera-system
  labels:
    kubeopera.io/cluster-name: ${yaml(name)}
spec:
  clusterID: "$ID"
  mode: ${mode}
${own}
  gitOpsRepoURL: ${yaml(gitUrl)}
  gitOpsPath: ${yaml(orExample(described.git_path, rules.gitPath, `fluxcd/clusters/${name}`))}
  gitCredentialsSecretRef: gitops-iac-credentials${optionalLine('domain', described.domain, rules.domain)}${optionalLine('adminEmail', described.admin_email, rules.email)}${optionalLine('adminUsername', described.admin_username, rules.username)}
EOF`
}
