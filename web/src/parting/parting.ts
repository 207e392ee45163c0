import { queryOptions } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api, dataOf } from '@/api/client'
import type { Cluster } from '@/api/model'

/** A way to part from a cluster, and the cluster as it was when somebody asked for it. */
export interface Parting {
  way: 'disconnect' | 'delete'
  cluster: Cluster
}

let asked: Parting | null = null
const watchers = new Set<() => void>()

/** Opens the dialog. It belongs to no page, because the card or page it was asked from goes with the cluster. */
export function askToPart(parting: Parting | null) {
  asked = parting
  for (const watcher of watchers) watcher()
}

export function usePartingAskedFor(): Parting | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    () => asked,
  )
}

/** What disconnecting would take away and what it would leave. */
export const disconnectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['disconnection', id],
    staleTime: 0,
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/clusters/{id}/disconnect', { signal, params: { path: { id } } })),
  })

/** What went and what stayed of a cluster that was let go of. */
export const receiptQuery = (id: string) =>
  queryOptions({
    queryKey: ['receipt', id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/clusters/{id}/receipt', { signal, params: { path: { id } } })),
  })

export function disconnect(id: string): Promise<Cluster> {
  return dataOf(api.POST('/api/v1/clusters/{id}/disconnect', { params: { path: { id } } }))
}

/** `name` is what somebody typed to confirm it; the server compares it, too. */
export function deleteCluster(id: string, name: string): Promise<Cluster> {
  return dataOf(api.DELETE('/api/v1/clusters/{id}', { params: { path: { id } }, body: { name } }))
}
