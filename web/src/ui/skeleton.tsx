import clsx from 'clsx'

/** A grey shape where text will be. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={clsx('block animate-pulse rounded-md bg-line', className)} />
}
