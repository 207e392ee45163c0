import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { cluster, disconnection, fleet, problem, receipt, session } from './fixtures'
import { open, Server, steerTime } from './kubeopera'

const DISCONNECT = 'POST /api/v1/clusters/c-3/disconnect'
const DELETE = 'DELETE /api/v1/clusters/c-2'
const dialog = page.getByRole('alertdialog')
const item = (name: string) => page.getByRole('menuitem', { name })

function serving() {
  const server = new Server()
  server.clusters = fleet()
  server.on('GET /api/v1/clusters/c-3/disconnect', { status: 200, body: disconnection })
  server.on('GET /api/v1/clusters/c-3/receipt', { status: 200, body: receipt })
  return server
}

async function ask(name: string, what: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await item(what).click()
}

test('disconnecting tells beforehand what goes and what stays, and afterwards what went and stayed', async () => {
  const server = serving()
  server.on(DISCONNECT, () => {
    const leaving = cluster({ ...server.clusters[2], message: 'Removing the Flux sources.', revision: 10_000 })
    server.clusters = server.clusters.map((known) => (known.id === leaving.id ? leaving : known))
    return { status: 202, body: leaving }
  })
  const { router } = await open('/clusters/c-3')
  await ask('staging-ledger', 'Disconnect…')
  await expect.element(dialog).toHaveTextContent('Disconnect staging-ledger?')
  await expect.element(dialog.getByRole('heading', { name: 'What goes' })).toBeVisible()
  await expect.element(dialog.getByText('flux-system/kubeopera-*')).toBeVisible()
  await expect.element(dialog.getByText('Everything that runs on the cluster, and its data.')).toBeVisible()
  expect(server.requests).not.toContain(DISCONNECT)
  await dialog.getByRole('button', { name: 'Disconnect' }).click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Removing the Flux sources.')
  server.clusters = server.clusters.filter(({ id }) => id !== 'c-3')
  server.emit('cluster.removed', { id: 'c-3' })
  await expect.element(dialog).toHaveTextContent('staging-ledger is disconnected')
  await expect.element(dialog.getByRole('heading', { name: 'Removed' })).toBeVisible()
  await expect.element(dialog.getByRole('heading', { name: 'Kept' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.element(page.getByRole('article', { name: 'kubeopera-host' })).toBeVisible()
  expect(router.state.location.pathname).toBe('/clusters')
  await expect.element(page.getByRole('article', { name: 'staging-ledger' })).not.toBeInTheDocument()
})

test('the receipt comes without the stream, too', async () => {
  const pass = steerTime()
  const server = serving()
  server.streamAnswer = 'network error'
  server.on(DISCONNECT, () => {
    const leaving = server.clusters[2]
    server.clusters = server.clusters.filter(({ id }) => id !== 'c-3')
    return { status: 202, body: leaving }
  })
  await open('/clusters')
  await ask('staging-ledger', 'Disconnect…')
  await dialog.getByRole('button', { name: 'Disconnect' }).click()
  await expect.poll(() => server.requests).toContain(DISCONNECT)
  await pass(5_000)
  await expect.element(dialog).toHaveTextContent('staging-ledger is disconnected')
})

test('what could not be removed is told, with the commands that do', async () => {
  const pass = steerTime()
  const server = serving()
  server.on(DISCONNECT, () => {
    const leaving = server.clusters[2]
    server.clusters = server.clusters.filter(({ id }) => id !== 'c-3')
    return { status: 202, body: leaving }
  })
  server.on('GET /api/v1/clusters/c-3/receipt', {
    status: 200,
    body: {
      ...receipt,
      left: disconnection.goes.slice(2),
      left_because: 'The API server did not answer.',
      commands: ['kubectl delete kustomizations'],
    },
  })
  await open('/clusters')
  await ask('staging-ledger', 'Disconnect…')
  await dialog.getByRole('button', { name: 'Disconnect' }).click()
  await expect.poll(() => server.requests).toContain(DISCONNECT)
  await pass(5_000)
  await expect.element(dialog.getByText('Some of it is still on the cluster')).toBeVisible()
  await expect.element(dialog.getByText('The API server did not answer.')).toBeVisible()
  await expect.element(dialog.getByText('kubectl delete kustomizations')).toBeVisible()
})

test('keeping it, also with Escape, sends nothing', async () => {
  const server = serving()
  await open('/clusters')
  await ask('staging-ledger', 'Disconnect…')
  await dialog.getByRole('button', { name: 'Keep managing it' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  await ask('staging-ledger', 'Disconnect…')
  await expect.element(dialog).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
  expect(server.requests).not.toContain(DISCONNECT)
})

test('a refusal to disconnect says why and leaves the dialog open', async () => {
  const server = serving()
  server.on(DISCONNECT, {
    status: 409,
    body: problem(409, 'cluster_busy', 'This cluster is being provisioned, so it cannot be disconnected now.'),
  })
  await open('/clusters')
  await ask('staging-ledger', 'Disconnect…')
  await dialog.getByRole('button', { name: 'Disconnect' }).click()
  await expect.element(dialog.getByRole('alert')).toHaveTextContent('This cluster is being provisioned')
})

test('deleting takes the exact name, which the server sees, too', async () => {
  const server = serving()
  let sent: unknown
  server.on(DELETE, async (request) => {
    sent = await request.json()
    return { status: 202, body: cluster({ ...server.clusters[1], message: 'Destroying.', revision: 10_000 }) }
  })
  await open('/clusters/c-2')
  await ask('prod-payments-euw1', 'Delete…')
  const name = dialog.getByLabelText('Name of the cluster')
  await expect.element(name).toHaveFocus()
  await name.fill('Prod-Payments-euw1')
  await userEvent.keyboard('{Enter}')
  await expect.element(name).toHaveAccessibleDescription(/This is not the name of the cluster/)
  expect(server.requests).not.toContain(DELETE)
  await name.fill('prod-payments-euw1')
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByText('Deleting prod-payments-euw1')).toBeVisible()
  await expect.element(page.getByRole('article', { name: 'prod-payments-euw1' })).toHaveFocus()
  expect(sent).toEqual({ name: 'prod-payments-euw1' })
})

test('only what KubeOpera provisioned can be deleted, and only by a platform administrator', async () => {
  const server = serving()
  const { screen } = await open('/clusters')
  await page.getByRole('button', { name: 'Actions for staging-ledger' }).click()
  await expect.element(item('Disconnect…')).toBeVisible()
  await expect.element(item('Delete…')).not.toBeInTheDocument()
  await screen.unmount()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'operator' } } })
  await open('/clusters')
  await page.getByRole('button', { name: 'Actions for prod-payments-euw1' }).click()
  await expect.element(item('Disconnect…')).toBeVisible()
  await expect.element(item('Delete…')).not.toBeInTheDocument()
})
