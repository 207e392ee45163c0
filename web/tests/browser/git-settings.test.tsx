import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import type { GitCheck, GitSetting } from '@/api/model'
import { problem } from './fixtures'
import { open, Server } from './kubeopera'

const dialog = page.getByRole('dialog')

const setting = (change: Partial<GitSetting> = {}): GitSetting => ({
  url: 'https://github.com/acme/gitops-iac.git',
  branch: null,
  is_built_in: false,
  is_chosen: true,
  changed_at: new Date().toISOString(),
  credential: { type: 'basic', username: 'git', last_four: 'x7Qp', has_certificate_authority: false },
  credentials_secret: 'git-acme',
  ...change,
})

const check = (change: Partial<GitCheck> = {}): GitCheck => ({
  is_usable: true,
  branch: 'main',
  is_empty: false,
  offered_host_keys: [],
  findings: (['reach', 'identity', 'repository', 'branch', 'push'] as const).map((question) => ({
    question,
    answer: 'yes',
    reason: null,
    message: null,
  })),
  ...change,
})

function serving(change: Partial<GitSetting> = {}) {
  const server = new Server()
  server.on('GET /api/v1/settings/git', { status: 200, body: setting(change), headers: { etag: '"7-git"' } })
  server.on('POST /api/v1/settings/git/check', { status: 200, body: check() })
  server.on('GET /api/v1/settings/registry', {
    status: 200,
    body: { credential: null },
    headers: { etag: '"none-registry"' },
  })
  return server
}

test('the present repository is told without what is secret, and tried on demand', async () => {
  serving()
  await open('/settings/git')
  await expect.element(page.getByText('https://github.com/acme/gitops-iac.git')).toBeVisible()
  await expect.element(page.getByText('····x7Qp')).toBeVisible()
  await page.getByRole('button', { name: 'Check' }).click()
  await expect.element(page.getByText('Trees can be written to it, to the branch main.')).toBeVisible()
})

test('what is wrong with a repository is told question by question', async () => {
  const server = serving({ is_built_in: true, is_chosen: false, changed_at: null })
  const findings = check().findings.map((finding, index) =>
    index < 2
      ? finding
      : index === 2
        ? {
            ...finding,
            answer: 'no' as const,
            reason: 'GitAuthenticationFailed',
            message: 'The token is not accepted.',
          }
        : { ...finding, answer: 'not_asked' as const },
  )
  server.on('POST /api/v1/settings/git/check', {
    status: 200,
    body: check({ is_usable: false, branch: null, findings }),
  })
  await open('/settings/git')
  await expect.element(page.getByText('KubeOpera serves this repository itself')).toBeVisible()
  await expect.element(page.getByText('By whoever started KubeOpera')).toBeVisible()
  await page.getByRole('button', { name: 'Check' }).click()
  await expect.element(page.getByText('Trees cannot be written to it.')).toBeVisible()
  await expect.element(page.getByText('The token is not accepted.')).toBeVisible()
  await expect.element(page.getByText('The credential may write: not asked')).toBeVisible()
})

