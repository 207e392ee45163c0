import { useSyncExternalStore } from 'react'

let sentence = ''
const watchers = new Set<() => void>()

/** Says one sentence to people who listen to the page instead of looking at it. */
export function announce(text: string) {
  sentence = text
  for (const watcher of watchers) watcher()
}

export function Announcer() {
  const text = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    () => sentence,
  )
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  )
}
