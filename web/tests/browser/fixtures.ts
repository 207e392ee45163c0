import type {
  AuditEntry,
  Catalogue,
  Cluster,
  ContextVerdict,
  Credential,
  Disconnection,
  InstanceType,
  PartingReceipt,
  Person,
  Phase,
  PhaseStep,
  ProblemBody,
  Session,
} from '@/api/model'

export const session: Session = {
  user: { id: '0d5f1f6e-6f0b-4c55-9d2f-0d7c6a1b2c3d', username: 'admin', role: 'platform_administrator' },
  must_change_password: false,
  expires_at: new Date(Date.now() + 8 * 3600_000).toISOString(),
}

const hostWay: Phase[] = ['BootstrappingFlux', 'GeneratingGitOpsTree', 'InstallingKubeOpera']
const connectWay: Phase[] = ['ValidatingAccess', ...hostWay]
const createWay: Phase[] = ['Provisioning', ...hostWay]

/** The steps of a cluster that has come to `phase`, or failed there. */
export function stepsTo(phase: Phase, failed = false, way = hostWay): PhaseStep[] {
  const at = phase === 'Ready' ? way.length : way.indexOf(phase)
  return way.map((step, index) => {
    if (index < at) return { phase: step, state: 'done' }
    if (index > at) return { phase: step, state: 'waiting' }
    return { phase: step, state: failed ? 'failed' : 'current' }
  })
}

let revision = 1

const met = (type: string, secondsAgo: number): Cluster['conditions'][number] => ({
  type,
  status: 'True',
  reason: 'Reached',
  message: '',
  last_transition_time: new Date(Date.now() - secondsAgo * 1_000).toISOString(),
})

export function cluster(change: Partial<Cluster> = {}): Cluster {
  const phase = change.phase ?? 'Ready'
  return {
    id: '7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11',
    name: 'kubeopera-host',
    mode: 'connect_existing',
    provider: 'aws',
    region: 'eu-north-1',
    labels: {},
    is_host: true,
    created_at: new Date(Date.now() - 600_000).toISOString(),
    phase,
    message: 'Flux healthy and reconciling fluxcd/clusters/kubeopera-host.',
    credential: null,
    flux_healthy: phase === 'Ready' ? true : null,
    flux: phase === 'Ready' ? { version: 'v2.9.4', managed_by: 'kubeopera' } : null,
    kubernetes_version: '1.34.4',
    nodes: { total: 3, ready: 3 },
    health: null,
    cpu: null,
    memory: null,
    cost: null,
    unreachable: null,
    phase_started_at: new Date(Date.now() - 21_000).toISOString(),
    phases: stepsTo(phase),
    conditions: [met('FluxBootstrapped', 95), met('TreeGenerated', 77), met('PlatformInstalled', 21)],
    git_ops: {
      url: 'https://github.com/acme/gitops-iac.git',
      branch: 'main',
      path: 'fluxcd/clusters/kubeopera-host',
      commit: '3f9c1e7a5b20d48c6e1f0a9b8c7d6e5f4a3b2c1d',
      applied_revision: phase === 'Ready' ? 'main@sha1:3f9c1e7a5b20d48c6e1f0a9b8c7d6e5f4a3b2c1d' : null,
    },
    retry: null,
    stale_since: null,
    revision: revision++,
    ...change,
  }
}

