import { choose, pressOn, typeInto } from './keyboard'
import { look } from './look'
import { fillIn } from './session'
import { expect, nobody, test } from './test'

/** The settings, by keyboard alone. Nothing of what these tests do stays, but a disabled person and rows of the audit log. */
test.describe.configure({ mode: 'serial' })

const PASSWORD = 'correct horse battery staple'
const viewer = `viewer-${Date.now()}`

test('a token is shown once, works, and is revoked', async ({ page, playwright, baseURL }) => {
  await page.goto('/settings/account')
  await expect(page.getByText('This session')).toBeVisible()
  await look(page, 'settings-account')
  await pressOn(page, page.getByRole('button', { name: 'New token' }))
  await typeInto(page, page.getByLabel('What it is for'), 'a test')
  await look(page, 'settings-new-token')
  await page.keyboard.press('Enter')
  const shown = page.getByRole('alertdialog')
  await expect(shown.getByText('KubeOpera shows this once')).toBeVisible()
  await look(page, 'settings-token')
  const authorization = `Bearer ${await shown.locator('code').first().textContent()}`
  const script = await playwright.request.newContext({ baseURL, extraHTTPHeaders: { authorization } })
  expect((await script.get('/api/v1/clusters')).status()).toBe(200)
  await pressOn(page, shown.getByRole('button', { name: 'I have kept it' }))
  await pressOn(page, page.getByRole('button', { name: 'Revoke a test' }))
  await look(page, 'settings-revoke')
  await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }))
  await expect(page.getByText('You have no tokens.')).toBeVisible()
  expect((await script.get('/api/v1/clusters')).status()).toBe(401)
})

test('somebody is added, by name, role and first password', async ({ page }) => {
  await page.goto('/settings/people')
  await pressOn(page, page.getByRole('button', { name: 'Add a person' }))
  await typeInto(page, page.getByLabel('User name'), 'No Name')
  await pressOn(page, page.getByRole('button', { name: 'Add', exact: true }))
  await expect(page.getByLabel('User name')).toBeFocused()
  await look(page, 'settings-add-person')
  await typeInto(page, page.getByLabel('User name'), viewer)
  await typeInto(page, page.getByLabel('First password'), PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`${viewer} can log in`).first()).toBeVisible()
  await look(page, 'settings-people')
})

test('somebody new chooses another password, and is told what only others may do', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL, storageState: nobody })
  const page = await context.newPage()
  await page.goto('/settings/people')
  await fillIn(page, viewer, PASSWORD)
  const other = page.getByLabel('New password', { exact: true })
  await expect(other).toBeVisible()
  await look(page, 'new-password')
  await typeInto(page, other, `${PASSWORD} again`)
  await typeInto(page, page.getByLabel('New password again', { exact: true }), `${PASSWORD} again`)
  await page.keyboard.press('Enter')
  await expect(page.getByText(/platform administrator/).first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Add a person' })).toHaveCount(0)
  await look(page, 'forbidden')
  await context.close()
})

test('somebody is given another role, and kept from logging in', async ({ page }) => {
  await page.goto('/settings/people')
  await page.getByLabel(`Role of ${viewer}`).selectOption('operator')
  await expect(page.getByText(`${viewer} is operator`).first()).toBeVisible()
  await choose(page, `Actions for ${viewer}`, 'Disable…')
  await look(page, 'settings-disable')
  await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }))
  await expect(page.getByRole('listitem').filter({ hasText: viewer }).getByText('Disabled')).toBeVisible()
})

test('the Git repository is tried, a registry credential comes and goes, and the audit log knows both', async ({
  page,
}) => {
  await page.goto('/settings/git')
  await pressOn(page, page.getByRole('button', { name: 'Check' }))
  await expect(page.getByText(/^Trees can be written to it/)).toBeVisible({ timeout: 40_000 })
  await pressOn(page, page.getByRole('button', { name: 'Add a credential' }))
  await typeInto(page, page.getByLabel('Server'), 'ghcr.io')
  await typeInto(page, page.getByLabel('User name'), 'acme')
  await typeInto(page, page.getByLabel('Password or token'), 'CANARY-of-the-registry')
  await look(page, 'settings-registry')
  await page.keyboard.press('Enter')
  await expect(page.getByText('ghcr.io', { exact: true })).toBeVisible()
  await look(page, 'settings-git')
  expect(await page.content()).not.toContain('CANARY')
  await pressOn(page, page.getByRole('button', { name: 'Remove' }))
  await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }))
  await expect(page.getByText('There is none: images are pulled without a credential.')).toBeVisible()
  await pressOn(page, page.getByRole('button', { name: 'Use another repository' }))
  await look(page, 'settings-repository')
  await page.keyboard.press('Escape')

  await page.goto('/settings/audit')
  const rows = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  await expect(rows.first()).toContainText('admin')
  await look(page, 'settings-audit')
  expect(await page.content()).not.toContain('CANARY')
  await page.goto('/settings/audit?action=check_git_setting')
  await expect(rows.first()).toContainText('admin')
  const download = page.waitForEvent('download')
  await pressOn(page, page.getByRole('link', { name: 'Export' }))
  expect((await download).suggestedFilename()).toBe('kubeopera-audit.ndjson')
})
