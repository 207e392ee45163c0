import { expect } from 'vitest'
import { page } from 'vitest/browser'
import {
  auditEntry,
  catalogue,
  cluster,
  credential,
  disconnection,
  fleet,
  instanceTypes,
  person,
  problem,
  session,
} from '../fixtures'
import { type Server, steerTime } from '../kubeopera'
import { monitored, multi, summary } from '../monitor-fixtures'
import { magnified, render, type State, wide } from './state'

/** Five states that each view has, or the reason why one of them cannot come about. */
const kinds = ['loading', 'empty', 'error', 'forbidden', 'stale'] as const

interface View {
  name: string
  path: string
  /** The question that the view lives by. */
  asks: string
  answer: unknown
  /** The view while that answer is there. */
  shows: string
  loading: string
  empty: { answer: unknown; status?: number; says: string } | { never: string }
  /** How it comes to be old: the stream breaks off, or asking again fails. */
  stale: 'stream' | 'asking again' | { never: string }
  /** What else has to be there. */
  beside?: (server: Server) => void
  /** The way to it from the page. */
  way?: () => Promise<void>
}

const list = (...items: unknown[]) => ({ items, next_cursor: null })
const clusters = (...items: unknown[]) => ({ ...list(...items), kubernetes: { available: true, reason: null } })

const away = { status: 422, body: problem(422, 'database', 'The database did not answer.', 'Check the disk it is on.') }
const refused = {
  status: 403,
  body: problem(403, 'forbidden', 'Your role does not allow this.', 'Ask a platform administrator.'),
}

const someSession = {
  id: 'e-1',
  user: session.user.id,
  label: 'CI pipeline',
  address: '2001:db8::42',
  current: true,
  created_at: new Date(Date.now() - 86_400_000).toISOString(),
  last_seen_at: new Date(Date.now() - 60_000).toISOString(),
  last_used_at: null,
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
}

const views: View[] = [
  {
    name: 'overview',
    path: '/',
    asks: 'GET /api/v1/clusters',
    answer: clusters(...fleet()),
    shows: 'Clusters ready',
    loading: 'Loading',
    empty: { answer: clusters(), says: 'KubeOpera has no host cluster yet' },
    stale: 'stream',
  },
  {
    name: 'clusters',
    path: '/clusters',
    asks: 'GET /api/v1/clusters',
    answer: clusters(...fleet()),
    shows: 'oslo-edge-lab',
    loading: 'Loading clusters',
    empty: { answer: clusters(), says: 'Get Started' },
    stale: 'stream',
  },
  {
    name: 'multi-cluster view',
    path: '/clusters/multi',
    asks: 'GET /api/v1/clusters/multi',
    answer: multi(),
    shows: 'Average CPU',
    loading: 'Loading the comparison',
    empty: { answer: { summary: summary({ total: 0 }), clusters: [] }, says: 'There is nothing to compare yet' },
    stale: 'stream',
  },
  {
    name: 'cluster',
    path: '/clusters/c-4',
    asks: 'GET /api/v1/clusters/c-4',
    answer: cluster({ id: 'c-4', name: 'oslo-edge-lab' }),
    shows: 'oslo-edge-lab',
    loading: 'Loading',
    empty: {
      status: 404,
      answer: problem(404, 'no_such_cluster', 'There is no such cluster.'),
      says: 'KubeOpera has no such cluster',
    },
    stale: 'stream',
  },
  {
    name: 'health of a cluster',
    path: '/clusters/c-4',
    asks: 'GET /api/v1/clusters/c-4/monitor',
    answer: monitored(),
    shows: '27.5 points lost.',
    loading: 'Loading how the cluster is',
    empty: {
      answer: monitored({ health: null, nodes: null, freshness: { as_of: null, unreachable: null } }),
      says: 'KubeOpera has not read this cluster yet',
    },
    stale: 'asking again',
    beside: (s) => {
      s.clusters = fleet()
    },
  },
  {
    name: 'what a disconnection takes away',
    path: '/clusters/c-4',
    asks: 'GET /api/v1/clusters/c-4/disconnect',
    answer: disconnection,
    shows: 'What goes',
    loading: 'Loading what goes and what stays',
    empty: { never: 'The HostCluster resource always goes.' },
    stale: { never: 'It is asked for each time the dialog opens.' },
    beside: (s) => {
      s.clusters = fleet()
    },
    way: async () => {
      await page.getByRole('button', { name: 'Actions for oslo-edge-lab' }).click()
      await page.getByRole('menuitem', { name: 'Disconnect…' }).click()
    },
  },
  {
    name: 'catalogue of Create New',
    path: '/clusters/new?way=create',
    asks: 'GET /api/v1/catalogue',
    answer: catalogue,
    shows: 'Vanilla Kubernetes',
    loading: 'Loading what can be created',
    empty: { never: 'The catalogue is part of KubeOpera.' },
    stale: { never: 'The catalogue changes with KubeOpera only.' },
    beside: (s) => {
      s.on('GET /api/v1/credentials', { status: 200, body: list(credential()) })
      s.on('GET /api/v1/catalogue/aws/af-south-1/instance-types', { status: 200, body: { items: instanceTypes } })
    },
  },
  {
    name: 'sessions',
    path: '/settings/account',
    asks: 'GET /api/v1/sessions',
    answer: list(someSession),
    shows: '2001:db8::42',
    loading: 'Loading sessions',
    empty: { never: 'There is at least the session that asks.' },
    stale: 'asking again',
    beside: (s) => s.on('GET /api/v1/tokens', { status: 200, body: list() }),
  },
  {
    name: 'tokens',
    path: '/settings/account',
    asks: 'GET /api/v1/tokens',
    answer: list(someSession),
    shows: 'CI pipeline',
    loading: 'Loading tokens',
    empty: { answer: list(), says: 'You have no tokens.' },
    stale: 'asking again',
    beside: (s) => s.on('GET /api/v1/sessions', { status: 200, body: list(someSession) }),
  },
  {
    name: 'people',
    path: '/settings/people',
    asks: 'GET /api/v1/users',
    answer: list(person({})),
    shows: 'olga',
    loading: 'Loading people',
    empty: { never: 'There is at least the person who asks.' },
    stale: 'asking again',
  },
  {
    name: 'cloud credentials',
    path: '/settings/credentials',
    asks: 'GET /api/v1/credentials',
    answer: list(credential()),
    shows: 'acme-platform',
    loading: 'Loading credentials',
    empty: { answer: list(), says: 'There are none.' },
    stale: 'asking again',
  },
  {
    name: 'Git repository',
    path: '/settings/git',
    asks: 'GET /api/v1/settings/git',
    answer: {
      url: 'https://git.acme.com/gitops-iac.git',
      branch: 'trees',
      is_built_in: false,
      is_chosen: true,
      changed_at: null,
      credential: null,
      credentials_secret: 'git',
    },
    shows: 'https://git.acme.com/gitops-iac.git',
    loading: 'Loading the Git repository',
    empty: { never: 'KubeOpera does not start without a repository.' },
    stale: 'asking again',
    beside: (s) => s.on('GET /api/v1/settings/registry', { status: 200, body: { credential: null } }),
  },
  {
    name: 'registry',
    path: '/settings/git',
    asks: 'GET /api/v1/settings/registry',
    answer: { credential: { server: 'registry.acme.com:5000', username: 'kubeopera' } },
    shows: 'registry.acme.com:5000',
    loading: 'Loading the registry',
    empty: { answer: { credential: null }, says: 'without a credential' },
    stale: 'asking again',
    beside: (s) => s.on('GET /api/v1/settings/git', 'never'),
  },
  {
    name: 'audit log',
    path: '/settings/audit',
    asks: 'GET /api/v1/audit',
    answer: list(auditEntry({ position: 1, object_name: 'prod-payments-euw1' })),
    shows: 'prod-payments-euw1',
    loading: 'Loading the audit log',
    empty: { answer: list(), says: 'Nothing has been done so far.' },
    stale: 'asking again',
  },
]

