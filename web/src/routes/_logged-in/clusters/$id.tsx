import { createFileRoute } from '@tanstack/react-router'
import { ClusterPage } from '@/cluster/cluster-page'
import { clusterQuery, fleetQuery } from '@/clusters/clusters'

export const Route = createFileRoute('/_logged-in/clusters/$id')({
  loader: async ({ context: { queryClient }, params: { id } }) => {
    // What the list knows of it is shown at once.
    const listed = queryClient.getQueryData(fleetQuery.queryKey)?.items.find((cluster) => cluster.id === id)
    if (listed) queryClient.setQueryData(clusterQuery(id).queryKey, (known) => known ?? listed)
    // Of what went wrong, the page tells.
    const cluster = await queryClient.ensureQueryData(clusterQuery(id)).catch(() => undefined)
    return { name: cluster === null ? 'Not found' : (cluster?.name ?? 'Cluster') }
  },
  head: ({ loaderData }) => ({ meta: [{ title: `${loaderData?.name ?? 'Cluster'} · KubeOpera` }] }),
  component: () => <ClusterPage id={Route.useParams().id} />,
})
