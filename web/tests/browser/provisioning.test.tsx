import axe from 'axe-core'
import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import type { ClusterProvisioning, ProvisioningLog } from '@/api/model'
import { chooseTheme } from '@/theme'
import { cluster, fleet, problem, session } from './fixtures'
import { open, Server, steerTime } from './kubeopera'

const LEDGER = 'GET /api/v1/clusters/c-2/provisioning'
const LOG = 'GET /api/v1/clusters/c-2/provisioning/log'
const GIVE_UP = 'POST /api/v1/clusters/c-2/provisioning/give-up'
const infrastructure = page.getByRole('region', { name: 'Infrastructure' })
const section = page.getByRole('region', { name: 'Provisioning log' })
const lines = page.getByRole('log', { name: 'Lines of the provisioning log' })
const minuteAgo = () => new Date(Date.now() - 60_000).toISOString()

const resource = (change: Partial<ClusterProvisioning['resources'][number]>) => ({
  address: 'module.network.aws_vpc.this',
  what: 'the network',
  id: 'arn:aws:ec2:eu-west-1:1:vpc/vpc-1',
  gone_at: null,
  monthly: 0,
  ...change,
})

const provisioning = (change: Partial<ClusterProvisioning> = {}): ClusterProvisioning => ({
  run: 'create-2',
  state: 'running',
  message: 'Creating the nodes (3 of 41 resources done, 6 min).',
  resources: [
    resource({ address: 'aws_eip.nat', what: 'an IP address', id: '', gone_at: minuteAgo() }),
    resource({}),
    resource({ address: 'aws_eks_cluster.this', what: 'the EKS control plane', id: 'arn:eks', monthly: 73 }),
    resource({ address: 'aws_nat_gateway.this', what: 'the NAT gateway', id: 'nat-1', monthly: null }),
  ],
  left: 3,
  left_monthly: 73,
  left_not_priced: 1,
  ended_at: null,
  ...change,
})

const said = (...texts: string[]) => texts.map((text) => ({ at: '2026-11-30T15:04:05Z', text }))
const log = (change: Partial<ProvisioningLog> = {}): ProvisioningLog => ({
  from: 0,
  next: 100,
  is_live: true,
  lines: said('Run create-2 begins.', 'aws_vpc.this: Creating... <img src=x onerror=alert(1)>'),
  ...change,
})

function serving() {
  const server = new Server()
  server.clusters = fleet()
  server.on(LEDGER, { status: 200, body: provisioning() })
  server.on(LOG, { status: 200, body: log() })
  return server
}

test('what there is in the cloud is listed with its price, before what is gone', async () => {
  serving()
  await open('/clusters/c-2')
  await expect.element(infrastructure).toHaveTextContent('Creating the nodes (3 of 41 resources done, 6 min).')
  await expect
    .element(infrastructure)
    .toHaveTextContent('3 in the cloud, 1 gone. $73.00 a month at list prices, and 1 without a known price.')
  const items = infrastructure.getByRole('listitem')
  await expect.element(items.nth(0)).toHaveTextContent(/The network.*Free.*module\.network\.aws_vpc\.this/)
  await expect.element(items.nth(1)).toHaveTextContent(/The EKS control plane.*\$73\.00 a month/)
  await expect.element(items.nth(2)).toHaveTextContent(/The NAT gateway.*Not priced/)
  await expect.element(items.nth(3)).toHaveTextContent(/An IP address.*Gone 1.min ago/)
})

test('the log shows what is said as it is said, and fetches only what is new', async () => {
  const pass = steerTime()
  const server = serving()
  const asked: string[] = []
  server.on(LOG, (request) => {
    asked.push(new URL(request.url).search)
    const isFirst = asked.length === 1
    return {
      status: 200,
      body: isFirst ? log() : log({ from: 100, next: 150, is_live: false, lines: said('Apply complete!') }),
    }
  })
  await open('/clusters/c-2')
  await expect.element(lines).toHaveTextContent('Run create-2 begins.')
  await expect.element(lines).toHaveTextContent('Creating... <img src=x onerror=alert(1)>')
  await expect.element(section).toHaveTextContent('As it is said.')
  await pass(5_000)
  await expect.element(lines).toHaveTextContent('Apply complete!')
  await expect.element(lines).toHaveTextContent('Run create-2 begins.')
  await expect.element(section).toHaveTextContent('No run is at work.')
  expect(asked).toEqual(['', '?from=100'])
})

