import type { UseQueryResult } from '@tanstack/react-query'
import { Problem } from '@/api/problem'
import { duration, useNow } from '@/format/time'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { useStream } from './live'

/** A connection that is back within this time is not worth a word. */
const WORTH_SAYING_MS = 3_000

/** Says how old the data on the page is while it is not kept up to date. */
export function Staleness({ query }: { query: UseQueryResult }) {
  const { state, heardAt, retryNow } = useStream()
  const now = useNow()
  const current = Math.max(heardAt ?? 0, query.dataUpdatedAt)
  const age = now - current
  const lost = (state === 'reconnecting' || state === 'offline') && age > WORTH_SAYING_MS
  if (!lost && !query.error) return null
  return (
    <Notice
      tone="warn"
      role="status"
      className="mt-5"
      title={state === 'offline' ? 'You are offline' : lost ? 'Reconnecting' : 'The list could not be renewed'}
      action={
        <Button
          busy={query.isFetching}
          onClick={() => {
            retryNow()
            void query.refetch()
          }}
        >
          Try now
        </Button>
      }
    >
      Showing data from <span aria-hidden>{duration(age)} ago</span>
      <span className="sr-only">before the connection was lost</span>.
      {query.error && ` ${Problem.of(query.error).message}`}
    </Notice>
  )
}
