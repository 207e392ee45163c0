import { beforeEach, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import type { KubeconfigCheck } from '@/api/model'
import { cluster, context, problem, session, stepsTo } from './fixtures'
import { open, Server } from './kubeopera'

const CHECK = 'POST /api/v1/clusters/kubeconfig-check'
const CONNECT = 'POST /api/v1/clusters/connect'
const box = page.getByRole('textbox', { name: 'Kubeconfig' })
const connect = page.getByRole('button', { name: 'Connect', exact: true })
const field = (name: string) => page.getByLabelText(new RegExp(`^${name}`))
/** What a kubeconfig holds that must not be found again. */
const SECRET = 'c2VjcmV0LXRva2VuLW9mLXRoZS1jbHVzdGVy'
const KUBECONFIG = `apiVersion: v1\nkind: Config\nusers: [{name: admin, user: {token: ${SECRET}}}]\n`

beforeEach(() => sessionStorage.clear())

function answering(...contexts: KubeconfigCheck['contexts']) {
  const server = new Server()
  server.on(CHECK, { status: 200, body: { preferred: contexts[0]?.name ?? null, contexts } })
  return server
}

async function check() {
  await box.fill(KUBECONFIG)
  await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
}

const prod = () => cluster({ id: 'c-9', name: 'prod', is_host: false, phase: 'Pending', phases: stepsTo('Pending') })

test('a pasted kubeconfig is checked, its cluster described by what was found, and the card shown after Connect', async () => {
  const server = answering(context({ name: 'prod' }))
  let sent: { body: Record<string, unknown>; key: string | null } | undefined
  server.on(CONNECT, async (request) => {
    sent = { body: await request.json(), key: request.headers.get('idempotency-key') }
    server.clusters = [prod()]
    return { status: 201, body: prod() }
  })
  const { queryClient } = await open('/clusters/new?way=connect')
  await check()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
  await expect.element(page.getByText('Usable', { exact: true })).toBeVisible()
  await expect.element(field('Name')).toHaveValue('prod')
  await expect.element(field('Provider')).toHaveValue('gcp')
  await expect.element(field('Region')).toHaveValue('europe-north1')
  await expect.element(box).not.toBeInTheDocument()
  await connect.click()
  await expect.element(page.getByRole('article', { name: 'prod' })).toHaveFocus()
  await expect.element(page.getByText('Connecting prod')).toBeVisible()
  await expect.poll(() => queryClient.getMutationCache().getAll()).toEqual([])
  expect(sent?.body).toMatchObject({ name: 'prod', provider: 'gcp', kubeconfig: KUBECONFIG, context: 'prod' })
  expect(sent?.key).toMatch(/^[0-9a-f]{32}$/)
})

test('a file is sent byte by byte', async () => {
  const server = answering(context({ name: 'prod' }))
  let body: Record<string, unknown> = {}
  server.on(CHECK, async (request) => {
    body = await request.json()
    return { status: 200, body: { preferred: 'prod', contexts: [context({ name: 'prod' })] } }
  })
  await open('/clusters/new?way=connect')
  const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0x00])
  await page.getByLabelText('Kubeconfig file').upload(new File([utf16], 'prod.yaml'))
  await expect.element(page.getByText('prod.yaml')).toBeVisible()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
  expect(body).toEqual({ kubeconfig: '//5hAA==', encoding: 'base64' })
})

test('a dropped file is taken as one that was chosen', async () => {
  answering(context({ name: 'prod' }))
  await open('/clusters/new?way=connect')
  await expect.element(box).toBeVisible()
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([KUBECONFIG], 'dropped.yaml'))
  box.element().dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
  await expect.element(page.getByText('dropped.yaml')).toBeVisible()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
})

test('a context that cannot be used says why, with the commands that mend it, and cannot be chosen', async () => {
  answering(
    context({
      name: 'laptop',
      verdict: 'refused',
      cluster: null,
      refusal: {
        code: 'kubeconfig_exec_forbidden',
        field: 'kubeconfig.users[0].user.exec',
        message:
          'This kubeconfig runs a program to log in. Supply one with a token: `kubectl create serviceaccount kubeopera`, `kubectl create token kubeopera`.',
        commands: [],
      },
    }),
    context({ name: 'prod' }),
  )
  await open('/clusters/new?way=connect')
  await check()
  await expect.element(page.getByRole('radio', { name: 'laptop' })).toBeDisabled()
  await expect.element(page.getByText('Cannot be used')).toBeVisible()
  await expect.element(page.getByText('This kubeconfig runs a program to log in.')).toBeVisible()
  await expect
    .element(page.getByText('kubectl create serviceaccount kubeopera kubectl create token kubeopera'))
    .toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Copy the commands that mend it' })).toBeVisible()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
})

test('a context that was left out is looked at when somebody asks', async () => {
  const server = answering()
  server.on(CHECK, async (request) => {
    const { context: only } = await request.json()
    return {
      status: 200,
      body: { preferred: null, contexts: [context({ name: 'ninth', verdict: only ? 'usable' : 'not_checked' })] },
    }
  })
  await open('/clusters/new?way=connect')
  await check()
  await page.getByRole('button', { name: 'Look at it' }).click()
  await expect.element(page.getByRole('radio', { name: 'ninth' })).toBeChecked()
})

