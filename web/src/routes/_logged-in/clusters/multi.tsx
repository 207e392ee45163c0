import { createFileRoute } from '@tanstack/react-router'
import { multiQuery } from '@/monitor/monitor'
import { MultiPage } from '@/multi/multi-page'
import { multiViewOf } from '@/multi/multi-view'

export const Route = createFileRoute('/_logged-in/clusters/multi')({
  validateSearch: multiViewOf,
  // Asked for while the code of the page comes; the page tells if it cannot be had.
  loader: ({ context: { queryClient } }) => void queryClient.ensureQueryData(multiQuery).catch(() => {}),
  head: () => ({ meta: [{ title: 'Multi-Cluster · KubeOpera' }] }),
  component: () => <MultiPage view={Route.useSearch()} />,
})
