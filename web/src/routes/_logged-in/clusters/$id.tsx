import { createFileRoute } from '@tanstack/react-router'
import { ClusterPage } from '@/cluster/cluster-page'
import { clusterQuery, fleetQuery } from '@/clusters/clusters'

export const Route = createFileRoute('/_logged-in/clusters/$id')({
  loader: async ({ context: { queryClient }, params: { id } }) => {
    // What the list knows of it is shown at once.
    const listed = queryClient.getQueryData(fleetQuery.queryKey)?.items.find((cluster) => cluster.id === id)
    if (listed) queryClient.setQueryData(clusterQuery(id).queryKey, (known) => known ?? listed)
    const cluster = await queryClient.ensureQueryData(clusterQuery(id))
    return { name: cluster?.name ?? 'Not found' }
  },
  head: ({ loaderData }) => ({ meta: [{ title: `${loaderData?.name ?? 'Cluster'} · KubeOpera` }] }),
  component: () => <ClusterPage id={Route.useParams().id} />,
})
