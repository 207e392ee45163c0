import { createFileRoute, redirect, useRouter } from '@tanstack/react-router'
import { LoginPage } from '@/session/login-page'
import { insideOnly, sessionQuery } from '@/session/session'
import { PageFailed } from '@/shell/page-states'

export interface LoginSearch {
  /** Where to go after logging in. */
  next?: string
  /** The session ended while the page was open. */
  ended?: boolean
}

export const Route = createFileRoute('/login')({
  validateSearch: ({ next, ended }: Record<string, unknown>): LoginSearch => ({
    next: typeof next === 'string' ? next : undefined,
    ended: ended === true || undefined,
  }),
  beforeLoad: async ({ context, search }) => {
    if (await context.queryClient.ensureQueryData(sessionQuery)) throw redirect({ href: insideOnly(search.next) })
  },
  head: () => ({ meta: [{ title: 'Log in · KubeOpera' }] }),
  errorComponent: (props) => (
    <main>
      <PageFailed {...props} />
    </main>
  ),
  component: Login,
})

function Login() {
  const { next, ended } = Route.useSearch()
  const { queryClient } = Route.useRouteContext()
  const router = useRouter()
  return (
    <LoginPage
      sessionEnded={ended ?? false}
      onLoggedIn={(session) => {
        queryClient.setQueryData(sessionQuery.queryKey, session)
        void router.navigate({ href: insideOnly(next), replace: true })
      }}
    />
  )
}
