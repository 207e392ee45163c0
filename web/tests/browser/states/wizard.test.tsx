import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { catalogue, cluster, contexts, credential, instanceTypes, session } from '../fixtures'
import { render } from './state'

const list = (items: unknown[]) => ({ status: 200, body: { items, next_cursor: null } })

render([
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
    name: 'wizard for who may look',
    path: '/clusters/new?way=create',
    arrange: (s) =>
      s.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } }),
    says: 'which only platform administrators can use',
  },
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
])
