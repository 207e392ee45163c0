import { expect, test } from 'vitest'
import { commitOf, webAddresses } from '@/format/git'

const tree = (url: string) => webAddresses({ url, branch: 'main', path: 'fluxcd/clusters/prod', commit: 'abc' })

test('a tree on GitHub or GitLab is linked to its folder and its commit', () => {
  expect(tree('https://github.com/acme/iac.git')).toEqual({
    repository: 'https://github.com/acme/iac',
    folder: 'https://github.com/acme/iac/tree/main/fluxcd/clusters/prod',
    commit: 'https://github.com/acme/iac/commit/abc',
  })
  expect(tree('https://gitlab.acme.com/a/iac')?.folder).toBe(
    'https://gitlab.acme.com/a/iac/-/tree/main/fluxcd/clusters/prod',
  )
})

test('what has no pages for people is not linked', () => {
  for (const url of [
    'ssh://git@github.com/acme/iac.git',
    'git@github.com:acme/iac.git',
    'http://10.0.0.1:3000/iac.git',
    'https://git.kubeopera-system.svc/iac.git',
    'javascript:alert(1)',
  ])
    expect(tree(url), url).toBeUndefined()
  expect(tree('https://git.acme.com/iac.git')).toEqual({ repository: 'https://git.acme.com/iac' })
})

test('the commit of a revision that Flux applied is found, and nothing is taken for one', () => {
  const hash = 'ab01'.repeat(10)
  expect(commitOf(`main@sha1:${hash}`)).toBe(hash)
  expect(commitOf(`release/2@sha256:${'c'.repeat(64)}`)).toBe('c'.repeat(64))
  for (const revision of ['', 'main', 'sha256:abc', `main/${hash}`, 'v1.0.0@sha1:abc'])
    expect(commitOf(revision)).toBeNull()
})
