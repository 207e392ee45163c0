import { useRouteContext } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { EventStream, type StreamStatus } from '@/api/event-stream'
import { fleetQuery } from '@/clusters/clusters'
import { applyEvent } from './apply-event'

interface LiveValue extends StreamStatus {
  retryNow: () => void
}

const Stream = createContext<LiveValue>({ state: 'connecting', heardAt: null, retryNow: () => {} })

/** The state of the one event stream that all pages share. */
export const useStream = () => useContext(Stream)

/** Keeps the pages inside it up to date. */
export function Live({ children }: { children: ReactNode }) {
  const { queryClient, sessionEnded } = useRouteContext({ from: '__root__' })
  const [stream] = useState(
    () =>
      new EventStream('/api/v1/events', {
        onEvent: (event) => applyEvent(queryClient, event),
        onFreshStart: () => void queryClient.invalidateQueries({ queryKey: fleetQuery.queryKey }),
        onLoggedOut: sessionEnded,
      }),
  )
  useEffect(() => stream.open(), [stream])
  const status = useSyncExternalStore(stream.subscribe, stream.status)
  const value = useMemo(() => ({ ...status, retryNow: stream.retryNow }), [status, stream])
  return <Stream value={value}>{children}</Stream>
}
