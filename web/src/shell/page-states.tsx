import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { CloudOff, Compass, LockKeyhole, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Problem } from '@/api/problem'
import { Button, buttonClass } from '@/ui/button'

interface PageStateProps {
  icon: LucideIcon
  title: string
  /** `h1` when nothing else on the page is a title. */
  heading?: 'h1' | 'h2'
  children: ReactNode
  action?: ReactNode
}

/** A page, or a part of one, that has nothing to show and says why. */
export function PageState({ icon: Icon, title, heading: Heading = 'h2', children, action }: PageStateProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-4 py-20 text-center">
      <span className="grid size-12 place-items-center rounded-2xl border border-line bg-surface text-fg-3 shadow-card">
        <Icon aria-hidden className="size-5" />
      </span>
      <Heading tabIndex={-1} className="mt-5 font-semibold text-base outline-none">
        {title}
      </Heading>
      <div className="mt-1.5 text-fg-3 [overflow-wrap:anywhere]">{children}</div>
      {action && <div className="mt-5">{action}</div>}
    </div>
  )
}

interface ProblemStateProps extends Pick<PageStateProps, 'heading'> {
  error: unknown
  onRetry: () => void
}

/** What went wrong, what to do, the request's id for whoever reads the log, and a way to try again. */
export function ProblemState({ error, onRetry, heading }: ProblemStateProps) {
  const problem = Problem.of(error)
  if (problem.status === 403)
    return (
      <PageState icon={LockKeyhole} title="You may not see this" heading={heading}>
        <p>{problem.message}</p>
        <RequestId of={problem} />
      </PageState>
    )
  return (
    <PageState
      icon={CloudOff}
      title={problem.title}
      heading={heading}
      action={
        <Button look="secondary" onClick={onRetry}>
          Try again
        </Button>
      }
    >
      <p role="alert">{problem.message}</p>
      <RequestId of={problem} />
    </PageState>
  )
}

/** Finds the request in the server's log. */
export function RequestId({ of }: { of: unknown }) {
  const { requestId } = Problem.of(of)
  if (!requestId) return null
  return (
    <p className="mt-2 text-xs">
      Request <code className="select-all font-mono">{requestId}</code>
    </p>
  )
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return <ProblemState error={error} onRetry={retry} heading="h1" />
}

export function PageMissing() {
  return (
    <PageState
      icon={Compass}
      title="There is no page here"
      heading="h1"
      action={
        <Link to="/clusters" className={buttonClass('secondary')}>
          Go to Clusters
        </Link>
      }
    >
      <p>The address may be misspelt, or what it named is gone.</p>
    </PageState>
  )
}

export function PageLoading() {
  return (
    <div role="status" className="py-20 text-center">
      <h1 tabIndex={-1} className="text-fg-3 outline-none">
        Loading…
      </h1>
    </div>
  )
}
