import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { Cluster } from '@/api/model'
import { showFailure, showReceipt } from '@/ui/toasts'
import { remember } from './clusters'

/** Whether another attempt would come at once: something went wrong, and KubeOpera waits or has given up. */
export const canRetry = ({ phase, retry }: Cluster) => phase === 'Failed' || retry !== null

/** Asks for another attempt at once. */
export function useRetry({ id, name }: Pick<Cluster, 'id' | 'name'>) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.POST('/api/v1/clusters/{id}/retry', { params: { path: { id } } })),
    onSuccess: (cluster) => {
      remember(queryClient, cluster)
      showReceipt({ tone: 'info', title: `Trying ${name} again`, description: 'Its message tells how it goes.' })
    },
    onError: (error) => showFailure(`${name} could not be tried again`, error),
  })
}
