import clsx from 'clsx'
import { useStream } from '@/live/live'

const chips = {
  connecting: { word: 'Connecting', dot: 'bg-control' },
  live: { word: 'Live', dot: 'bg-ok' },
  reconnecting: { word: 'Reconnecting', dot: 'bg-warn breathe' },
  offline: { word: 'Offline', dot: 'bg-bad' },
}

/** Whether what the page shows is kept up to date at the moment. */
export function StreamChip() {
  const { state } = useStream()
  const { word, dot } = chips[state]
  return (
    <span role="status" className="inline-flex items-center gap-2 px-1.5 text-fg-2 text-xs">
      <span aria-hidden className={clsx('size-2 rounded-full', dot)} />
      {word}
    </span>
  )
}
