import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, dataOf } from '@/api/client'
import type { Catalogue, Cluster, ClusterToEstimate } from '@/api/model'
import { emptyEnvironment } from '../environment-fields'

/** What can be created where. It changes with KubeOpera's version only. */
export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  staleTime: 3_600_000,
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/catalogue', { signal })),
})

export const instanceTypesQuery = (provider: string, region: string) =>
  queryOptions({
    queryKey: ['catalogue', provider, region],
    staleTime: 3_600_000,
    enabled: provider !== '' && region !== '',
    queryFn: async ({ signal }) => {
      const params = { path: { provider, region } }
      const call = api.GET('/api/v1/catalogue/{provider}/{region}/instance-types', { signal, params })
      return (await dataOf(call)).items
    },
  })

/** The fields of Create New, as they are typed. */
export const emptyOrder = {
  provider: '',
  topology: '',
  credential_id: '',
  name: '',
  region: '',
  kubernetes_version: '',
  node_count: '2',
  instance_type: '',
  control_plane_count: '1',
  ...emptyEnvironment,
}

export type Order = typeof emptyOrder

export const VANILLA = 'vanilla_kubeadm'

/** Where it is and what it is made of. */
export function sizeOf(order: Order): ClusterToEstimate {
  const { provider, topology, region, kubernetes_version, node_count, instance_type, control_plane_count } = order
  return {
    provider,
    topology,
    region,
    kubernetes_version,
    node_count: Number(node_count),
    instance_type,
    control_plane_count: topology === VANILLA ? Number(control_plane_count) : null,
  }
}

/** What it would cost, once everything that a price depends on is chosen. */
export function estimateQuery(size: ClusterToEstimate) {
  const { topology, region, kubernetes_version, instance_type, node_count } = size
  const isWhole = Number.isInteger(node_count) && node_count > 0
  return queryOptions({
    queryKey: ['estimate', size],
    staleTime: 3_600_000,
    enabled: Boolean(topology && region && kubernetes_version && instance_type && isWhole),
    queryFn: ({ signal }) => dataOf(api.POST('/api/v1/clusters/estimate', { signal, body: size })),
  })
}

/** What is asked of the API. */
export function requestOf(order: Order) {
  const { name, credential_id, domain, admin_email, admin_username, git_path } = order
  return { ...sizeOf(order), name, credential_id, domain, admin_email, admin_username, git_path }
}

/** Sent again with the same key, it is done once. */
export async function createCluster(order: Order, key: string): Promise<{ cluster: Cluster; isNew: boolean }> {
  const { data, response } = await answerOf(
    api.POST('/api/v1/clusters/create', {
      params: { header: { 'Idempotency-Key': key } },
      body: requestOf(order),
    }),
  )
  return { cluster: data, isNew: response.status === 201 }
}

/** What the catalogue has of an order. */
export function chosenOf(catalogue: Catalogue, { provider, topology, region, kubernetes_version }: Order) {
  const cloud = catalogue.providers.find(({ id }) => id === provider)
  const built = cloud?.topologies.find(({ id }) => id === topology)
  return {
    cloud,
    topology: built,
    region: cloud?.regions.find(({ id }) => id === region),
    version: built?.kubernetes_versions.find(({ version }) => version === kubernetes_version),
  }
}
