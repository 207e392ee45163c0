import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { showReceipt } from '@/ui/toasts'
import { registerThisCluster, remember } from './clusters'

/** Register This Cluster: afterwards the list is open with the cluster's card in focus, and a receipt says what happened. */
export function useRegister() {
  const queryClient = useQueryClient()
  const showCard = useShowCard()
  return useMutation({
    mutationFn: registerThisCluster,
    onSuccess: async ({ cluster, isNew }) => {
      remember(queryClient, cluster)
      await showCard(cluster.id)
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
              action: { label: 'Show its card', run: () => void showCard(cluster.id) },
            },
      )
    },
  })
}

/** Goes to the list, with the focus on the card of one cluster. */
export function useShowCard() {
  const navigate = useNavigate()
  return async (id: string) => {
    await navigate({ to: '/clusters', hash: id })
    document.getElementById(id)?.focus()
  }
}
