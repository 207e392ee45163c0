import { useQuery } from '@tanstack/react-query'
import { useStream } from '@/live/live'
import { fleetQuery } from './clusters'

/** While the stream is down, the list is asked for at this pace instead. */
export const POLL_MS = 30_000

/** The clusters, kept up to date by the event stream and, without it, by asking now and then. */
export function useFleet() {
  const { state } = useStream()
  return useQuery({ ...fleetQuery, refetchInterval: state === 'reconnecting' ? POLL_MS : false })
}
