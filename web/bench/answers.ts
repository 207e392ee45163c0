import { cluster, session } from '../tests/browser/fixtures.ts'
import { row, summary } from '../tests/browser/monitor-fixtures.ts'

export const CLUSTERS = 500

const one = (index: number) => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  name: `cluster-${(index * 7919) % CLUSTERS}`,
  is_host: index === 0,
  health: { score: (index * 31 + 7) % 100, colour: (['red', 'amber', 'green'] as const)[index % 3] ?? 'green' },
})
const usage = (index: number) => ({
  percent: (index * 37) % 100,
  used: ((index * 37) % 100) * 160,
  allocatable: 16_000,
})
const all = Array.from({ length: CLUSTERS }, (_, index) => index)

/** What the API answers: many clusters, all of them measured. */
export const answers = {
  '/api/v1/session': session,
  '/api/v1/session/ways': { password: true, oidc: null },
  '/api/v1/clusters': {
    items: all.map((index) => cluster({ ...one(index), cpu: usage(index), memory: usage(index + 3) })),
    next_cursor: null,
    kubernetes: { available: true, reason: null },
  },
  '/api/v1/clusters/multi': {
    summary: summary({ total: CLUSTERS }),
    clusters: all.map((index) => row({ ...one(index), cpu: usage(index), memory: usage(index + 3) })),
  },
}
