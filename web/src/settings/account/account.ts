import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import { allOf, PAGE } from '@/api/pages'

/** One's own sessions that have not ended. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) =>
    allOf((cursor) => dataOf(api.GET('/api/v1/sessions', { signal, params: { query: { limit: PAGE, cursor } } }))),
})

export function endSession(id: string) {
  return dataOf(api.DELETE('/api/v1/sessions/{id}', { params: { path: { id } } }))
}

/** One's own tokens that have not ended. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) =>
    allOf((cursor) => dataOf(api.GET('/api/v1/tokens', { signal, params: { query: { limit: PAGE, cursor } } }))),
})

export function makeToken(label: string, expires_at: string) {
  return dataOf(api.POST('/api/v1/tokens', { body: { label, expires_at } }))
}

export function revokeToken(id: string) {
  return dataOf(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } }))
}

/** One's own password takes the present one; somebody else's does not. */
export function setPassword(id: string, password: string, current_password?: string) {
  return dataOf(
    api.PUT('/api/v1/users/{id}/password', { params: { path: { id } }, body: { password, current_password } }),
  )
}
