import type { QueryClient } from '@tanstack/react-query'
import type { EventSourceMessage } from 'eventsource-parser'
import type { Cluster, MultiCluster } from '@/api/model'
import { fleetQuery, forget, remember } from '@/clusters/clusters'
import { forgetMonitored, learn, readChangedAgain, readMonitorAgain } from '@/monitor/monitor'
import { announce } from '@/ui/announcer'

/** Brings one event of the server's stream into what the page shows. Unknown events belong to a newer server. */
export function applyEvent(queryClient: QueryClient, event: EventSourceMessage) {
  switch (event.event) {
    case 'cluster': {
      const cluster = JSON.parse(event.data) as Cluster
      const before = queryClient.getQueryData(fleetQuery.queryKey)?.items.find((item) => item.id === cluster.id)
      remember(queryClient, cluster)
      if (before && before.revision < cluster.revision && before.phase !== cluster.phase)
        announce(`${cluster.name} is now ${cluster.phase}`)
      return
    }
    case 'cluster.removed': {
      const { id } = JSON.parse(event.data) as Pick<Cluster, 'id'>
      forget(queryClient, id)
      forgetMonitored(queryClient, id)
      return
    }
    case 'monitor':
      learn(queryClient, JSON.parse(event.data) as MultiCluster)
      return
    case 'monitor.changed':
      void readChangedAgain(queryClient, (JSON.parse(event.data) as { ids: string[] }).ids)
      return
    case 'hello':
      readMonitorAgain(queryClient)
      return
    case 'reset':
      void queryClient.invalidateQueries({ queryKey: fleetQuery.queryKey })
  }
}
