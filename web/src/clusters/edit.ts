import { api, dataOf, ifStill, type Seen, seenOf } from '@/api/client'
import type { Cluster } from '@/api/model'
import type { Supplied } from '@/kubeconfig/kubeconfig'

export function see(id: string, signal: AbortSignal) {
  return seenOf(api.GET('/api/v1/clusters/{id}', { signal, params: { path: { id } }, cache: 'no-store' }))
}

export function changeCluster(seen: Seen<Cluster>, change: { name?: string; labels: Record<string, string> }) {
  const params = { path: { id: seen.id }, ...ifStill(seen) }
  return dataOf(api.PATCH('/api/v1/clusters/{id}', { params, body: change }))
}

export function replaceKubeconfig(id: string, { kubeconfig, encoding }: Supplied, context: string) {
  const body = { kubeconfig, encoding, context }
  return dataOf(api.PUT('/api/v1/clusters/{id}/kubeconfig', { params: { path: { id } }, body }))
}
