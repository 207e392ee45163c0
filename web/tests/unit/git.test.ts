import { expect, test } from 'vitest'
import { webAddresses } from '@/format/git'

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
