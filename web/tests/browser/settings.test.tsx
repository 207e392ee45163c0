import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { credential, person, problem, session } from './fixtures'
import { open, Server } from './kubeopera'

const dialog = page.getByRole('dialog')
const alertdialog = page.getByRole('alertdialog')
const button = (name: string) => page.getByRole('button', { name, exact: true })
const list = (items: unknown[]) => ({ status: 200, body: { items, next_cursor: null } })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

function serving() {
  const server = new Server()
  server.on('GET /api/v1/sessions', list([]))
  server.on('GET /api/v1/tokens', list([]))
  server.on('GET /api/v1/users', list([person({ id: session.user.id, username: 'admin' }), person({})]))
  server.on('GET /api/v1/credentials', list([credential()]))
  return server
}

/** The bodies of all requests of a kind. */
function bodiesOf(server: Server, what: string, answer: { status: number; body?: unknown }) {
  const bodies: unknown[] = []
  server.on(what, async (request) => {
    bodies.push(await request.json())
    return answer
  })
  return bodies
}

test('the settings begin with one’s own account, and each subject has an address and a title', async () => {
  serving()
  const { router } = await open('/settings')
  await expect.element(page.getByRole('heading', { name: 'Password' })).toBeVisible()
  expect(router.state.location.pathname).toBe('/settings/account')
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'People' }).click()
  await expect.element(page.getByText('olga')).toBeVisible()
  await expect.poll(() => document.title).toBe('People · KubeOpera')
})

test('one’s own password is changed with the present one, which a refusal names', async () => {
  const server = serving()
  const USER = `PUT /api/v1/users/${session.user.id}/password`
  server.on(USER, {
    status: 422,
    body: { ...problem(422, 'wrong_password', 'Your present password is another one.'), field: 'current_password' },
  })
  await open('/settings/account')
  await page.getByLabelText('Present password').fill('wrong')
  await page.getByLabelText(/^New password$/).fill('short')
  await page.getByLabelText('New password again').fill('other')
  await button('Change password').click()
  await expect.element(page.getByText('Use 12 to 128 characters.')).toBeVisible()
  await expect.element(page.getByText('This is not the same password.')).toBeVisible()
  expect(server.requests).not.toContain(USER)
  await page.getByLabelText(/^New password$/).fill('correct horse battery')
  await page.getByLabelText('New password again').fill('correct horse battery')
  await button('Change password').click()
  await expect.element(page.getByText('Your present password is another one.')).toBeVisible()
  await expect.element(page.getByLabelText('Present password')).toHaveFocus()
  const sent = bodiesOf(server, USER, { status: 200, body: { ended_tokens: ['CI', 'Backup'] } })
  await page.getByLabelText('Present password').fill('right')
  await button('Change password').click()
  await expect.element(page.getByText('Your password is changed')).toBeVisible()
  await expect.element(page.getByText(/and so have your tokens: CI, Backup\./)).toBeVisible()
  expect(sent).toEqual([{ password: 'correct horse battery', current_password: 'right' }])
  await expect.element(page.getByLabelText('Present password')).toHaveValue('')
})

test('a token is shown once, with a button that copies it, and is gone with its dialog', async () => {
  const server = serving()
  const sent = bodiesOf(server, 'POST /api/v1/tokens', {
    status: 201,
    body: {
      token: {
        id: 't-1',
        user: 'u-1',
        label: 'CI',
        created_at: inDays(0),
        expires_at: inDays(30),
        last_used_at: null,
      },
      secret: 'ko_pat_0123456789',
    },
  })
  await open('/settings/account')
  await button('New token').click()
  await dialog.getByRole('button', { name: 'Make token' }).click()
  await expect.element(dialog.getByText(/^Use 1 to 64 letters/)).toBeVisible()
  await dialog.getByLabelText('What it is for').fill('CI')
  await dialog.getByLabelText('Ends after').selectOptions('90')
  await dialog.getByRole('button', { name: 'Make token' }).click()
  await expect.element(alertdialog.getByText('ko_pat_0123456789')).toBeVisible()
  await expect.element(alertdialog.getByRole('button', { name: 'Copy the token' })).toBeVisible()
  await alertdialog.getByRole('button', { name: 'I have kept it' }).click()
  await expect.element(page.getByText('ko_pat_0123456789')).not.toBeInTheDocument()
  const { expires_at } = sent[0] as { expires_at: string }
  expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(90)
})

