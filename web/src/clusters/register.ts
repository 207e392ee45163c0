import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { showReceipt } from '@/ui/toasts'
import { registerThisCluster, remember } from './clusters'

/** Register This Cluster: afterwards the list is open with the cluster's card in focus, and a receipt says what happened. */
export function useRegister() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: registerThisCluster,
    onSuccess: async ({ cluster, isNew }) => {
      remember(queryClient, cluster)
      const showCard = async () => {
        await navigate({ to: '/clusters', hash: cluster.id })
        document.getElementById(cluster.id)?.focus()
      }
      await showCard()
      showReceipt(
        isNew
          ? {
              tone: 'success',
              title: `Registered as ${cluster.name}`,
              description: 'KubeOpera is setting it up. Its card shows each phase as it happens.',
            }
          : {
              tone: 'info',
              title: `This cluster is already registered as ${cluster.name}`,
              description: 'Registering is safe to repeat: the entry that exists was kept.',
              action: { label: 'Show its card', run: () => void showCard() },
            },
      )
    },
  })
}
