import { answerOf, api, dataOf } from '@/api/client'
import type { Cluster } from '@/api/model'
import type { Supplied } from '@/kubeconfig/kubeconfig'

/** A cluster with the mark that a change of it has to carry, so that nobody's change is lost. */
export interface Seen {
  cluster: Cluster
  etag: string
}

export async function see(id: string, signal: AbortSignal): Promise<Seen> {
  const call = api.GET('/api/v1/clusters/{id}', { signal, params: { path: { id } }, cache: 'no-store' })
  const { data, response } = await answerOf(call)
  return { cluster: data, etag: response.headers.get('etag') ?? '' }
}

export function changeCluster(
  { cluster: { id }, etag }: Seen,
  change: { name?: string; labels: Record<string, string> },
) {
  const params = { path: { id }, header: { 'If-Match': etag } }
  return dataOf(api.PATCH('/api/v1/clusters/{id}', { params, body: change }))
}

export function replaceKubeconfig(id: string, { kubeconfig, encoding }: Supplied, context: string) {
  const body = { kubeconfig, encoding, context }
  return dataOf(api.PUT('/api/v1/clusters/{id}/kubeconfig', { params: { path: { id } }, body }))
}
