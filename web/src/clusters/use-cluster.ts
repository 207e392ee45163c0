import { useQuery } from '@tanstack/react-query'
import { useStream } from '@/live/live'
import { clusterQuery } from './clusters'
import { POLL_MS } from './use-fleet'

/** One cluster, kept up to date by the event stream and, without it, by asking now and then. */
export function useCluster(id: string) {
  const { state } = useStream()
  return useQuery({ ...clusterQuery(id), refetchInterval: state === 'reconnecting' ? POLL_MS : false })
}
