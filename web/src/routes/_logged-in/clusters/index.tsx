import { createFileRoute } from '@tanstack/react-router'
import { ClustersPage } from '@/clusters/clusters-page'
import { viewOf } from '@/clusters/fleet-view'

export const Route = createFileRoute('/_logged-in/clusters/')({
  validateSearch: viewOf,
  head: () => ({ meta: [{ title: 'Clusters · KubeOpera' }] }),
  component: () => <ClustersPage view={Route.useSearch()} />,
})
