import { createFileRoute } from '@tanstack/react-router'
import { MultiPage } from '@/multi/multi-page'
import { multiViewOf } from '@/multi/multi-view'

export const Route = createFileRoute('/_logged-in/clusters/multi')({
  validateSearch: multiViewOf,
  head: () => ({ meta: [{ title: 'Multi-Cluster · KubeOpera' }] }),
  component: () => <MultiPage view={Route.useSearch()} />,
})
