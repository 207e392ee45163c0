import axe from 'axe-core'
import { describe, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { chooseTheme } from '@/theme'
import {
  auditEntry,
  catalogue,
  cluster,
  contexts,
  credential,
  disconnection,
  fleet,
  instanceTypes,
  person,
  problem,
  session,
  stepsTo,
} from './fixtures'
import { open, Server } from './kubeopera'
import { minutesAgo, monitored, multi, summary } from './monitor-fixtures'

interface State {
  name: string
  path: string
  arrange?: (server: Server) => void
  /** What the page says in this state; found before the page is checked. */
  says: string
  act?: (server: Server) => Promise<void>
}

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

/** Clusters of which some are measured. */
const measured = () =>
  fleet().map((cluster, index) => ({
    ...cluster,
    ...(index % 2 === 0 && {
      health: {
        score: 100 - index * 13.5,
        colour: (['green', 'green', 'amber', 'amber', 'red'] as const)[index] ?? 'red',
      },
      cpu: { percent: 40 + index * 14, used: 1, allocatable: 2 },
      memory: { percent: 50 + index * 8, used: 1, allocatable: 2 },
      cost: { monthly: 613 + 4_000 * index, priced: 3, not_priced: index },
    }),
  }))

const states: State[] = [
  {
    name: 'login',
    path: '/login',
    arrange: (s) => {
      s.loggedIn = false
    },
    says: 'Log in to KubeOpera',
  },
  {
    name: 'login refused',
    path: '/login?ended=true',
    arrange: (s) => {
      s.loggedIn = false
      s.on('POST /api/v1/session', {
        status: 401,
        body: problem(401, 'wrong_credentials', 'The username or the password is wrong.'),
      })
    },
    says: 'Your session ended',
    act: async () => {
      await fillIn('admin', 'wrong')
      await expect.element(page.getByRole('alert')).toHaveTextContent('The username or the password is wrong.')
    },
  },
  {
    name: 'login throttled',
    path: '/login',
    arrange: (s) => {
      s.loggedIn = false
      s.on('POST /api/v1/session', {
        status: 429,
        headers: { 'retry-after': '30' },
        body: problem(429, 'too_many_attempts', 'Too many attempts to log in.'),
      })
    },
    says: 'Log in to KubeOpera',
    act: async () => {
      await fillIn('admin', 'wrong')
      await expect.element(page.getByRole('alert')).toHaveTextContent(/^Too many attempts\. Try again in \d+ s\.$/)
    },
  },
  { name: 'overview empty', path: '/', says: 'KubeOpera has no host cluster yet' },
  {
    name: 'overview',
    path: '/',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'Clusters ready',
  },
  { name: 'clusters empty', path: '/clusters', says: 'Get Started' },
  {
    name: 'clusters one',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = [
        cluster({
          provider: 'unknown',
          region: 'unknown',
          phase: 'BootstrappingFlux',
          phases: stepsTo('BootstrappingFlux'),
          message:
            'Installing Flux v2.9.4: waiting for source-controller and kustomize-controller to become available.',
          nodes: { total: 1, ready: 1 },
        }),
      ]
    },
    says: 'BootstrappingFlux',
  },
  {
    name: 'clusters',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
  },
  {
    name: 'clusters phases',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByRole('button', { name: 'Phases of prod-payments-euw1' }).click()
      await expect.element(page.getByText('Creating the cloud infrastructure with Terraform.')).toBeVisible()
    },
  },
  {
    name: 'multi',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', { status: 200, body: multi() }),
    says: 'Average CPU',
  },
  {
    name: 'multi details',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', { status: 200, body: multi() }),
    says: 'Average CPU',
    act: async () => {
      await page.getByRole('link', { name: /^staging-ledger: unreachable/ }).hover()
      await expect.element(page.getByText('82 of 100', { exact: true })).toBeVisible()
    },
  },
  {
    name: 'multi empty',
    path: '/clusters/multi',
    arrange: (s) =>
      s.on('GET /api/v1/clusters/multi', { status: 200, body: { summary: summary({ total: 0 }), clusters: [] } }),
    says: 'There is nothing to compare yet',
  },
  {
    name: 'multi loading',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', 'never'),
    says: 'Loading the comparison',
  },
  {
    name: 'multi error',
    path: '/clusters/multi',
    arrange: (s) =>
      s.on('GET /api/v1/clusters/multi', {
        status: 422,
        body: problem(422, 'database', 'The database did not answer.', 'Check the disk it is on.'),
      }),
    says: 'The database did not answer. Check the disk it is on.',
  },
  {
    name: 'multi forbidden',
    path: '/clusters/multi',
    arrange: (s) =>
      s.on('GET /api/v1/clusters/multi', { status: 403, body: problem(403, 'forbidden', 'Your role may not.') }),
    says: 'You may not see this',
  },
  {
    name: 'multi stale',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', { status: 200, body: multi() }),
    says: 'Average CPU',
    act: async (s) => {
      await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
      s.streamAnswer = 'network error'
      s.dropStreams()
      await expect.element(page.getByText(/Showing data from/), { timeout: 10_000 }).toBeVisible()
    },
  },
  {
    name: 'clusters loading',
    path: '/clusters',
    arrange: (s) => s.on('GET /api/v1/clusters', 'never'),
    says: 'Loading clusters',
  },
  {
    name: 'clusters error',
    path: '/clusters',
    arrange: (s) =>
      s.on('GET /api/v1/clusters', {
        status: 422,
        body: problem(422, 'database', 'The database did not answer.', 'Check the disk it is on.'),
      }),
    says: 'The database did not answer. Check the disk it is on.',
  },
  {
    name: 'clusters forbidden',
    path: '/clusters',
    arrange: (s) =>
      s.on('GET /api/v1/clusters', {
        status: 403,
        body: problem(
          403,
          'forbidden',
          'Your role viewer may not list clusters.',
          'A platform administrator can change your role.',
        ),
      }),
    says: 'You may not see this',
  },
  {
    name: 'clusters kubernetes away',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = [cluster()]
      s.kubernetes = { available: false, reason: 'The API server at https://10.0.0.1:6443 refused the connection.' }
    },
    says: 'KubeOpera cannot reach its Kubernetes API',
  },
  {
    name: 'clusters stale',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = [cluster()]
    },
    says: 'kubeopera-host',
    act: async (s) => {
      await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
      s.streamAnswer = 'network error'
      s.on('GET /api/v1/clusters', 'network error')
      s.dropStreams()
      await expect.element(page.getByText(/Showing data from/), { timeout: 10_000 }).toBeVisible()
    },
  },
  { name: 'wizard register', path: '/clusters/new', says: 'Cluster Setup Wizard' },
  {
    name: 'wizard connect',
    path: '/clusters/new?way=connect',
    says: 'Paste it here, or choose or drop a file.',
  },
  {
    name: 'wizard connect checked',
    path: '/clusters/new?way=connect',
    arrange: (s) =>
      s.on('POST /api/v1/clusters/kubeconfig-check', {
        status: 200,
        body: { preferred: 'prod', contexts: contexts() },
      }),
    says: 'Supply a kubeconfig',
    act: async () => {
      await page.getByRole('textbox', { name: 'Kubeconfig' }).fill('kind: Config')
      await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
      await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
      await page.getByText('The same as a HostCluster resource').click()
      await page.getByRole('button', { name: 'Connect', exact: true }).click()
      await page.getByLabelText(/^Domain/).fill('https://prod')
      await page.getByLabelText(/^Name/).click()
      await expect.element(page.getByText(/^Enter a host name/)).toBeVisible()
    },
  },
  {
    name: 'wizard create',
    path: '/clusters/new?way=create',
    arrange: (s) => {
      s.on('GET /api/v1/catalogue', { status: 200, body: catalogue })
      s.on('GET /api/v1/catalogue/aws/af-south-1/instance-types', { status: 200, body: { items: instanceTypes } })
      s.on('GET /api/v1/credentials', list([credential()]))
      s.on('POST /api/v1/clusters/estimate', {
        status: 200,
        body: {
          monthly: 91.2,
          items: [
            {
              what: 'Control-plane nodes',
              count: 1,
              monthly: 30.4,
              basis: 't3.medium at $0.0416 an hour (list price)',
            },
            { what: 'Nodes', count: 2, monthly: 60.8, basis: 't3.medium at $0.0416 an hour (list price)' },
          ],
          not_priced: ['The NAT gateway, public IP addresses, logs, and what goes over the network.'],
        },
      })
    },
    says: 'Vanilla Kubernetes',
    act: async () => {
      await page.getByRole('radio', { name: 'AWS · Vanilla Kubernetes' }).click()
      await page.getByLabelText('Region').selectOptions('af-south-1')
      await page.getByLabelText('Kubernetes version').selectOptions('1.34.11')
      await page.getByRole('button', { name: 'Create cluster' }).click()
      await expect.element(page.getByText('Choose a credential.')).toBeVisible()
      await expect.element(page.getByText('$91')).toBeVisible()
    },
  },
  {
    name: 'clusters measured',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = measured()
    },
    says: 'prod-payments-euw1',
  },
  {
    name: 'clusters list',
    path: '/clusters?view=list&sort=health',
    arrange: (s) => {
      s.clusters = measured()
    },
    says: 'prod-payments-euw1',
  },
  {
    name: 'clusters none match',
    path: '/clusters?q=nothing',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'No clusters match these filters.',
  },
  {
    name: 'cluster to edit',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet().map((cluster) => ({ ...cluster, labels: { env: 'prod', 'acme.com/team': 'payments' } }))
    },
    says: 'oslo-edge-lab',
    act: async () => {
      await page.getByRole('button', { name: 'Actions for oslo-edge-lab' }).click()
      await page.getByRole('menuitem', { name: 'Edit name and labels…' }).click()
      await page.getByLabelText('Key 1').fill('not a key')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.element(page.getByText(/^Use letters, digits/)).toBeVisible()
    },
  },
  {
    name: 'kubeconfig to replace',
    path: '/clusters/c-3',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('POST /api/v1/clusters/kubeconfig-check', {
        status: 200,
        body: { preferred: null, contexts: contexts() },
      })
    },
    says: 'staging-ledger',
    act: async () => {
      await page.getByRole('button', { name: 'Actions for staging-ledger' }).click()
      await page.getByRole('menuitem', { name: 'Replace kubeconfig…' }).click()
      await page.getByRole('textbox', { name: 'Kubeconfig' }).fill('kind: Config')
      await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
      await expect.element(page.getByText('This leads to another cluster than staging-ledger.')).toBeVisible()
    },
  },
  {
    name: 'cluster',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'oslo-edge-lab',
  },
  {
    name: 'cluster monitored',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('GET /api/v1/clusters/c-4/monitor', { status: 200, body: monitored() })
    },
    says: '27.5 points lost.',
  },
  {
    name: 'cluster monitored in part',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
      const body = monitored({
        freshness: {
          as_of: minutesAgo(12),
          unreachable: { since: minutesAgo(11), reason: 'The API server did not answer within 10 s.' },
        },
        health: null,
        nodes: null,
        usage: null,
        cost: null,
        events: { items: [], more: 0, not_readable: 'KubeOpera may not list events on this cluster.' },
      })
      s.on('GET /api/v1/clusters/c-4/monitor', { status: 200, body })
    },
    says: 'Events cannot be read',
  },
  {
    name: 'cluster monitor loading',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('GET /api/v1/clusters/c-4/monitor', 'never')
    },
    says: 'Loading how the cluster is',
  },
  {
    name: 'cluster monitor error',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('GET /api/v1/clusters/c-4/monitor', {
        status: 422,
        body: problem(422, 'database', 'The database did not answer.', 'Check the disk it is on.'),
      })
    },
    says: 'The database did not answer. Check the disk it is on.',
  },
  {
    name: 'cluster monitor forbidden',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('GET /api/v1/clusters/c-4/monitor', {
        status: 403,
        body: problem(403, 'forbidden', 'Your role does not allow this.'),
      })
    },
    says: 'Your role does not allow this.',
  },
  {
    name: 'cluster failed',
    path: '/clusters/c-2',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'attempts failed',
  },
  { name: 'cluster gone', path: '/clusters/none', says: 'KubeOpera has no such cluster' },
  {
    name: 'cluster loading',
    path: '/clusters/c-4',
    arrange: (s) => s.on('GET /api/v1/clusters/c-4', 'never'),
    says: 'Loading',
  },
  {
    name: 'cluster error',
    path: '/clusters/c-4',
    arrange: (s) =>
      s.on('GET /api/v1/clusters/c-4', {
        status: 403,
        body: problem(403, 'forbidden', 'Your role does not allow this.'),
      }),
    says: 'You may not see this',
  },
  {
    name: 'cluster menu',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByRole('button', { name: 'Actions for prod-payments-euw1' }).click()
      await expect.element(page.getByRole('menuitem', { name: 'Delete…' })).toBeVisible()
    },
  },
  {
    name: 'disconnect',
    path: '/clusters/c-3',
    arrange: (s) => {
      s.clusters = fleet()
      s.on('GET /api/v1/clusters/c-3/disconnect', { status: 200, body: disconnection })
    },
    says: 'staging-ledger',
    act: async () => {
      await page.getByRole('button', { name: 'Actions for staging-ledger' }).click()
      await page.getByRole('menuitem', { name: 'Disconnect…' }).click()
      await expect.element(page.getByText('What stays')).toBeVisible()
    },
  },
  {
    name: 'delete',
    path: '/clusters/c-2',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByRole('button', { name: 'Actions for prod-payments-euw1' }).click()
      await page.getByRole('menuitem', { name: 'Delete…' }).click()
      await page.getByLabelText('Name of the cluster').fill('prod')
      await page.getByRole('button', { name: 'Delete cluster' }).click()
      await expect.element(page.getByText('This is not the name of the cluster.')).toBeVisible()
    },
  },
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
    name: 'account not answered',
    path: '/settings/account',
    arrange: (s) => s.on('GET /api/v1/sessions', 'never'),
    says: 'Nothing answers GET /api/v1/tokens.',
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
  {
    name: 'palette',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'prod-payments-euw1',
    act: async () => {
      await page.getByRole('button', { name: 'Search or jump to' }).click()
      await page.getByRole('combobox', { name: 'Search or jump to' }).fill('pro')
      await expect.element(page.getByRole('option', { name: /^prod-payments-euw1/ })).toBeVisible()
    },
  },
  {
    name: 'cluster stale',
    path: '/clusters/c-4',
    arrange: (s) => {
      s.clusters = fleet().map((cluster) => ({ ...cluster, stale_since: entry.created_at }))
    },
    says: 'oslo-edge-lab',
    act: async (s) => {
      await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
      await expect.element(page.getByText('KubeOpera cannot reach its Kubernetes API')).toBeVisible()
      s.streamAnswer = 'network error'
      s.on('GET /api/v1/clusters/c-4', 'network error')
      s.dropStreams()
      await expect.element(page.getByText(/Showing data from/), { timeout: 10_000 }).toBeVisible()
    },
  },
  {
    name: 'credentials forbidden',
    path: '/settings/credentials',
    arrange: (s) =>
      s.on('GET /api/v1/credentials', {
        status: 403,
        body: problem(403, 'forbidden', 'Your role does not allow this.', 'Ask a platform administrator.'),
      }),
    says: 'Your role does not allow this.',
  },
  {
    name: 'audit empty',
    path: '/settings/audit',
    arrange: (s) => s.on('GET /api/v1/audit', list([])),
    says: 'Nothing has been done so far.',
  },
  {
    name: 'wizard for who may look',
    path: '/clusters/new?way=create',
    arrange: (s) =>
      s.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } }),
    says: 'which only platform administrators can use',
  },
  { name: 'missing page', path: '/nowhere', says: 'There is no page here' },
  {
    name: 'already registered',
    path: '/clusters/new',
    arrange: (s) => {
      s.clusters = [cluster()]
      s.on('POST /api/v1/clusters/register', () => ({ status: 200, body: s.clusters[0] }))
    },
    says: 'Cluster Setup Wizard',
    act: async () => {
      await page.getByRole('button', { name: 'Register This Cluster' }).click()
      await expect.element(page.getByRole('dialog')).toBeVisible()
    },
  },
  {
    name: 'register failed',
    path: '/clusters',
    arrange: (s) =>
      s.on('POST /api/v1/clusters/register', {
        status: 503,
        body: problem(
          503,
          'kubernetes_away',
          'The Kubernetes API server did not answer in time.',
          'Try again in a moment.',
        ),
      }),
    says: 'Get Started',
    act: async () => {
      await page.getByRole('button', { name: 'Register This Cluster' }).click()
      await expect.element(page.getByRole('alert')).toHaveTextContent('This cluster was not registered')
    },
  },
  {
    name: 'server away',
    path: '/clusters',
    arrange: (s) => s.on('GET /api/v1/session', 'network error'),
    says: 'KubeOpera is not answering',
  },
  {
    name: 'account menu',
    path: '/clusters',
    says: 'Get Started',
    act: async () => {
      await page.getByRole('button', { name: 'Account of admin' }).click()
      await expect.element(page.getByRole('menuitem', { name: 'Log out' })).toBeVisible()
    },
  },
]