export const fleet = (): Cluster[] => [
  cluster(),
  cluster({
    id: 'c-2',
    name: 'prod-payments-euw1',
    is_host: false,
    region: 'eu-west-1',
    phase: 'Failed',
    phases: stepsTo('Provisioning', true, createWay),
    mode: 'provision_eks',
    nodes: null,
    kubernetes_version: null,
    message:
      'AWS refused ec2:CreateVpc in eu-west-1: the account already has 5 VPCs, which is its limit. Raise the limit or pick another region.',
    retry: {
      attempt: 3,
      since: new Date(Date.now() - 12 * 60_000).toISOString(),
      next_attempt_at: new Date(Date.now() + 95_000).toISOString(),
    },
  }),
  cluster({
    id: 'c-3',
    name: 'staging-ledger',
    is_host: false,
    provider: 'gcp',
    region: 'europe-north1',
    phase: 'GeneratingGitOpsTree',
    phases: stepsTo('GeneratingGitOpsTree', false, connectWay),
    message: 'Committing 142 files to fluxcd/clusters/staging-ledger.',
    nodes: { total: 12, ready: 11 },
  }),
  cluster({
    id: 'c-4',
    name: 'oslo-edge-lab',
    is_host: false,
    provider: 'unknown',
    region: 'unknown',
    kubernetes_version: '1.32.2',
    message: 'Flux healthy and reconciling fluxcd/clusters/oslo-edge-lab. Administrator admin@acme.com created.',
    nodes: { total: 1, ready: 1 },
    phase_started_at: new Date(Date.now() - 5 * 3600_000).toISOString(),
  }),
  cluster({
    id: 'c-5',
    name: 'prod-search-with-a-very-long-name-that-does-not-fit-on-one-line-usc1',
    is_host: false,
    provider: 'gcp',
    region: 'us-central1',
    phase: 'InstallingKubeOpera',
    phases: stepsTo('InstallingKubeOpera', false, connectWay),
    message: 'Flux is reconciling the tree: 18 of 27 Kustomizations are ready. Waiting for cert-manager.',
    nodes: { total: 64, ready: 64 },
  }),
  cluster({
    id: 'c-6',
    name: 'dev-ml-train',
    is_host: false,
    phase: 'Pending',
    phases: stepsTo('Pending', false, connectWay).map((step) => ({ ...step, state: 'waiting' as const })),
    kubernetes_version: null,
    nodes: null,
    message: 'Waiting for the controller to pick this cluster up.',
  }),
]

export function problem(status: number, code: string, detail: string, hint?: string): ProblemBody {
  return {
    type: `urn:kubeopera:problem:${code}`,
    title: 'Request refused',
    status,
    code,
    detail,
    hint,
    request_id: 'req-8f3a',
  }
}

/** A context that can be used, of a cluster on GCP. */
export function context(change: Partial<ContextVerdict>): ContextVerdict {
  return {
    name: 'prod',
    is_current: false,
    verdict: 'usable',
    refusal: null,
    warnings: [],
    server: 'https://34.88.1.20',
    expires_at: null,
    cluster: {
      kubernetes_version: '1.34.4',
      nodes: { total: 3, ready: 3 },
      provider: 'gcp',
      region: 'europe-north1',
      known_as: null,
    },
    ...change,
  }
}

/** One context of each kind. */
export const contexts = (): ContextVerdict[] => [
  context({
    name: 'minikube',
    verdict: 'refused',
    server: null,
    cluster: null,
    refusal: {
      code: 'kubeconfig_exec_forbidden',
      field: 'kubeconfig.users[0].user.exec',
      message:
        "`users[0].user.exec` runs a program on the machine where KubeOpera runs, so it is refused. Supply a kubeconfig with a ServiceAccount's token: `kubectl -n kube-system create serviceaccount kubeopera`, `kubectl create clusterrolebinding kubeopera --clusterrole=cluster-admin --serviceaccount=kube-system:kubeopera`, `kubectl -n kube-system create token kubeopera --duration=8760h`.",
      commands: [],
    },
  }),
  context({
    name: 'prod',
    is_current: true,
    expires_at: new Date(Date.now() + 12 * 24 * 3600_000).toISOString(),
    warnings: [
      {
        code: 'credential_ends_soon',
        field: null,
        message: 'The credential of this kubeconfig ends in 12 days, and KubeOpera loses the cluster with it.',
        commands: [],
      },
    ],
  }),
  context({ name: 'ninth', verdict: 'not_checked', cluster: null }),
]

export const disconnection: Disconnection = {
  goes: [
    { place: 'kubeopera', kind: 'HostCluster', namespace: 'kubeopera-system', name: 'c-3' },
    { place: 'kubeopera', kind: 'Secret', namespace: 'kubeopera-system', name: 'hostcluster-c-3-kubeconfig' },
    { place: 'cluster', kind: 'Kustomization', namespace: 'flux-system', name: 'kubeopera-*' },
    { place: 'cluster', kind: 'GitRepository', namespace: 'flux-system', name: 'kubeopera' },
  ],
  stays: ['Everything that runs on the cluster, and its data.', 'Flux itself.'],
}

