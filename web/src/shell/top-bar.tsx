import { Link, useMatch, useMatchRoute } from '@tanstack/react-router'
import type { Session } from '@/api/model'
import mark from '@/mark.svg'
import { PaletteButton } from '@/palette/palette-button'
import { Drawer } from './drawer'
import { StreamChip } from './stream-chip'
import { ThemeMenu } from './theme-menu'
import { UserMenu } from './user-menu'

export function TopBar({ user }: Pick<Session, 'user'>) {
  return (
    <header className="sticky top-0 z-30 flex h-14 shrink-0 items-center gap-1.5 border-line border-b bg-canvas/85 px-4 backdrop-blur lg:px-8">
      <div className="-ml-2 flex items-center gap-1 lg:hidden">
        <Drawer />
        <img src={mark} alt="" className="size-6" />
      </div>
      <Trail />
      <div className="flex-1" />
      <PaletteButton />
      <StreamChip />
      <ThemeMenu />
      <UserMenu user={user} />
    </header>
  )
}

/** The way back up from a page that lies below another. */
function Trail() {
  const here = useHere()
  if (!here) return null
  return (
    <nav aria-label="Breadcrumb" className="min-w-0 text-ui max-sm:hidden">
      <ol className="flex items-center gap-2">
        <li>
          <Link to="/clusters" className="text-fg-3 hover:text-fg">
            Clusters
          </Link>
        </li>
        <li aria-hidden className="text-fg-3">
          /
        </li>
        <li aria-current="page" className="truncate font-medium">
          {here}
        </li>
      </ol>
    </nav>
  )
}

function useHere(): string | undefined {
  const isAt = useMatchRoute()
  const cluster = useMatch({ from: '/_logged-in/clusters/$id', shouldThrow: false })
  if (isAt({ to: '/clusters/new' })) return 'Cluster Setup Wizard'
  if (isAt({ to: '/clusters/multi' })) return 'Multi-Cluster'
  return cluster?.loaderData?.name
}