test('another repository over SSH is tried, its host key trusted, and used', async () => {
  const server = serving()
  const bodies: unknown[] = []
  server.on('POST /api/v1/settings/git/check', async (request) => {
    bodies.push(await request.json())
    return {
      status: 200,
      body: check({
        is_usable: false,
        offered_host_keys: [
          { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:abc', known_hosts: 'git.acme.com ssh-ed25519 AAAA' },
        ],
      }),
    }
  })
  server.on('PUT /api/v1/settings/git', async (request) => {
    bodies.push(await request.json())
    return { status: 200, body: setting({ url: 'ssh://git@git.acme.com/iac.git' }) }
  })
  await open('/settings/git')
  await page.getByRole('button', { name: 'Use another repository' }).click()
  await dialog.getByLabelText('Address').fill('ssh://git@git.acme.com/iac.git')
  await dialog.getByLabelText('How to write to it').selectOptions('ssh')
  await dialog.getByRole('button', { name: 'Try it first' }).click()
  await expect.element(dialog.getByText('Paste the private key.')).toBeVisible()
  await dialog.getByLabelText('Private key').fill('KEY')
  await dialog.getByRole('button', { name: 'Try it first' }).click()
  await dialog.getByRole('button', { name: 'Trust it' }).click()
  await expect.element(dialog.getByLabelText('Host keys of the server')).toHaveValue('git.acme.com ssh-ed25519 AAAA')
  await dialog.getByRole('button', { name: 'Use it' }).click()
  await expect.element(page.getByText('New clusters go to another repository')).toBeVisible()
  const repository = (known_hosts: string) => ({
    url: 'ssh://git@git.acme.com/iac.git',
    branch: null,
    credential: { type: 'ssh', private_key: 'KEY', known_hosts },
  })
  expect(bodies).toEqual([{ repository: repository('') }, repository('git.acme.com ssh-ed25519 AAAA')])
})

test('who chose another repository meanwhile is not overwritten', async () => {
  const server = serving()
  const seen: (string | null)[] = []
  server.on('PUT /api/v1/settings/git', (request) => {
    seen.push(request.headers.get('if-match'))
    server.on('GET /api/v1/settings/git', {
      status: 200,
      body: setting({ url: 'https://git.acme.com/theirs.git' }),
      headers: { etag: '"8-git"' },
    })
    return {
      status: 412,
      body: { ...problem(412, 'changed_meanwhile', 'Somebody else changed this since you saw it.'), field: 'If-Match' },
    }
  })
  server.on('DELETE /api/v1/settings/git', (request) => {
    seen.push(request.headers.get('if-match'))
    return { status: 200, body: setting({ is_chosen: false }), headers: { etag: '"start-git"' } }
  })
  await open('/settings/git')
  await page.getByRole('button', { name: 'Use another repository' }).click()
  await dialog.getByRole('button', { name: 'Use it' }).click()
  await expect.element(dialog.getByText(/Somebody else changed this since you saw it\./)).toBeVisible()
  await dialog.getByRole('button', { name: 'Use it' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect.element(page.getByText('https://git.acme.com/theirs.git')).toBeVisible()
  await page.getByRole('button', { name: 'Go back to the first one' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Go back' }).click()
  await expect.element(page.getByRole('button', { name: 'Go back to the first one' })).not.toBeInTheDocument()
  expect(seen).toEqual(['"7-git"', '"7-git"', '"8-git"'])
})

test('an address that cannot be used is refused at its field', async () => {
  const server = serving()
  server.on('PUT /api/v1/settings/git', {
    status: 422,
    body: { ...problem(422, 'git_url_invalid', 'The address holds a password.'), field: 'url' },
  })
  await open('/settings/git')
  await page.getByRole('button', { name: 'Use another repository' }).click()
  await dialog.getByRole('button', { name: 'Use it' }).click()
  await expect.element(dialog.getByLabelText('Address')).toHaveAccessibleDescription(/The address holds a password\./)
  await expect.element(dialog.getByLabelText('Address')).toHaveFocus()
})

test('the repository of the start is gone back to after a question', async () => {
  const server = serving()
  server.on('DELETE /api/v1/settings/git', {
    status: 200,
    body: setting({ url: 'http://built-in/iac.git', is_built_in: true, is_chosen: false, changed_at: null }),
  })
  await open('/settings/git')
  await page.getByRole('button', { name: 'Go back to the first one' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Go back' }).click()
  await expect.element(page.getByText('http://built-in/iac.git')).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Go back to the first one' })).not.toBeInTheDocument()
})

test('a registry credential is saved, told without its password, and removed', async () => {
  const server = serving()
  let sent: unknown
  const seen: (string | null)[] = []
  server.on('PUT /api/v1/settings/registry', async (request) => {
    sent = await request.json()
    seen.push(request.headers.get('if-match'))
    const credential = { server: 'ghcr.io', username: 'acme' }
    return { status: 200, body: { credential }, headers: { etag: '"9-registry"' } }
  })
  server.on('DELETE /api/v1/settings/registry', (request) => {
    seen.push(request.headers.get('if-match'))
    return { status: 204 }
  })
  await open('/settings/git')
  await page.getByRole('button', { name: 'Add a credential' }).click()
  await dialog.getByLabelText('Server').fill('ghcr.io')
  await dialog.getByLabelText('User name').fill('acme')
  await dialog.getByLabelText('Password or token').fill('secret')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(page.getByText('ghcr.io')).toBeVisible()
  expect(sent).toEqual({ server: 'ghcr.io', username: 'acme', password: 'secret' })
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await expect.element(page.getByText('There is none: images are pulled without a credential.')).toBeVisible()
  expect(seen).toEqual(['"none-registry"', '"9-registry"'])
})
