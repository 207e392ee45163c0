import type { UseQueryResult } from '@tanstack/react-query'
import { LockKeyhole } from 'lucide-react'
import type { ReactNode } from 'react'
import { Problem } from '@/api/problem'
import { Ago } from './ago'
import { Button } from './button'
import { Notice } from './notice'
import { Skeleton } from './skeleton'

interface LoadedProps<T> {
  query: UseQueryResult<T>
  /** What it is, for people who listen: "tokens". */
  what: string
  children: (data: T) => ReactNode
}

/** What was asked for, or that it is on its way, failed, is forbidden, or is older than it should be. */
export function Loaded<T>({ query, what, children }: LoadedProps<T>) {
  const { data, error, dataUpdatedAt, isFetching, refetch } = query
  const again = (
    <Button busy={isFetching} onClick={() => refetch()}>
      Try again
    </Button>
  )
  if (data === undefined && !error)
    return (
      <div className="skeletons grid gap-3">
        <p role="status" className="sr-only">
          Loading {what}
        </p>
        <Skeleton className="h-5 w-2/5" />
        <Skeleton className="h-5 w-3/5" />
        <Skeleton className="h-5 w-1/2" />
      </div>
    )
  const problem = error && Problem.of(error)
  if (data === undefined)
    return problem?.status === 403 ? (
      <p className="flex gap-2.5 text-fg-2">
        <LockKeyhole aria-hidden className="mt-0.5 size-4 shrink-0 text-fg-3" />
        {problem.message}
      </p>
    ) : (
      <Notice tone="bad" role="alert" action={again}>
        {problem?.message}
        {problem?.requestId && (
          <span className="mt-1 block text-xs">
            Request <code className="select-all font-mono">{problem.requestId}</code>
          </span>
        )}
      </Notice>
    )
  return (
    <>
      {problem && (
        <Notice tone="warn" role="status" className="mb-4" action={again}>
          This is as it was <Ago at={new Date(dataUpdatedAt).toISOString()} />. {problem.message}
        </Notice>
      )}
      {children(data)}
    </>
  )
}
