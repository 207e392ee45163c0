import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRouter, type RouterHistory, RouterProvider } from '@tanstack/react-router'
import { Problem } from './api/problem'
import { routeTree } from './routeTree.gen'
import { sessionQuery } from './session/session'
import { PageFailed, PageLoading, PageMissing } from './shell/page-states'
import { Toasts } from './ui/toasts'

export interface AppContext {
  queryClient: QueryClient
  /** Leaves for the login page: the server no longer knows who this is. */
  sessionEnded: () => void
}

/** The whole dashboard. Tests give it a history of their own. */
export function createApp(history?: RouterHistory) {
  const leaveWhenLoggedOut = (error: unknown) => {
    if (error instanceof Problem && error.status === 401) sessionEnded()
  }
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenLoggedOut }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, mutation) => {
        if (!mutation.meta?.logsIn) leaveWhenLoggedOut(error)
        // Somebody else was faster: show what it is now.
        if (error instanceof Problem && error.status === 412) void queryClient.invalidateQueries()
      },
    }),
    defaultOptions: {
      // What was sent may be a kubeconfig or a password: it goes as soon as nobody looks at how it went.
      mutations: { gcTime: 0 },
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        // Asking again helps when the network or the server had a bad moment, never when the answer was a refusal.
        retry: (failures, error) =>
          failures < 2 && error instanceof Problem && (error.status === 0 || error.status >= 500),
      },
    },
  })
  const router = createRouter({
    routeTree,
    history,
    context: { queryClient, sessionEnded } satisfies AppContext,
    defaultPreload: 'intent',
    defaultPendingComponent: PageLoading,
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: PageMissing,
    scrollRestoration: true,
  })

  function sessionEnded() {
    if (!queryClient.getQueryData(sessionQuery.queryKey)) return
    queryClient.setQueryData(sessionQuery.queryKey, null)
    void router.navigate({ to: '/login', search: { next: router.state.location.href, ended: true } })
  }

  const app = (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  )
  return { app, router, queryClient }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createApp>['router']
  }
}

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** The mutation is the attempt to log in: its refusal is not the end of a session. */
      logsIn?: boolean
    }
  }
}
