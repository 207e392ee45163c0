import clsx from 'clsx'
import { CircleCheck, LoaderCircle, type LucideIcon, TriangleAlert, Unplug } from 'lucide-react'
import type { ClusterStanding } from '@/api/model'

interface Look {
  word: string
  icon: LucideIcon
  badge: string
  ink: string
  tile: string
  bar: string
}

/** How a cluster stands: a word, an icon and a colour that say the same. */
export const standings: Record<ClusterStanding, Look> = {
  healthy: {
    word: 'Healthy',
    icon: CircleCheck,
    badge: 'border-ok-line bg-ok-bg text-ok-fg',
    ink: 'text-ok-fg',
    tile: 'bg-tile-ok text-tile-ok-fg',
    bar: 'bg-ok',
  },
  degraded: {
    word: 'Degraded',
    icon: TriangleAlert,
    badge: 'border-warn-line bg-warn-bg text-warn-fg',
    ink: 'text-warn-fg',
    tile: 'bg-tile-warn text-tile-warn-fg',
    bar: 'bg-warn',
  },
  unreachable: {
    word: 'Unreachable',
    icon: Unplug,
    badge: 'border-bad-line bg-bad-bg text-bad-fg',
    ink: 'text-bad-fg',
    tile: 'bg-tile-bad text-tile-bad-fg',
    bar: 'bg-bad',
  },
  setting_up: {
    word: 'Setting up',
    icon: LoaderCircle,
    badge: 'border-line-strong bg-sunken text-fg-2',
    ink: 'text-fg-2',
    tile: 'bg-tile-new text-tile-new-fg',
    bar: 'bg-control',
  },
}

export const standingNames = Object.keys(standings) as ClusterStanding[]

export function StandingBadge({ standing }: { standing: ClusterStanding }) {
  const { word, icon: Icon, badge } = standings[standing]
  return (
    <span
      className={clsx(
        'inline-flex h-6 items-center gap-1.5 whitespace-nowrap rounded-full border pr-2.5 pl-1.5 font-medium text-xs',
        badge,
      )}
    >
      <Icon aria-hidden className="size-3.5" />
      {word}
    </span>
  )
}
