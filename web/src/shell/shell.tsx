import { Outlet } from '@tanstack/react-router'
import type { Session } from '@/api/model'
import { Live } from '@/live/live'
import { PartingDialogs } from '@/parting/parting-dialogs'
import { Announcer } from '@/ui/announcer'
import { Favicon } from './favicon'
import { useFocusFollowsPage } from './focus-follows-page'
import { Sidebar } from './sidebar'
import { TopBar } from './top-bar'

/** What surrounds every page: the way around, the state of the stream, the theme and the account. */
export function Shell({ session }: { session: Session }) {
  useFocusFollowsPage()
  return (
    <Live>
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-surface focus:px-3 focus:py-2 focus:shadow-pop"
      >
        Skip to content
      </a>
      <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
        <Sidebar />
        <div className="flex min-w-0 flex-col">
          <TopBar user={session.user} />
          <main id="main" tabIndex={-1} className="w-full max-w-[105rem] flex-1 px-4 py-6 outline-none lg:px-8">
            <Outlet />
          </main>
        </div>
      </div>
      <PartingDialogs />
      <Favicon />
      <Announcer />
    </Live>
  )
}