test('a log can be paused, is copied whole, is reached by keyboard, and is quiet for those who listen', async () => {
  const pass = steerTime()
  const server = serving()
  await open('/clusters/c-2')
  await section.getByRole('button', { name: 'Pause' }).click()
  await expect.element(section).toHaveTextContent('Paused.')
  const count = (wanted: string) => server.requests.filter((what) => what === wanted).length
  const [before, ledgers] = [count(LOG), count(LEDGER)]
  // Both are asked for at the same pace.
  await expect
    .poll(async () => {
      await pass(3_000)
      return count(LEDGER)
    })
    .toBeGreaterThan(ledgers + 1)
  expect(count(LOG)).toBe(before)
  await section.getByRole('button', { name: 'Go on' }).click()
  await expect.poll(() => count(LOG)).toBeGreaterThan(before)

  await section.getByRole('button', { name: 'Copy the log' }).click()
  await expect.element(section.getByRole('button', { name: 'Copied' })).toBeVisible()
  await userEvent.tab()
  await expect.element(lines).toHaveFocus()
  await expect.element(lines).toHaveAttribute('aria-live', 'off')
  await userEvent.tab()
  await userEvent.keyboard(' ')
  await expect.element(lines).toHaveAttribute('aria-live', 'polite')
})

test('a log whose beginning is no longer kept says so, and one of another run takes its place', async () => {
  const pass = steerTime()
  const server = serving()
  server.on(LOG, {
    status: 200,
    body: log({ from: 4_000, next: 4_100, lines: said('aws_vpc.this: Still creating...') }),
  })
  await open('/clusters/c-2')
  await expect.element(section).toHaveTextContent('Its beginning is no longer kept.')
  server.on(LOG, { status: 200, body: log({ from: 0, next: 30, lines: said('Run create-3 begins.') }) })
  await pass(5_000)
  await expect.element(lines).toHaveTextContent(/^\S+Run create-3 begins\.$/)
})

test('it says when nothing was created, nothing was said, it is on its way, it failed, or it is old', async () => {
  const pass = steerTime()
  const server = serving()
  server.on(LEDGER, { status: 404, body: problem(404, 'nothing_provisioned', 'KubeOpera has created nothing.') })
  const { screen } = await open('/clusters/c-2')
  await expect.element(infrastructure).toHaveTextContent('Nothing has been created in the cloud yet.')
  await expect.element(section).not.toBeInTheDocument()
  await screen.unmount()

  server.on(LEDGER, {
    status: 200,
    body: provisioning({ resources: [], left: 0, left_monthly: 0, left_not_priced: 0 }),
  })
  server.on(LOG, { status: 200, body: log({ next: 0, lines: [] }) })
  const second = await open('/clusters/c-2')
  await expect.element(section).toHaveTextContent('The run has said nothing yet.')
  await second.screen.unmount()

  server.on(LOG, 'never')
  const third = await open('/clusters/c-2')
  await expect.element(section).toHaveTextContent('Loading the log')
  await third.screen.unmount()

  server.on(LEDGER, { status: 403, body: problem(403, 'forbidden', 'Your role does not allow this.') })
  const fourth = await open('/clusters/c-2')
  await expect.element(infrastructure).toHaveTextContent('Your role does not allow this.')
  await fourth.screen.unmount()

  server.on(LEDGER, { status: 200, body: provisioning() })
  server.on(LOG, { status: 200, body: log() })
  await open('/clusters/c-2')
  await expect.element(lines).toBeVisible()
  server.on(LOG, { status: 503, body: problem(503, 'not_available', 'The API server does not answer.') })
  await pass(15_000)
  await expect.element(section).toHaveTextContent(/This is as it was .*The API server does not answer\./)
  await expect.element(lines).toHaveTextContent('Run create-2 begins.')
})

