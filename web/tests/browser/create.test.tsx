import { beforeEach, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { catalogue, cluster, credential, instanceTypes, problem, session, stepsTo } from './fixtures'
import { open, Server } from './kubeopera'

const CREATE = 'POST /api/v1/clusters/create'
const field = (name: string) => page.getByLabelText(new RegExp(`^${name}`))
const create = page.getByRole('button', { name: 'Create cluster' })
const summary = page.getByRole('complementary', { name: 'Before you create it' })

beforeEach(() => sessionStorage.clear())

function serving() {
  const server = new Server()
  server.on('GET /api/v1/catalogue', { status: 200, body: catalogue })
  server.on('GET /api/v1/catalogue/aws/eu-north-1/instance-types', { status: 200, body: { items: instanceTypes } })
  server.on('GET /api/v1/catalogue/gcp/europe-north1/instance-types', {
    status: 200,
    body: { items: [{ ...instanceTypes[1], name: 'e2-standard-2', family: 'e2' }] },
  })
  server.on('GET /api/v1/credentials', {
    status: 200,
    body: {
      items: [credential(), credential({ id: 'k-2', label: 'acme-gcp', type: 'gcp_service_account_key' })],
      next_cursor: null,
    },
  })
  server.on('POST /api/v1/clusters/estimate', async (request) => {
    const { node_count } = await request.json()
    return {
      status: 200,
      body: {
        monthly: 30 * node_count,
        items: [{ what: 'Nodes', count: node_count, monthly: 30 * node_count, basis: 't3.medium at $0.0416 an hour' }],
        not_priced: ['What goes over the network.'],
      },
    }
  })
  return server
}

async function fillIn() {
  await page.getByRole('radio', { name: 'AWS · Vanilla Kubernetes' }).click()
  await page.getByRole('radio', { name: 'acme-platform' }).click()
  await field('Name').fill('prod')
  await field('Region').selectOptions('eu-north-1')
}

const prod = () =>
  cluster({
    id: 'c-9',
    name: 'prod',
    is_host: false,
    mode: 'provision_vanilla',
    phase: 'Pending',
    phases: stepsTo('Pending'),
  })

test('a cluster is created from what was chosen, with its cost and warnings seen before', async () => {
  const server = serving()
  let sent: { body: Record<string, unknown>; key: string | null } | undefined
  server.on(CREATE, async (request) => {
    sent = { body: await request.json(), key: request.headers.get('idempotency-key') }
    server.clusters = [prod()]
    return { status: 201, body: prod() }
  })
  await open('/clusters/new?way=create')
  await fillIn()
  await expect.element(field('Kubernetes version')).toHaveValue('1.36.4')
  await expect.element(field('Size of each node')).toHaveValue('t3.medium')
  await expect.element(summary.getByText('$60', { exact: true }).first()).toBeVisible()
  await expect.element(summary.getByText('What goes over the network.')).toBeVisible()
  await expect.element(summary.getByText(/With one control-plane node/)).toBeVisible()
  await field('Control-plane nodes').selectOptions('3')
  await expect.element(summary.getByText(/With one control-plane node/)).not.toBeInTheDocument()
  await field('Nodes').fill('5')
  await expect.element(summary.getByText('$150', { exact: true }).first()).toBeVisible()
  await create.click()
  await expect.element(page.getByRole('article', { name: 'prod' })).toHaveFocus()
  await expect.element(page.getByText('Creating prod')).toBeVisible()
  expect(sent?.key).toMatch(/^[0-9a-f]{32}$/)
  expect(sent?.body).toMatchObject({
    name: 'prod',
    provider: 'aws',
    topology: 'vanilla_kubeadm',
    region: 'eu-north-1',
    kubernetes_version: '1.36.4',
    node_count: 5,
    instance_type: 't3.medium',
    control_plane_count: 3,
    credential_id: 'k-1',
  })
})

test('control planes are chosen for kubeadm only, and another cloud has other credentials and regions', async () => {
  serving()
  await open('/clusters/new?way=create')
  await fillIn()
  await expect.element(field('Control-plane nodes')).toBeVisible()
  await page.getByRole('radio', { name: 'GCP · Managed (GKE)' }).click()
  await expect.element(field('Control-plane nodes')).not.toBeInTheDocument()
  await expect.element(page.getByRole('radio', { name: 'acme-gcp' })).toBeVisible()
  await expect.element(page.getByRole('radio', { name: 'acme-platform' })).not.toBeInTheDocument()
  await expect.element(field('Region')).toHaveValue('')
  await expect.element(field('Kubernetes version')).toHaveValue('1.36')
  await expect.element(field('Name')).toHaveValue('prod')
})

test('what is missing is said where it is missing, in the order of the form, and nothing is sent', async () => {
  const server = serving()
  await open('/clusters/new?way=create')
  await create.click()
  await expect.element(page.getByText('Choose what to build.')).toBeVisible()
  await page.getByRole('radio', { name: 'AWS · Managed (EKS)' }).click()
  await create.click()
  await expect.element(page.getByText('Choose a credential.')).toBeVisible()
  await page.getByRole('radio', { name: 'acme-platform' }).click()
  await field('Nodes').fill('0')
  await create.click()
  await expect.element(field('Name')).toHaveFocus()
  await expect.element(page.getByText('Choose a region.', { exact: true })).toBeVisible()
  await expect.element(page.getByText('Enter a whole number of at least 1.')).toBeVisible()
  await field('Nodes').fill('501')
  await expect.element(page.getByText('At most 500 nodes can be created.')).toBeVisible()
  expect(server.requests).not.toContain(CREATE)
})

test('a credential that is added here is chosen at once', async () => {
  const server = serving()
  server.on('POST /api/v1/credentials', {
    status: 201,
    body: { credential: credential({ id: 'k-9', label: 'fresh' }), external_id: null },
  })
  await open('/clusters/new?way=create')
  await page.getByRole('radio', { name: 'AWS · Managed (EKS)' }).click()
  await page.getByRole('button', { name: 'Add a credential' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabelText('Label').fill('fresh')
  await dialog.getByLabelText('Access key ID').fill('AKIAIOSFODNN7EXAMPLE')
  await dialog.getByLabelText('Secret access key').fill('x'.repeat(40))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(page.getByRole('radio', { name: 'fresh' })).toBeChecked()
  expect(JSON.stringify({ ...sessionStorage })).not.toContain('x'.repeat(40))
})

test('a refusal of the server lands on its field, also where that is a choice', async () => {
  const server = serving()
  server.on(CREATE, {
    status: 422,
    body: { ...problem(422, 'gke_name_too_long', 'On GKE a name has at most 31 characters.'), field: 'name' },
  })
  await open('/clusters/new?way=create')
  await fillIn()
  await expect.element(field('Size of each node')).toHaveValue('t3.medium')
  await create.click()
  await expect.element(field('Name')).toHaveAccessibleDescription(/On GKE a name has at most 31 characters\./)
  server.on(CREATE, {
    status: 422,
    body: { ...problem(422, 'no_such_credential', 'This credential is gone.'), field: 'credential_id' },
  })
  await field('Name').fill('other')
  await create.click()
  await expect.element(page.getByText('This credential is gone.')).toBeVisible()
})

test('what was chosen survives a reload', async () => {
  serving()
  const { screen } = await open('/clusters/new?way=create')
  await fillIn()
  await expect.element(field('Size of each node')).toHaveValue('t3.medium')
  await screen.unmount()
  await open('/clusters/new?way=create')
  await expect.element(page.getByRole('radio', { name: 'AWS · Vanilla Kubernetes' })).toBeChecked()
  await expect.element(page.getByRole('radio', { name: 'acme-platform' })).toBeChecked()
  await expect.element(field('Region')).toHaveValue('eu-north-1')
  await expect.element(field('Size of each node')).toHaveValue('t3.medium')
})

test('the request that the form sends is shown for a terminal, with the token in no command line', async () => {
  serving()
  await open('/clusters/new?way=create')
  await fillIn()
  await page.getByText('The same from a terminal').click()
  const block = page.getByText('curl --fail-with-body')
  await expect.element(block).toHaveTextContent(`'${location.origin}/api/v1/clusters/create'`)
  await expect.element(block).toHaveTextContent('"credential_id": "k-1"')
  await expect.element(block).toHaveTextContent(`--header @<(printf 'Authorization: Bearer %s' "$TOKEN")`)
  expect(JSON.parse(/<<'EOF'\n([\s\S]*)\nEOF$/.exec(block.element().textContent ?? '')?.[1] ?? '')).toMatchObject({
    topology: 'vanilla_kubeadm',
    control_plane_count: 1,
  })
  await page.getByRole('radio', { name: 'AWS · Managed (EKS)' }).click()
  await expect.element(block).toHaveTextContent('"control_plane_count": null')
})

test('the resource is shown that KubeOpera writes, and that applying one like it leads nowhere', async () => {
  serving()
  await open('/clusters/new?way=create')
  await fillIn()
  await page.getByText('The same from a terminal').click()
  await expect
    .element(page.getByText(/Applied with kubectl, .* ends in Failed with CredentialNotPermitted/))
    .toBeVisible()
  const block = page.getByText('kind: HostCluster')
  await expect.element(block).toHaveTextContent('mode: provision_vanilla')
  await expect.element(block).toHaveTextContent('controlPlaneCount: 1')
  await expect.element(block).toHaveTextContent('credentialRef: "k-1"')
  await expect.element(block).not.toHaveTextContent('kubectl')
  await page.getByRole('radio', { name: 'AWS · Managed (EKS)' }).click()
  await expect.element(block).toHaveTextContent('mode: provision_eks')
  await expect.element(block).not.toHaveTextContent('controlPlaneCount')
})

test('who is no platform administrator is told who is to be asked', async () => {
  const server = serving()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'operator' } } })
  await open('/clusters/new?way=create')
  await expect.element(page.getByText(/which only platform administrators can use/)).toBeVisible()
  expect(server.requests).not.toContain('GET /api/v1/credentials')
})