async function fillIn(username: string, password: string) {
  await page.getByLabelText('Username').fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** A popup that has just opened begins invisible, also for people who want no motion. */
async function settled() {
  await expect.poll(() => document.querySelector('[data-starting-style], [data-ending-style]')).toBeNull()
}

const shots = import.meta.env.VITE_SHOTS
const only = import.meta.env.VITE_STATE

for (const theme of ['light', 'dark'] as const)
  for (const width of [1440, 390])
    describe(`${theme}, ${width} px`, () => {
      for (const { name, path, arrange, says, act } of states.filter((state) => !only || state.name === only))
        test(`${name} has no accessibility violation and does not scroll sideways`, async () => {
          await page.viewport(width, width === 390 ? 844 : 900)
          chooseTheme(theme)
          const server = new Server()
          arrange?.(server)
          await open(path)
          await expect.element(page.getByText(says).first()).toBeInTheDocument()
          await act?.(server)
          await settled()
          if (shots) await page.screenshot({ path: `${shots}/${name.replaceAll(' ', '-')}-${theme}-${width}.png` })
          // A portalled popup lies outside the landmarks while it is open, on purpose.
          const { violations } = await axe.run(document, { rules: { region: { enabled: !act } } })
          expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}: ${nodes[0]?.failureSummary}`)).toEqual([])
          expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
        })
    })