test('sessions and tokens are ended after a question, one’s present session is not', async () => {
  const server = serving()
  const entry = { user: 'u-1', created_at: inDays(-1), last_seen_at: inDays(0), expires_at: inDays(1) }
  server.on(
    'GET /api/v1/sessions',
    list([
      { id: 's-1', address: '10.0.0.1', current: true, ...entry },
      { id: 's-2', address: '10.0.0.2', current: false, ...entry },
    ]),
  )
  server.on('DELETE /api/v1/sessions/s-2', { status: 204 })
  await open('/settings/account')
  await expect.element(page.getByText('This session')).toBeVisible()
  await button('End').click()
  await expect.element(alertdialog).toHaveTextContent('End the session from 10.0.0.2?')
  expect(server.requests).not.toContain('DELETE /api/v1/sessions/s-2')
  await alertdialog.getByRole('button', { name: 'End session' }).click()
  await expect.element(page.getByText('The session has ended')).toBeVisible()
  expect(server.requests.filter((request) => request === 'GET /api/v1/sessions').length).toBeGreaterThan(1)
})

test('somebody is added with a role, and a name that is taken is said at the name', async () => {
  const server = serving()
  server.on('POST /api/v1/users', {
    status: 409,
    body: { ...problem(409, 'name_taken', 'Another user has this user name.'), field: 'username' },
  })
  await open('/settings/people')
  await button('Add a person').click()
  await dialog.getByLabelText('User name').fill('olga')
  await dialog.getByLabelText('Role').selectOptions('operator')
  await dialog.getByLabelText('First password').fill('correct horse battery')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await expect.element(dialog.getByText('Another user has this user name.')).toBeVisible()
  await expect.element(dialog.getByLabelText('User name')).toHaveFocus()
  const sent = bodiesOf(server, 'POST /api/v1/users', { status: 201, body: person({ username: 'oda' }) })
  await dialog.getByLabelText('User name').fill('oda')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await expect.element(page.getByText('oda can log in')).toBeVisible()
  expect(sent).toEqual([{ username: 'oda', role: 'operator', password: 'correct horse battery' }])
})

test('a role is changed at once, and one that has to stay is as before', async () => {
  const server = serving()
  const sent = bodiesOf(server, 'PATCH /api/v1/users/u-2', { status: 200, body: person({ role: 'viewer' }) })
  server.on(`PATCH /api/v1/users/${session.user.id}`, {
    status: 409,
    body: problem(409, 'last_administrator', 'This is the last platform administrator who can log in.'),
  })
  await open('/settings/people')
  await page.getByLabelText('Role of olga').selectOptions('viewer')
  await expect.element(page.getByText('olga is viewer')).toBeVisible()
  expect(sent).toEqual([{ role: 'viewer' }])
  await page.getByLabelText('Role of admin').selectOptions('viewer')
  await expect.element(page.getByText('This is the last platform administrator who can log in.')).toBeVisible()
  await expect.element(page.getByLabelText('Role of admin')).toHaveValue('operator')
})

test('somebody is disabled after a question, and let in again', async () => {
  const server = serving()
  const sent = bodiesOf(server, 'PATCH /api/v1/users/u-2', {
    status: 200,
    body: person({ disabled_at: new Date().toISOString() }),
  })
  await open('/settings/people')
  await button('Actions for olga').click()
  await page.getByRole('menuitem', { name: 'Disable…' }).click()
  server.on('GET /api/v1/users', list([person({ disabled_at: new Date().toISOString() })]))
  await alertdialog.getByRole('button', { name: 'Disable' }).click()
  await expect.element(page.getByText('Disabled', { exact: true })).toBeVisible()
  await button('Actions for olga').click()
  await page.getByRole('menuitem', { name: 'Let in again' }).click()
  await expect.poll(() => sent).toEqual([{ disabled: true }, { disabled: false }])
})

