import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ifStill, type Seen, seenOf } from '@/api/client'
import type { GitRepository, GitSetting } from '@/api/model'

/** The Git repository for the trees of new clusters. */
export const gitQuery = queryOptions({
  queryKey: ['settings', 'git'],
  queryFn: ({ signal }) => seenOf(api.GET('/api/v1/settings/git', { signal, cache: 'no-store' })),
})

/** A repository as it is typed in; which fields count follows from how it is written to. */
export const emptyRepository = {
  url: '',
  branch: '',
  how: 'basic' as 'kept' | 'basic' | 'ssh',
  username: '',
  password: '',
  certificate_authority: '',
  private_key: '',
  known_hosts: '',
}

export type TypedRepository = typeof emptyRepository

function repositoryOf(typed: TypedRepository): GitRepository {
  const { url, branch, how, username, password, certificate_authority, private_key, known_hosts } = typed
  return {
    url,
    branch: branch || null,
    credential:
      how === 'kept'
        ? null
        : how === 'basic'
          ? {
              type: 'basic',
              username: username || null,
              password,
              certificate_authority: certificate_authority || null,
            }
          : { type: 'ssh', private_key, known_hosts },
  }
}

export function chooseRepository(seen: Seen<GitSetting>, typed: TypedRepository) {
  return seenOf(api.PUT('/api/v1/settings/git', { params: ifStill(seen), body: repositoryOf(typed) }))
}

/** Goes back to the repository that KubeOpera was started with. */
export function forgetRepository(seen: Seen<GitSetting>) {
  return seenOf(api.DELETE('/api/v1/settings/git', { params: ifStill(seen) }))
}

/** Tries whether trees can be written to what was typed, or to the present repository. Nothing is written. */
export function checkRepository(typed: TypedRepository | null) {
  return dataOf(api.POST('/api/v1/settings/git/check', { body: { repository: typed && repositoryOf(typed) } }))
}
