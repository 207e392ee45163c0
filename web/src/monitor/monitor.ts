import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { MultiCluster } from '@/api/model'
import { announce } from '@/ui/announcer'
import { showFailure } from '@/ui/toasts'

/** All clusters side by side, as k8s-monitor knows them. */
export const multiQuery = queryOptions({
  queryKey: ['monitor', 'all'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/clusters/multi', { signal })),
})

/** One cluster with everything k8s-monitor knows of it. */
export const monitorQuery = (id: string) =>
  queryOptions({
    queryKey: ['monitor', id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/clusters/{id}/monitor', { signal, params: { path: { id } } })),
  })

/** Kept up to date by the event stream alone. */
export const useMonitor = (id: string) => useQuery(monitorQuery(id))

/** Has every cluster asked anew; the answer comes within two seconds, and marks who did not answer by then. */
export function useRefresh() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.GET('/api/v1/clusters/multi', { params: { query: { refresh: true } } })),
    onSuccess: async (fresh) => {
      // A reading that began before is older than this one.
      await queryClient.cancelQueries({ queryKey: multiQuery.queryKey })
      queryClient.setQueryData(multiQuery.queryKey, fresh)
      void queryClient.invalidateQueries({
        queryKey: ['monitor'],
        predicate: ({ queryKey }) => queryKey[1] !== multiQuery.queryKey[1],
      })
      const silent = fresh.clusters.filter(({ stale }) => stale).length
      announce(
        silent === 0
          ? 'All clusters answered'
          : `${fresh.clusters.length - silent} of ${fresh.clusters.length} clusters answered`,
      )
    },
    onError: (error) => showFailure('The clusters could not be asked', error),
  })
}

/** The stream has no memory of what it told about monitoring, so each connection begins with reading it again. */
export function readMonitorAgain(queryClient: QueryClient) {
  void queryClient.invalidateQueries({ queryKey: ['monitor'] })
}

/** Brings the summary and the rows that are new or changed into what the pages show. */
export function learn(queryClient: QueryClient, news: MultiCluster) {
  const changed = new Map(news.clusters.map((row) => [row.id, row]))
  queryClient.setQueryData(multiQuery.queryKey, (known) => {
    if (!known) return known
    const seen = new Set(known.clusters.map(({ id }) => id))
    return {
      summary: news.summary,
      clusters: [
        ...known.clusters.map((row) => changed.get(row.id) ?? row),
        ...news.clusters.filter(({ id }) => !seen.has(id)),
      ],
    }
  })
}

const waiting = new Set<string>()

/**
 * Reads the clusters again of which a page is open. A reading that is under way is let finish first: of a large cluster
 * that changes all the time, none would ever end otherwise.
 */
export async function readChangedAgain(queryClient: QueryClient, ids: string[]) {
  await Promise.all(
    ids.map(async (id) => {
      const { queryKey } = monitorQuery(id)
      const query = queryClient.getQueryCache().find({ queryKey })
      if (!query || waiting.has(id)) return
      waiting.add(id)
      await query.promise?.catch(() => {})
      waiting.delete(id)
      await queryClient.invalidateQueries({ queryKey })
    }),
  )
}

/** The summary that no longer counts the cluster is told by the stream. */
export function forgetMonitored(queryClient: QueryClient, id: string) {
  queryClient.setQueryData(
    multiQuery.queryKey,
    (known) => known && { ...known, clusters: known.clusters.filter((row) => row.id !== id) },
  )
}
