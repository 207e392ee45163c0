import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { Role } from '@/api/model'
import { allOf, PAGE } from '@/api/pages'

/** Everybody who may log in. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) =>
    allOf((cursor) => dataOf(api.GET('/api/v1/users', { signal, params: { query: { limit: PAGE, cursor } } }))),
})

export function addPerson(person: { username: string; role: Role; password: string }) {
  return dataOf(api.POST('/api/v1/users', { body: person }))
}

export function changePerson(id: string, change: { role?: Role; disabled?: boolean }) {
  return dataOf(api.PATCH('/api/v1/users/{id}', { params: { path: { id } }, body: change }))
}