test('a credential of each type is saved, and a refusal is said at its field', async () => {
  const server = serving()
  server.on('POST /api/v1/credentials', {
    status: 422,
    body: {
      ...problem(422, 'gcp_key_invalid', 'This is not the key of a service account.'),
      field: 'secret.key',
    },
  })
  await open('/settings/credentials')
  await button('Add a credential').click()
  await dialog.getByLabelText('Label').fill('acme')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(dialog.getByText('Enter AKIA and 16 capital letters and digits.')).toBeVisible()
  await dialog.getByLabelText('Type').selectOptions('gcp_service_account_key')
  await dialog.getByLabelText('Key file').fill('{}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(dialog.getByText('This is not the key of a service account.')).toBeVisible()
  const sent = bodiesOf(server, 'POST /api/v1/credentials', {
    status: 201,
    body: { credential: credential({ label: 'acme', type: 'aws_assume_role' }), external_id: 'ext-42' },
  })
  await dialog.getByLabelText('Type').selectOptions('aws_assume_role')
  await dialog.getByLabelText('ARN of the role').fill('arn:aws:iam::123456789012:role/kubeopera')
  await dialog.getByLabelText('Who assumes it').selectOptions('k-1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(alertdialog.getByText('ext-42', { exact: true })).toBeVisible()
  await expect.element(alertdialog.getByText('"sts:ExternalId": "ext-42"')).toBeVisible()
  expect(sent).toEqual([
    {
      label: 'acme',
      secret: { type: 'aws_assume_role', role_arn: 'arn:aws:iam::123456789012:role/kubeopera', source: 'k-1' },
    },
  ])
})

test('the cloud is asked who a credential is', async () => {
  const server = serving()
  server.on('POST /api/v1/credentials/k-1/check', {
    status: 200,
    body: { accepted: true, account: '123456789012', identity: 'arn:aws:iam::123456789012:user/ko', message: null },
  })
  await open('/settings/credentials')
  await button('Check acme-platform').click()
  await expect.element(page.getByText('arn:aws:iam::123456789012:user/ko')).toBeVisible()
  server.on('POST /api/v1/credentials/k-1/check', {
    status: 200,
    body: { accepted: false, account: null, identity: null, message: 'AWS does not know this access key.' },
  })
  await button('Check acme-platform').click()
  await expect.element(page.getByText('AWS does not know this access key.')).toBeVisible()
})

test('a credential in use is not deleted, and what uses it is named', async () => {
  const server = serving()
  server.on('DELETE /api/v1/credentials/k-1', {
    status: 409,
    body: problem(
      409,
      'credential_in_use',
      'This credential cannot be deleted, because it is in use by prod-payments-euw1.',
      'Delete or disconnect what uses it first.',
    ),
  })
  await open('/settings/credentials')
  await button('Delete acme-platform').click()
  await alertdialog.getByRole('button', { name: 'Delete' }).click()
  await expect.element(alertdialog.getByRole('alert')).toHaveTextContent('in use by prod-payments-euw1')
})

test('a new label leaves the secret as it is', async () => {
  const server = serving()
  const sent = bodiesOf(server, 'PATCH /api/v1/credentials/k-1', { status: 200, body: credential({ label: 'new' }) })
  await open('/settings/credentials')
  await button('Change acme-platform').click()
  await dialog.getByLabelText('Label').fill('new')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.element(page.getByText('new is saved')).toBeVisible()
  expect(sent).toEqual([{ label: 'new', secret: null }])
})

test('who is no administrator is not shown the way, and told why at the address', async () => {
  const server = serving()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'operator' } } })
  server.on('GET /api/v1/credentials', {
    status: 403,
    body: problem(403, 'forbidden', 'Your role does not allow this.', 'Ask a platform administrator.'),
  })
  await open('/settings/credentials')
  await expect.element(page.getByText('Your role does not allow this. Ask a platform administrator.')).toBeVisible()
  await expect
    .element(page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'People' }))
    .not.toBeInTheDocument()
})
