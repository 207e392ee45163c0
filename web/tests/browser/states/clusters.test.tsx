import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { cluster, disconnection, fleet, problem, stepsTo } from '../fixtures'
import { render } from './state'

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

render([
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
    name: 'clusters kubernetes away',
    path: '/clusters',
    arrange: (s) => {
      s.clusters = [cluster()]
      s.kubernetes = { available: false, reason: 'The API server at https://10.0.0.1:6443 refused the connection.' }
    },
    says: 'KubeOpera cannot reach its Kubernetes API',
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
])
