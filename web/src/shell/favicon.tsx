import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { fleetQuery } from '@/clusters/clusters'
import { toneOf } from '@/clusters/phases'
import { useStream } from '@/live/live'
import mark from '@/mark.svg?raw'

/** Browsers draw an icon outside of the page, so that it cannot have the page's colours. */
const dots = { bad: '#dc2626', warn: '#d97706', away: '#6b7280' }

/** A dot on the tab's icon: red while a cluster has failed, amber while one is being set up, grey while nothing is heard. */
export function Favicon() {
  const { state } = useStream()
  const { data: tones } = useQuery({
    ...fleetQuery,
    select: ({ items }) => items.map(({ phase }) => toneOf(phase)).sort(),
  })
  const isAway = state === 'offline' || state === 'reconnecting'
  const dot = isAway ? 'away' : tones?.includes('bad') ? 'bad' : tones?.includes('warn') ? 'warn' : null
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (!link) return
    const circle = dot ? `<circle cx="25" cy="25" r="7" fill="${dots[dot]}" stroke="#fff" stroke-width="2"/>` : ''
    link.href = `data:image/svg+xml,${encodeURIComponent(mark.replace('</svg>', `${circle}</svg>`))}`
  }, [dot])
  return null
}
