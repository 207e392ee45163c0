import { useSyncExternalStore } from 'react'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A number stays on the line of its unit. */
const NBSP = '\u00a0'

/** A length of time in its two largest useful units: "21 s", "9 min", "1 h 12 min", "3 d 4 h". */
export function duration(ms: number): string {
  const length = Math.max(0, ms)
  if (length < MINUTE) return amount(length / SECOND, 's')
  if (length < HOUR) return amount(length / MINUTE, 'min')
  if (length < DAY) return pair(length / HOUR, 'h', (length % HOUR) / MINUTE, 'min')
  return pair(length / DAY, 'd', (length % DAY) / HOUR, 'h')
}

/** A length of time in its largest unit only: "21 s", "9 min", "23 h", "3 d". */
export function roughly(ms: number): string {
  const length = Math.max(0, ms)
  if (length < HOUR) return duration(length)
  return length < 2 * DAY ? amount(length / HOUR, 'h') : amount(length / DAY, 'd')
}

const amount = (number: number, unit: string) => `${Math.floor(number)}${NBSP}${unit}`

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small < 1 ? amount(large, largeUnit) : amount(large, largeUnit) + NBSP + amount(small, smallUnit)
}

// Made once: making a formatter takes some 50 µs, and each row of a list has a time.
const dateAndZone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** A date and time in the reader's own language and zone, for titles beside relative times. */
export const exact = (timestamp: string | number) => dateAndZone.format(new Date(timestamp))

/** The time of day, and the day if it is not today. */
export function time(timestamp: string): string {
  const at = new Date(timestamp)
  const isToday = at.toDateString() === new Date().toDateString()
  return (isToday ? timeOfDay : dateAndTime).format(at)
}

let timer: ReturnType<typeof setInterval> | undefined
const watchers = new Set<() => void>()

function watchClock(tick: () => void) {
  watchers.add(tick)
  timer ??= setInterval(() => {
    for (const watcher of watchers) watcher()
  }, SECOND)
  return () => {
    watchers.delete(tick)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const thisSecond = () => Math.floor(Date.now() / SECOND) * SECOND

/** The present in whole seconds, as ms since the epoch, renewed each second. One timer serves the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watchClock, thisSecond)
}
