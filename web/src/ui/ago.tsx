import { exact, roughly, useNow } from '@/format/time'

interface AgoProps {
  at: string
  /** What to say once it is no longer in the future, instead of how long ago it was. */
  past?: string
  className?: string
}

/** How long ago something was, with the exact time on hover; in the future, how long until then. */
export function Ago({ at, past, className }: AgoProps) {
  const distance = useNow() - Date.parse(at)
  return (
    <time dateTime={at} title={exact(at)} className={className}>
      {distance < 0 ? `in ${roughly(-distance)}` : (past ?? `${roughly(distance)} ago`)}
    </time>
  )
}
