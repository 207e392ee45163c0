import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { contexts, fleet } from '../fixtures'
import { minutesAgo, monitored } from '../monitor-fixtures'
import { render } from './state'

render([
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
    name: 'cluster failed',
    path: '/clusters/c-2',
    arrange: (s) => {
      s.clusters = fleet()
    },
    says: 'attempts failed',
  },
  {
    name: 'cluster that had failed attempts',
    path: '/clusters/c-4',
    arrange: (s) => {
      const at = new Date(Date.now() - 180_000).toISOString()
      const message = 'The API server does not answer. Look with `kubectl get --raw /readyz`.'
      s.clusters = fleet().map((cluster) => ({
        ...cluster,
        phases: cluster.phases.map((step) => ({
          ...step,
          failed_attempts: { count: 3, first_at: at, last_at: at, message },
        })),
      }))
    },
    says: /3 attempts failed first/,
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
])
