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

export async function logOut(): Promise<void> {
  await dataOf(api.DELETE('/api/v1/session'))
}

/** A place inside this dashboard to go to after logging in. Anything else, such as another site, becomes the front page. */
export function insideOnly(next: string | undefined): string {
  if (!next?.startsWith('/') || next.startsWith('//') || next.includes('\\') || next.startsWith('/login')) return '/'
  return next
}