function stateOf(view: View, kind: (typeof kinds)[number]): State | null {
  const { name, path, asks, beside, way } = view
  const state = (says: string | RegExp, arrange: (server: Server) => void, act?: State['act']): State => ({
    name: `${name} ${kind}`,
    path,
    says: way ? /./ : says,
    arrange: (server) => {
      beside?.(server)
      arrange(server)
    },
    act:
      way || act
        ? async (server, opened) => {
            await way?.()
            await expect.element(page.getByText(says).first()).toBeInTheDocument()
            await act?.(server, opened)
          }
        : undefined,
  })
  switch (kind) {
    case 'loading':
      return state(view.loading, (server) => server.on(asks, 'never'))
    case 'error':
      return state('The database did not answer. Check the disk it is on.', (server) => server.on(asks, away))
    case 'forbidden':
      return state(/You may not see this|Your role does not allow this\./, (server) => server.on(asks, refused))
    case 'empty': {
      if ('never' in view.empty) return null
      const { says, status = 200, answer } = view.empty
      return state(says, (server) => server.on(asks, { status, body: answer }))
    }
    case 'stale': {
      const { stale } = view
      if (typeof stale !== 'string') return null
      let pass: ReturnType<typeof steerTime>
      return state(
        view.shows,
        (server) => {
          pass = steerTime()
          server.on(asks, { status: 200, body: view.answer })
        },
        async (server, { queryClient }) => {
          if (stale === 'stream') {
            await expect.element(page.getByText('Live', { exact: true })).toBeInTheDocument()
            server.streamAnswer = 'network error'
            server.on(asks, 'network error')
            server.dropStreams()
            await pass(5_000)
            await expect.element(page.getByText(/Showing data from/)).toBeVisible()
          } else {
            server.on(asks, away)
            void queryClient.invalidateQueries()
            await pass(1_000)
            await expect.element(page.getByText(/This is as it was/).first()).toBeVisible()
          }
          // What was there is there still.
          await expect.element(page.getByText(view.shows).first()).toBeInTheDocument()
        },
      )
    }
  }
}

render(
  views.flatMap((view) => kinds.flatMap((kind) => stateOf(view, kind) ?? [])),
  [magnified, wide],
)
