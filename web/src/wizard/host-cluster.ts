import type { GitSetting } from '@/api/model'
import * as rules from '@/form/rules'

/** Where the tree of a new cluster goes, as a HostCluster has it. */
export type TreePlace = Pick<GitSetting, 'url' | 'branch' | 'credentials_secret'>

/** `given` if it passes its rule, or else an example: a resource that is shown can be applied. */
export const orExample = (given: string, rule: (text: string) => true | string, example: string) =>
  rule(given) === true ? given : example

/** One word of a shell, whatever is in it. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** What people say of a cluster whichever way it comes in. */
interface Described {
  git_path: string
  domain: string
  admin_email: string
  admin_username: string
}

interface HostCluster {
  id: string
  name: string
  mode: string
  provider: string
  region: string
  /** What only this mode has, such as `connectKubeconfigSecretRef`. */
  own?: Record<string, string | number | Record<string, string | number>>
  place: TreePlace
  described: Described
}

/** The resource as YAML. Every text is in double quotes, which JSON and YAML have in common. */
export function hostClusterOf({ id, name, mode, provider, region, own, place, described }: HostCluster): string {
  const given = (text: string, rule: (text: string) => true | string) => (rule(text) === true ? text : undefined)
  const [email, username] = [given(described.admin_email, rules.email), given(described.admin_username, rules.username)]
  return document({
    apiVersion: 'kubeopera.io/v1alpha1',
    kind: 'HostCluster',
    metadata: {
      name: id,
      namespace: 'kubeopera-system',
      labels: { 'kubeopera.io/cluster-name': name },
    },
    spec: {
      clusterID: id,
      mode,
      provider,
      region,
      ...own,
      gitOpsRepoURL: place.url,
      gitOpsBranch: place.branch ?? undefined,
      gitOpsPath: orExample(described.git_path, rules.gitPath, `fluxcd/clusters/${name}`),
      gitCredentialsSecretRef: place.credentials_secret,
      domain: given(described.domain, rules.domain),
      // One without the other is no administrator.
      adminEmail: username && email,
      adminUsername: email && username,
    },
  })
}

/** The command that applies a resource. Nothing in it is for the shell. */
export const applied = (resource: string) => `kubectl apply -f - <<'EOF'\n${resource}\nEOF`

type Value = string | number | undefined | { [key: string]: Value }

function document(mapping: Record<string, Value>, indent = ''): string {
  return Object.entries(mapping)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) =>
      typeof value === 'object'
        ? `${indent}${key}:\n${document(value, `${indent}  `)}`
        : `${indent}${key}: ${typeof value === 'string' && !isPlain(value) ? JSON.stringify(value) : value}`,
    )
    .join('\n')
}

/** Whether YAML takes it for a text without quotes: for one reader or another, some words are truth values. */
const isPlain = (text: string) =>
  /^[A-Za-z][A-Za-z_/.0-9]*$/.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text)
