import type { ClusterMonitor, ClusterNode, MultiCluster, MultiClusterRow } from '@/api/model'

export const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

export function row(change: Partial<MultiClusterRow> = {}): MultiClusterRow {
  return {
    id: '7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11',
    name: 'kubeopera-host',
    provider: 'aws',
    region: 'eu-north-1',
    is_host: true,
    kubernetes_version: '1.34.4',
    phase: 'Ready',
    standing: 'healthy',
    health: { score: 97.5, colour: 'green' },
    nodes: { total: 3, ready: 3 },
    cpu: { percent: 42, used: 5_040, allocatable: 12_000 },
    memory: { percent: 61, used: 61, allocatable: 100 },
    not_measured: null,
    cost: { monthly: 613, priced: 4, not_priced: 0 },
    stale: null,
    ...change,
  }
}

/** One cluster of each standing. */
export const rows = (): MultiClusterRow[] => [
  row(),
  row({
    id: 'c-2',
    name: 'prod-payments-euw1',
    is_host: false,
    region: 'eu-west-1',
    standing: 'degraded',
    health: { score: 55, colour: 'red' },
    nodes: { total: 40, ready: 38 },
    cpu: { percent: 86.4, used: 138_000, allocatable: 160_000 },
    memory: { percent: 96, used: 96, allocatable: 100 },
    cost: { monthly: 6_204, priced: 40, not_priced: 2 },
  }),
  row({
    id: 'c-3',
    name: 'staging-ledger',
    is_host: false,
    provider: 'gcp',
    region: 'europe-north1',
    standing: 'unreachable',
    health: { score: 82, colour: 'green' },
    cpu: { percent: 20, used: 2_400, allocatable: 12_000 },
    stale: { as_of: minutesAgo(12), reason: 'The API server at https://34.88.1.20 did not answer within 10 s.' },
  }),
  row({
    id: 'c-4',
    name: 'oslo-edge-lab',
    is_host: false,
    provider: 'unknown',
    region: 'unknown',
    health: { score: 90, colour: 'green' },
    cpu: { percent: null, used: null, allocatable: 4_000 },
    memory: { percent: null, used: null, allocatable: 100 },
    not_measured: 'The metrics API is not installed on this cluster.',
    cost: { monthly: null, priced: 0, not_priced: 1 },
  }),
  row({
    id: 'c-5',
    name: 'dev-ml-train',
    is_host: false,
    phase: 'Pending',
    standing: 'setting_up',
    health: null,
    nodes: null,
    cpu: null,
    memory: null,
    cost: null,
  }),
]

export const summary = (change: Partial<MultiCluster['summary']> = {}): MultiCluster['summary'] => ({
  total: 5,
  healthy: 2,
  degraded: 1,
  unreachable: 1,
  setting_up: 1,
  nodes: { total: 46, ready: 44 },
  nodes_of: 3,
  cpu_percent: 83.2,
  cpu_of: 2,
  memory_percent: 71,
  monthly_cost: 7_430,
  priced: 2,
  not_priced: 3,
  ...change,
})

export const multi = (change: Partial<MultiCluster> = {}): MultiCluster => ({
  summary: summary(),
  clusters: rows(),
  ...change,
})

const GIB = 1_024 ** 3

export function node(change: Partial<ClusterNode> = {}): ClusterNode {
  return {
    name: 'ip-10-0-1-7',
    ready: true,
    memory_pressure: false,
    disk_pressure: false,
    pid_pressure: false,
    network_unavailable: false,
    schedulable: true,
    capacity: { cpu_millicores: 2_000, memory_bytes: 8 * GIB },
    allocatable: { cpu_millicores: 1_930, memory_bytes: 7 * GIB },
    requested: { cpu_millicores: 1_250, memory_bytes: 3 * GIB },
    used: { cpu_millicores: 800, memory_bytes: 2.5 * GIB },
    version: 'v1.34.4',
    operating_system: 'linux',
    instance_type: 'm6i.large',
    region: 'eu-north-1',
    zone: 'eu-north-1a',
    capacity_type: 'on_demand',
    price: { monthly: 74.46, basis: 'list price, on demand' },
    created_at: minutesAgo(60 * 24 * 9),
    ...change,
  }
}

export function monitored(change: Partial<ClusterMonitor> = {}): ClusterMonitor {
  return {
    cluster: 'c-4',
    revision: 7,
    freshness: { as_of: minutesAgo(0), unreachable: null },
    health: {
      score: 72.5,
      colour: 'amber',
      deducted: 27.5,
      deductions: [
        {
          penalty: 'node_not_ready',
          object: { kind: 'Node', namespace: null, name: 'ip-10-0-1-9' },
          count: 1,
          points: 10,
          message: 'The node is not ready: its kubelet stopped posting its status.',
        },
        {
          penalty: 'pod_crash_looping',
          object: { kind: 'Pod', namespace: 'shop', name: 'cart-7d9f' },
          count: 1,
          points: 2.5,
          message: 'A container of the pod keeps crashing.',
        },
        { penalty: 'pod_failed', object: null, count: 15, points: 15, message: '15 more pods have failed.' },
      ],
      not_assessed: [{ what: 'etcd', reason: 'The cloud operates etcd and does not show it.' }],
    },
    nodes: [
      node(),
      node({
        name: 'ip-10-0-1-9',
        ready: false,
        memory_pressure: true,
        schedulable: false,
        used: null,
        requested: null,
        price: null,
        instance_type: null,
        capacity_type: 'spot',
      }),
    ],
    usage: {
      cpu: { used: 800, measured_allocatable: 1_930, requested: 2_600, allocatable: 3_860 },
      memory: { used: 2.5 * GIB, measured_allocatable: 7 * GIB, requested: null, allocatable: 14 * GIB },
      measured_nodes: 1,
      nodes: 2,
      not_measured: 'The metrics API does not tell of 1 node.',
    },
    cost: {
      total: { monthly: 147.46, priced: 2, not_priced: 1 },
      items: [
        {
          kind: 'nodes',
          what: 'm6i.large in eu-north-1',
          count: 1,
          each: 74.46,
          monthly: 74.46,
          basis: 'list price, on demand',
        },
        {
          kind: 'control_plane',
          what: 'Amazon EKS control plane',
          count: 1,
          each: 73,
          monthly: 73,
          basis: 'list price',
        },
      ],
      not_priced: [
        {
          kind: 'nodes',
          what: 'a node without an instance type',
          count: 1,
          reason: 'No label says of which instance type it is.',
        },
      ],
      source: 'Prices are list prices of November 2026.',
    },
    events: {
      items: [
        {
          kind: 'warning',
          reason: 'BackOff',
          object: { kind: 'Pod', namespace: 'shop', name: 'cart-7d9f' },
          message: 'Back-off restarting failed container cart',
          count: 14,
          last_seen: minutesAgo(2),
          first_seen: minutesAgo(40),
        },
        {
          kind: 'normal',
          reason: 'Pulled',
          object: { kind: 'Pod', namespace: 'shop', name: 'cart-7d9f' },
          message: 'Container image already present on machine',
          count: 1,
          last_seen: null,
          first_seen: null,
        },
      ],
      more: 480,
      not_readable: null,
    },
    ...change,
  }
}
