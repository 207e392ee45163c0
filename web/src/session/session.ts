import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { Session } from '@/api/model'
import { Problem } from '@/api/problem'

/** Who is logged in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await dataOf(api.GET('/api/v1/session', { signal }))
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return null
      throw error
    }
  },
})

export function logIn(username: string, password: string): Promise<Session> {
  return dataOf(api.POST('/api/v1/session', { body: { username, password } }))
}

/** How people log in here. */
export const waysQuery = queryOptions({
  queryKey: ['session', 'ways'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/session/ways', { signal })),
})

/** Where a browser goes to log in at the identity provider, and in the end to a page of this dashboard. */
export function providerHref(next: string | undefined): string {
  return `/api/v1/session/oidc?${new URLSearchParams({ return_to: insideOnly(next) })}`
}

/** Why the identity provider's people were sent back here, by the word in the address. */
export function refusalOf(code: string | undefined): string | null {
  if (!code) return null
  return refusals.get(code) ?? 'You could not be logged in. Try again.'
}

const refusals = new Map([
  [
    'oidc_rejected',
    'What came back from the identity provider could not be trusted, so you were not logged in. Try again; if it happens again, a platform administrator finds the reason in KubeOpera’s log.',
  ],
  ['oidc_not_logged_in', 'The identity provider did not log you in.'],
  [
    'oidc_no_access',
    'The identity provider knows you, but you have no access to KubeOpera. Ask a platform administrator which group you need to be in.',
  ],
  ['oidc_unavailable', 'The identity provider could not be asked. Try again in a moment, or log in with a password.'],
  ['oidc_not_configured', 'KubeOpera has no identity provider to log in at. Log in with a password.'],
  ['too_many_attempts', 'There were too many attempts to log in from here. Try again in a minute.'],
  ['not_available', 'KubeOpera could not log you in at the moment. Try again.'],
])

/** Changes one's own password, which begins a new session. */
export async function changeOwnPassword(user: string, current: string, password: string): Promise<Session> {
  await dataOf(
    api.PUT('/api/v1/users/{id}/password', {
      params: { path: { id: user } },
      body: { current_password: current, password },
    }),
  )
  return dataOf(api.GET('/api/v1/session'))
}

export async function logOut(): Promise<void> {
  await dataOf(api.DELETE('/api/v1/session'))
}

/** A place inside this dashboard to go to after logging in. Anything else, such as another site, becomes the front page. */
export function insideOnly(next: string | undefined): string {
  if (!next?.startsWith('/') || next.startsWith('//') || next.includes('\\') || next.startsWith('/login')) return '/'
  return next
}