export const receipt: PartingReceipt = {
  id: 'c-3',
  name: 'staging-ledger',
  ended_at: new Date().toISOString(),
  is_destroyed: false,
  gone: disconnection.goes,
  left: [],
  left_because: null,
  commands: [],
  stays: disconnection.stays,
}

export function person(change: Partial<Person>): Person {
  return {
    id: 'u-2',
    username: 'olga',
    role: 'operator',
    way: 'password',
    created_at: new Date(Date.now() - 9 * 24 * 3600_000).toISOString(),
    disabled_at: null,
    ...change,
  }
}

export function credential(change: Partial<Credential> = {}): Credential {
  return {
    id: 'k-1',
    label: 'acme-platform',
    type: 'aws_access_key',
    last_four: '7Q2F',
    created_at: new Date(Date.now() - 86_400_000).toISOString(),
    changed_at: new Date(Date.now() - 86_400_000).toISOString(),
    clusters: ['prod-payments-euw1'],
    ...change,
  }
}

export function auditEntry(change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    position: 1,
    happened_at: new Date(Date.now() - 90_000).toISOString(),
    actor: { kind: 'person', id: session.user.id, name: 'admin', role: 'platform_administrator' },
    address: '10.0.0.7',
    action: 'connect_cluster',
    object: '7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11',
    object_name: null,
    outcome: 'done',
    changed: [],
    request_id: '1f0c1d0e-8b7d-4a6e-9a53-0c2f7f5a9d11',
    hash: 'a'.repeat(64),
    ...change,
  }
}

const versions = (...all: string[]): Catalogue['providers'][number]['topologies'][number]['kubernetes_versions'] =>
  all.map((version, index) => ({
    version,
    support: index === all.length - 1 ? 'extended' : 'standard',
    supported_until: index === 0 ? null : '2027-02-28',
  }))

export const catalogue: Catalogue = {
  as_of: '2026-11',
  providers: [
    {
      id: 'aws',
      title: 'AWS',
      topologies: [
        {
          id: 'vanilla_kubeadm',
          title: 'Vanilla Kubernetes',
          builds: 'A VPC, control-plane instances with stacked etcd, and a worker Auto Scaling Group.',
          control_plane_counts: [1, 3, 5, 7],
          max_nodes: 500,
          kubernetes_versions: versions('1.36.4', '1.35.7', '1.34.11'),
        },
        {
          id: 'managed_eks',
          title: 'Managed (EKS)',
          builds: 'A VPC, an EKS control plane operated by AWS, and a managed node group.',
          control_plane_counts: [],
          max_nodes: 500,
          kubernetes_versions: versions('1.36', '1.35', '1.33'),
        },
      ],
      regions: [
        { id: 'eu-north-1', name: 'Stockholm', opt_in: false },
        { id: 'af-south-1', name: 'Cape Town', opt_in: true },
      ],
    },
    {
      id: 'gcp',
      title: 'GCP',
      topologies: [
        {
          id: 'managed_gke',
          title: 'Managed (GKE)',
          builds: 'A VPC network, a GKE control plane operated by Google, and a node pool.',
          control_plane_counts: [],
          max_nodes: 500,
          kubernetes_versions: versions('1.36', '1.35', '1.34'),
        },
      ],
      regions: [{ id: 'europe-north1', name: 'Hamina', opt_in: false }],
    },
  ],
}

const instanceType = (name: string, cpus: number, gibibytes: number): InstanceType => ({
  name,
  family: name.split('.')[0] ?? name,
  cpus,
  memory_mib: gibibytes * 1_024,
  architecture: name.startsWith('m7g') ? 'arm64' : 'amd64',
  gpus: 0,
  gpu: null,
})

export const instanceTypes: InstanceType[] = [
  instanceType('t3.small', 2, 2),
  instanceType('t3.medium', 2, 4),
  instanceType('m7g.large', 2, 8),
]
