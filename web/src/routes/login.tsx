import { createFileRoute, redirect, useRouter } from '@tanstack/react-router'
import { LoginPage } from '@/session/login-page'
import { insideOnly, sessionQuery } from '@/session/session'
import { PageFailed } from '@/shell/page-states'

export interface LoginSearch {
  /** Where to go after logging in. */
  next?: string
  /** The session ended while the page was open. */
  ended?: boolean
  /** Why the identity provider's log-in came to nothing, in a word. */
  refused?: string
}

export const Route = createFileRoute('/login')({
  validateSearch: ({ next, ended, refused }: Record<string, unknown>): LoginSearch => ({
    next: typeof next === 'string' ? next : undefined,
    ended: ended === true || undefined,
    refused: typeof refused === 'string' ? refused : undefined,
  }),
  beforeLoad: async ({ context, search }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session && !session.must_change_password) throw redirect({ href: insideOnly(search.next) })
    return { session }
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
  const { next, ended, refused } = Route.useSearch()
  const { queryClient, session } = Route.useRouteContext()
  const router = useRouter()
  return (
    <LoginPage
      sessionEnded={ended ?? false}
      refused={refused}
      next={next}
      newcomer={session}
      onLoggedIn={(session) => {
        queryClient.setQueryData(sessionQuery.queryKey, session)
        void router.navigate({ href: insideOnly(next), replace: true })
      }}
    />
  )
}
