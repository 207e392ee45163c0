import { answerOf, api } from '@/api/client'
import type { Cluster } from '@/api/model'
import type { Supplied } from '@/kubeconfig/kubeconfig'
import { emptyEnvironment } from '../environment-fields'

/** The fields of Connect Existing beside the kubeconfig and its context. */
export const emptyDetails = { name: '', provider: '', region: '', ...emptyEnvironment }

export type Details = typeof emptyDetails

/** Sent again with the same key, it is done once. */
export async function connectCluster(
  { kubeconfig, encoding }: Supplied,
  context: string,
  details: Details,
  key: string,
): Promise<{ cluster: Cluster; isNew: boolean }> {
  const { data, response } = await answerOf(
    api.POST('/api/v1/clusters/connect', {
      params: { header: { 'Idempotency-Key': key } },
      body: { ...details, kubeconfig, encoding, context },
    }),
  )
  return { cluster: data, isNew: response.status === 201 }
}
