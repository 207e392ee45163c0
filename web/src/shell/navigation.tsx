import { Link, type LinkProps, useMatchRoute } from '@tanstack/react-router'
import clsx from 'clsx'
import { Boxes, Grid2x2, LayoutDashboard, Settings } from 'lucide-react'
import { useFailedClusters } from '@/clusters/clusters'
import { grouped } from '@/format/numbers'
import mark from '@/mark.svg'

const places: { to: LinkProps['to']; label: string; icon: typeof Boxes; exact: boolean }[] = [
  { to: '/', label: 'Overview', icon: LayoutDashboard, exact: true },
  { to: '/clusters', label: 'Clusters', icon: Boxes, exact: false },
  { to: '/clusters/multi', label: 'Multi-Cluster', icon: Grid2x2, exact: true },
  { to: '/settings', label: 'Settings', icon: Settings, exact: false },
]

export function Brand() {
  return (
    <Link to="/" className="flex h-14 shrink-0 items-center gap-2.5 px-5">
      <img src={mark} alt="" className="size-6" />
      <span className="font-semibold text-[0.9375rem] tracking-tight">KubeOpera</span>
    </Link>
  )
}

export function Navigation({ onLeave }: { onLeave?: () => void }) {
  const failed = useFailedClusters()
  const isComparing = Boolean(useMatchRoute()({ to: '/clusters/multi' }))
  return (
    <nav aria-label="Main" className="flex-1 overflow-y-auto px-3 py-2">
      <ul className="grid gap-0.5">
        {places.map(({ to, label, icon: Icon, exact }) => (
          <li key={to}>
            <Link
              to={to}
              onClick={onLeave}
              // The Multi-Cluster view lies below Clusters, and has an entry of its own.
              activeOptions={{ exact: exact || isComparing, includeSearch: false }}
              className="group flex h-9 items-center gap-2.5 rounded-lg px-2.5 font-medium text-ui max-lg:h-11"
              activeProps={{ className: 'bg-surface text-fg shadow-card ring-1 ring-line dark:bg-hover dark:ring-0' }}
              inactiveProps={{ className: 'text-fg-2 hover:bg-hover hover:text-fg' }}
            >
              {({ isActive }) => (
                <>
                  <Icon
                    aria-hidden
                    className={clsx('size-4', isActive ? 'text-accent-text' : 'text-fg-3 group-hover:text-fg-2')}
                  />
                  <span className="flex-1">{label}</span>
                  {to === '/clusters' && failed > 0 && (
                    <span className="rounded-full border border-bad-line bg-bad-bg px-1.5 py-px font-semibold text-2xs text-bad-fg tabular-nums">
                      {grouped(failed)}
                      <span className="sr-only"> failed</span>
                    </span>
                  )}
                </>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