test('of a cluster that is gone the ledger and the log stay', async () => {
  const server = serving()
  const resources = provisioning().resources.map((one) => ({ ...one, gone_at: minuteAgo() }))
  const nothing = { left: 0, left_monthly: 0, left_not_priced: 0, ended_at: minuteAgo() }
  server.on(LEDGER, {
    status: 200,
    body: provisioning({
      run: 'destroy-1',
      state: 'destroyed',
      message: 'The infrastructure is gone.',
      resources,
      ...nothing,
    }),
  })
  server.on(LOG, { status: 200, body: log({ is_live: false }) })
  server.clusters = server.clusters.filter(({ id }) => id !== 'c-2')
  await open('/clusters/c-2')
  await expect.element(page.getByText('KubeOpera has no such cluster')).toBeVisible()
  await expect.element(infrastructure).toHaveTextContent(/0 in the cloud, 4 gone\. Ended 1.min ago\./)
  await expect.element(section.getByRole('button', { name: 'Pause' })).not.toBeInTheDocument()
})

test('the dialog that asks whether to delete says how much there is and what it costs', async () => {
  serving()
  await open('/clusters/c-2')
  await page.getByRole('button', { name: 'Actions for prod-payments-euw1' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await expect
    .element(page.getByRole('alertdialog'))
    .toHaveTextContent(
      '3 resources in the cloud in all, $73.00 a month at list prices, 1 of them without a known price',
    )
})

test('what cannot be deleted is given up by name', async () => {
  const server = serving()
  const stuck = cluster({
    ...server.clusters[1],
    message: 'Deleting the cluster and its infrastructure. Something in the cloud still uses the network.',
    conditions: [
      { type: 'Removing', status: 'True', reason: 'Begun', message: 'x', last_transition_time: minuteAgo() },
    ],
    revision: 10_000,
  })
  server.clusters = server.clusters.map((known) => (known.id === 'c-2' ? stuck : known))
  let body: unknown
  server.on(GIVE_UP, async (request) => {
    body = await request.json()
    return { status: 202, body: stuck }
  })
  await open('/clusters/c-2')
  await infrastructure.getByRole('button', { name: 'Give it up…' }).click()
  const dialog = page.getByRole('alertdialog')
  await expect.element(dialog).toHaveTextContent('3 of its resources are left in the cloud as far as it knows.')
  await expect.element(dialog).toHaveTextContent('kubeopera.io/cluster-id=c-2')
  await dialog.getByRole('button', { name: 'Give it up' }).click()
  await expect.element(dialog).toHaveTextContent('This is not the name of the cluster.')
  await dialog.getByLabelText('Name of the cluster').fill('prod-payments-euw1')
  await dialog.getByRole('button', { name: 'Give it up' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  expect(body).toEqual({ name: 'prod-payments-euw1' })
})

test('viewers and clusters from elsewhere have none of it', async () => {
  const server = serving()
  await open('/clusters/c-4')
  await expect.element(page.getByRole('heading', { name: 'oslo-edge-lab', level: 1 })).toBeVisible()
  await expect.element(infrastructure).not.toBeInTheDocument()
  server.on('GET /api/v1/session', {
    status: 200,
    body: { ...session, user: { ...session.user, role: 'viewer' } },
  })
  await open('/clusters/c-2')
  await expect.element(page.getByRole('heading', { name: 'prod-payments-euw1', level: 1 })).toBeVisible()
  await expect.element(infrastructure).not.toBeInTheDocument()
  expect(server.requests).not.toContain(LEDGER)
})

test('it has no accessibility violation in any theme, wide and on a phone', async () => {
  await page.viewport(390, 900)
  serving()
  await open('/clusters/c-2')
  await expect.element(lines).toBeVisible()
  for (const width of [390, 1440])
    for (const theme of ['light', 'dark'] as const) {
      await page.viewport(width, 900)
      chooseTheme(theme)
      const { violations } = await axe.run(document)
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
      expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
    }
})