test('the host cluster leads to Register, a known cluster to its card', async () => {
  const server = answering(
    context({
      name: 'here',
      verdict: 'refused',
      refusal: { code: 'is_host_cluster', field: null, message: 'KubeOpera runs on it.', commands: [] },
    }),
    context({
      name: 'there',
      verdict: 'refused',
      refusal: { code: 'cluster_already_known', field: null, message: 'It is known.', commands: [] },
      cluster: { ...context({}).cluster, known_as: { id: 'c-9', name: 'prod' } } as never,
    }),
  )
  server.clusters = [prod()]
  await open('/clusters/new?way=connect')
  await check()
  const step = page.getByRole('group', { name: 'The kubeconfig has 2 contexts' })
  await expect.element(step.getByRole('link', { name: 'Register This Cluster' })).toBeVisible()
  await step.getByRole('link', { name: 'Show prod' }).click()
  await expect.element(page.getByRole('article', { name: 'prod' })).toHaveFocus()
})

test('a file that is no kubeconfig is refused below the box, which keeps it', async () => {
  const server = new Server()
  server.on(CHECK, {
    status: 400,
    body: { ...problem(400, 'kubeconfig_malformed', 'This is not a kubeconfig.'), field: 'kubeconfig' },
  })
  await open('/clusters/new?way=connect')
  await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
  await expect.element(page.getByText('Paste a kubeconfig, or choose a file.')).toBeVisible()
  expect(server.requests).not.toContain(CHECK)
  await check()
  await expect.element(page.getByText('This is not a kubeconfig.')).toBeVisible()
  await expect.element(box).toHaveValue(KUBECONFIG)
  await expect.element(box).toHaveAttribute('aria-invalid', 'true')
})

test('a name that is taken is said at the name, and what is sent again unchanged has the same key', async () => {
  const server = answering(context({ name: 'prod' }))
  const keys: (string | null)[] = []
  server.on(CONNECT, (request) => {
    keys.push(request.headers.get('idempotency-key'))
    return keys.length < 3
      ? {
          status: 409,
          body: { ...problem(409, 'name_taken', 'Another cluster has this name.'), field: 'name' },
        }
      : { status: 503, body: problem(503, 'not_available', 'The database is away.', 'Try again in a moment.') }
  })
  await open('/clusters/new?way=connect')
  await check()
  await connect.click()
  await expect.element(field('Name')).toHaveAccessibleDescription(/Another cluster has this name\./)
  await expect.element(field('Name')).toHaveFocus()
  await connect.click()
  await expect.poll(() => keys).toHaveLength(2)
  await field('Name').fill('other')
  await connect.click()
  await expect.element(page.getByRole('alert')).toHaveTextContent('The database is away. Try again in a moment.')
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
})

test('a rule that is broken is said before anything is sent', async () => {
  const server = answering(context({ name: 'prod' }))
  await open('/clusters/new?way=connect')
  await connect.click()
  await expect.element(page.getByText('Supply a kubeconfig and have it checked first.')).toBeVisible()
  await check()
  await expect.element(field('Name')).toHaveValue('prod')
  await field('Name').fill('Prod')
  await field('Domain').fill('https://acme.com')
  await field("Administrator's e-mail").fill('admin@acme.com')
  await connect.click()
  await expect.element(field('Name')).toHaveFocus()
  await expect.element(field('Name')).toHaveAccessibleDescription(/Use 1 to 40 lower-case letters/)
  await expect.element(field('Domain')).toHaveAccessibleDescription(/without https/)
  await expect.element(field("Administrator's user name")).toHaveAccessibleDescription(/go together/)
  expect(server.requests).not.toContain(CONNECT)
})

test('what was typed survives a reload, and nothing of the kubeconfig is ever kept', async () => {
  answering(context({ name: 'prod' }))
  const { screen } = await open('/clusters/new?way=connect')
  await field('Name').fill('kept')
  await field('Domain').fill('kept.acme.com')
  await check()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
  await expect.element(field('Name')).toHaveValue('kept')
  await screen.unmount()
  for (const storage of [sessionStorage, localStorage]) expect(JSON.stringify({ ...storage })).not.toContain(SECRET)
  await open('/clusters/new?way=connect')
  await expect.element(field('Name')).toHaveValue('kept')
  await expect.element(field('Domain')).toHaveValue('kept.acme.com')
  await expect.element(box).toHaveValue('')
  await check()
  await expect.element(page.getByRole('radio', { name: 'prod' })).toBeChecked()
  await expect.element(field('Name')).toHaveValue('kept')
})

test('the same is shown as a resource, and what could harm a shell is quoted', async () => {
  answering(context({ name: "it's $(prod)" }), context({ name: 'second' }))
  await open('/clusters/new?way=connect')
  await check()
  await page.getByText('The same as a HostCluster resource').click()
  const block = page.getByText('kind: HostCluster')
  await expect.element(block).toHaveTextContent('mode: connect_existing')
  await expect.element(block).toHaveTextContent('region: "europe-north1"')
  await page.getByRole('radio', { name: 'second' }).click()
  await expect.element(block).toHaveTextContent("--from-literal=context='second'")
  await field('Name').fill('$(rm -rf)')
  await expect.element(block).not.toHaveTextContent('rm -rf')
})

test('the whole way can be gone by keyboard', async () => {
  const server = answering(context({ name: 'first' }), context({ name: 'second' }))
  server.on(CONNECT, { status: 201, body: prod() })
  await open('/clusters/new?way=connect')
  await box.fill(KUBECONFIG)
  await userEvent.keyboard('{Tab}{Enter}')
  await expect.element(page.getByRole('radio', { name: 'first' })).toBeChecked()
  page.getByRole('radio', { name: 'first' }).element().focus()
  await userEvent.keyboard('{ArrowDown}')
  await expect.element(page.getByRole('radio', { name: 'second' })).toBeChecked()
  field('Name').element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('article', { name: 'prod' })).toHaveFocus()
})

test('somebody who may only look is told so', async () => {
  const server = new Server()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } })
  await open('/clusters/new?way=connect')
  await expect.element(page.getByText('Your role lets you look at clusters, not connect them.')).toBeVisible()
  await expect.element(box).not.toBeInTheDocument()
})
