import { exact, roughly, useNow } from '@/format/time'

interface AgoProps {
  at: string
  /** What to say once it is no longer in the future, instead of how long ago it was. */
  past?: string
  className?: string
}

const SECOND = 1_000

/** How long ago something was, with the exact time on hover; in the future, how long until then. */
export function Ago({ at, past, className }: AgoProps) {
  const distance = useNow() - Date.parse(at)
  return (
    <time dateTime={at} title={exact(at)} className={className}>
      {distance <= -SECOND
        ? `in ${roughly(-distance)}`
        : (past ?? (distance < SECOND ? 'now' : `${roughly(distance)} ago`))}
    </time>
  )
}
