import { createFileRoute, redirect } from '@tanstack/react-router'
import { fleetQuery } from '@/clusters/clusters'
import { sessionQuery } from '@/session/session'
import { PageFailed } from '@/shell/page-states'
import { Shell } from '@/shell/shell'

/** Everything but the login page: nobody gets here without a session. */
export const Route = createFileRoute('/_logged-in')({
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (!session || session.must_change_password)
      throw redirect({ to: '/login', search: { next: location.href === '/' ? undefined : location.href } })
    // Every page has the fleet in its navigation at least, and tells if it cannot be had.
    context.queryClient.ensureQueryData(fleetQuery).catch(() => {})
    return { session }
  },
  errorComponent: (props) => (
    <main>
      <PageFailed {...props} />
    </main>
  ),
  component: () => {
    const { session } = Route.useRouteContext()
    return <Shell session={session} />
  },
})
