import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { auditEntry, credential, person, session } from '../fixtures'
import { render } from './state'

const list = (items: unknown[]) => ({ status: 200, body: { items, next_cursor: null } })

/** A session or a token. */
const entry = {
  id: 'e-1',
  user: session.user.id,
  address: '2001:db8::42',
  current: false,
  created_at: new Date(Date.now() - 86_400_000).toISOString(),
  last_seen_at: new Date(Date.now() - 60_000).toISOString(),
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
}

render([
  {
    name: 'account',
    path: '/settings/account',
    arrange: (s) => {
      s.on(
        'GET /api/v1/sessions',
        list([
          { ...entry, id: 's-1', current: true },
          { ...entry, id: 's-2' },
        ]),
      )
      s.on('GET /api/v1/tokens', list([{ ...entry, label: 'CI pipeline', last_used_at: null }]))
    },
    says: 'CI pipeline',
  },
  {
    name: 'token shown once',
    path: '/settings/account',
    arrange: (s) => {
      s.on('GET /api/v1/sessions', list([]))
      s.on('GET /api/v1/tokens', list([]))
      s.on('POST /api/v1/tokens', {
        status: 201,
        body: { token: { ...entry, label: 'CI' }, secret: `ko_pat_${'x'.repeat(60)}` },
      })
    },
    says: 'You have no tokens.',
    act: async () => {
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabelText('What it is for').fill('CI')
      await page.getByRole('button', { name: 'Make token' }).click()
      await expect.element(page.getByText('KubeOpera shows this once')).toBeVisible()
    },
  },
  {
    name: 'people',
    path: '/settings/people',
    arrange: (s) =>
      s.on(
        'GET /api/v1/users',
        list([
          person({ id: session.user.id, username: 'admin', role: 'platform_administrator' }),
          person({}),
          person({ id: 'u-3', username: 'per@acme.com', way: 'oidc', role: 'viewer' }),
          person({ id: 'u-4', username: 'gone', disabled_at: entry.created_at }),
        ]),
      ),
    says: 'per@acme.com',
  },
  {
    name: 'person to add',
    path: '/settings/people',
    arrange: (s) => s.on('GET /api/v1/users', list([person({})])),
    says: 'olga',
    act: async () => {
      await page.getByRole('button', { name: 'Add a person' }).click()
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await expect.element(page.getByText(/^Use 2 to 32/)).toBeVisible()
    },
  },
  {
    name: 'credentials',
    path: '/settings/credentials',
    arrange: (s) => {
      s.on(
        'GET /api/v1/credentials',
        list([
          credential(),
          credential({ id: 'k-2', label: 'acme-role', type: 'aws_assume_role', clusters: [] }),
          credential({ id: 'k-3', label: 'acme-gcp', type: 'gcp_service_account_key', clusters: [] }),
        ]),
      )
      s.on('POST /api/v1/credentials/k-1/check', {
        status: 200,
        body: { accepted: true, account: '123456789012', identity: 'arn:aws:iam::123456789012:user/ko', message: null },
      })
    },
    says: 'acme-gcp',
    act: async () => {
      await page.getByRole('button', { name: 'Check acme-platform' }).click()
      await expect.element(page.getByText(/knows it/)).toBeVisible()
    },
  },
  {
    name: 'credential to add',
    path: '/settings/credentials',
    arrange: (s) => s.on('GET /api/v1/credentials', list([])),
    says: 'There are none.',
    act: async () => {
      await page.getByRole('button', { name: 'Add a credential' }).click()
      await page.getByLabelText('Type').selectOptions('gcp_service_account_key')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.element(page.getByText('Paste the JSON file, or choose it.')).toBeVisible()
    },
  },
  {
    name: 'git',
    path: '/settings/git',
    arrange: (s) => {
      s.on('GET /api/v1/settings/registry', {
        status: 200,
        body: { credential: { server: 'registry.acme.com:5000', username: 'kubeopera' } },
      })
      s.on('GET /api/v1/settings/git', {
        status: 200,
        body: {
          url: 'https://git.acme.com/gitops-iac.git',
          branch: 'trees',
          is_built_in: false,
          is_chosen: true,
          changed_at: entry.created_at,
          credential: { type: 'basic', username: 'git', last_four: 'x7Qp', has_certificate_authority: true },
        },
      })
      s.on('POST /api/v1/settings/git/check', {
        status: 200,
        body: {
          is_usable: false,
          branch: null,
          is_empty: null,
          offered_host_keys: [{ algorithm: 'ssh-ed25519', fingerprint: `SHA256:${'x'.repeat(43)}`, known_hosts: 'k' }],
          findings: [
            { question: 'reach', answer: 'yes', reason: null, message: null },
            { question: 'identity', answer: 'no', reason: 'x', message: 'No host key of the server is known.' },
            { question: 'repository', answer: 'not_asked', reason: null, message: null },
          ],
        },
      })
    },
    says: 'https://git.acme.com/gitops-iac.git',
    act: async () => {
      await page.getByRole('button', { name: 'Check' }).click()
      await expect.element(page.getByText('Trees cannot be written to it.')).toBeVisible()
    },
  },
  {
    name: 'git to choose',
    path: '/settings/git',
    arrange: (s) =>
      s.on('GET /api/v1/settings/git', {
        status: 200,
        body: {
          url: 'http://g/i.git',
          branch: null,
          is_built_in: true,
          is_chosen: false,
          changed_at: null,
          credential: null,
        },
      }),
    says: 'KubeOpera serves this repository itself',
    act: async () => {
      await page.getByRole('button', { name: 'Use another repository' }).click()
      await page.getByRole('button', { name: 'Use it' }).click()
      await expect.element(page.getByText('Enter the address of the repository.')).toBeVisible()
    },
  },
  {
    name: 'audit',
    path: '/settings/audit?outcome=done',
    arrange: (s) =>
      s.on(
        'GET /api/v1/audit',
        list([
          auditEntry({ position: 3, object_name: 'prod-payments-euw1' }),
          auditEntry({ position: 2, action: 'change_cluster', object_name: 'prod', changed: ['labels'] }),
          auditEntry({ position: 1, action: 'log_in', object: null, outcome: 'denied' }),
        ]),
      ),
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByText('Details').first().click()
      await expect.element(page.getByText('a'.repeat(64)).first()).toBeVisible()
    },
  },
])
