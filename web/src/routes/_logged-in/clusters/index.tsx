import { createFileRoute } from '@tanstack/react-router'
import { ClustersPage } from '@/clusters/clusters-page'

export const Route = createFileRoute('/_logged-in/clusters/')({
  head: () => ({ meta: [{ title: 'Clusters · KubeOpera' }] }),
  component: ClustersPage,
})
