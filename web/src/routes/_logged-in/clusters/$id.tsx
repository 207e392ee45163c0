import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Cluster } from '@/api/model'
import { ClusterPage } from '@/cluster/cluster-page'
import { clusterQuery, fleetQuery } from '@/clusters/clusters'

export const Route = createFileRoute('/_logged-in/clusters/$id')({
  loader: async ({ context: { queryClient }, params: { id } }) => {
    // What the list knows of it is shown at once.
    const listed = queryClient.getQueryData(fleetQuery.queryKey)?.items.find((cluster) => cluster.id === id)
    if (listed) queryClient.setQueryData(clusterQuery(id).queryKey, (known) => known ?? listed)
    // Of what went wrong, the page tells.
    const cluster = await queryClient.ensureQueryData(clusterQuery(id)).catch(() => undefined)
    return { name: cluster === undefined ? 'Cluster' : nameOf(cluster) }
  },
  head: ({ loaderData }) => ({ meta: [{ title: `${loaderData?.name ?? 'Cluster'} · KubeOpera` }] }),
  component: Page,
})

function Page() {
  const { id } = Route.useParams()
  const { name } = Route.useLoaderData()
  const router = useRouter()
  const { data: present } = useQuery({ ...clusterQuery(id), select: nameOf })
  // The tab and the trail are named by the loader.
  useEffect(() => {
    if (present !== undefined && present !== name)
      void router.invalidate({ filter: ({ routeId }) => routeId === Route.id })
  }, [present, name, router])
  return <ClusterPage id={id} />
}

const nameOf = (cluster: Cluster | null) => (cluster === null ? 'Not found' : cluster.name)
