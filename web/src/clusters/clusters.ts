import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { answerOf, api, dataOf, dataOrNull } from '@/api/client'
import type { Cluster, ClusterList } from '@/api/model'

/** Every cluster that KubeOpera knows, and whether it can see their resources at the moment. */
export interface Fleet {
  items: Cluster[]
  kubernetes: ClusterList['kubernetes']
}

export const fleetQuery = queryOptions({
  queryKey: ['clusters'],
  queryFn: async ({ signal }): Promise<Fleet> => {
    const items: Cluster[] = []
    let cursor: string | undefined
    for (;;) {
      const page = await dataOf(api.GET('/api/v1/clusters', { signal, params: { query: { limit: 500, cursor } } }))
      items.push(...page.items)
      if (!page.next_cursor) return { items, kubernetes: page.kubernetes }
      cursor = page.next_cursor
    }
  },
})

/** How many clusters have failed; 0 while the list is not known. */
export function useFailedClusters(): number {
  const { data } = useQuery({
    ...fleetQuery,
    select: (fleet) => fleet.items.filter((cluster) => cluster.phase === 'Failed').length,
  })
  return data ?? 0
}

/** What Register This Cluster came to. */
export interface Registration {
  cluster: Cluster
  /** False when this cluster had been registered before: the answer is the entry that exists. */
  isNew: boolean
}

export async function registerThisCluster(): Promise<Registration> {
  const { data, response } = await answerOf(api.POST('/api/v1/clusters/register'))
  return { cluster: data, isNew: response.status === 201 }
}

/** One cluster; null when KubeOpera has none with this id, or no longer. */
export const clusterQuery = (id: string) =>
  queryOptions({
    queryKey: ['clusters', id],
    queryFn: ({ signal }) => dataOrNull(api.GET('/api/v1/clusters/{id}', { signal, params: { path: { id } } })),
  })

const newer = (known: Cluster, cluster: Cluster) => (known.revision > cluster.revision ? known : cluster)

/** Brings a cluster into what the pages show, unless they already show something newer about it. */
export function remember(queryClient: QueryClient, cluster: Cluster) {
  queryClient.setQueryData(fleetQuery.queryKey, (fleet) => {
    if (!fleet) return fleet
    const isKnown = fleet.items.some((item) => item.id === cluster.id)
    const items = fleet.items.map((item) => (item.id === cluster.id ? newer(item, cluster) : item))
    return { ...fleet, items: isKnown ? items : [...items, cluster] }
  })
  queryClient.setQueryData(clusterQuery(cluster.id).queryKey, (known) => (known ? newer(known, cluster) : cluster))
}

export function forget(queryClient: QueryClient, id: string) {
  queryClient.setQueryData(
    fleetQuery.queryKey,
    (fleet) => fleet && { ...fleet, items: fleet.items.filter((item) => item.id !== id) },
  )
  queryClient.setQueryData(clusterQuery(id).queryKey, null)
}
