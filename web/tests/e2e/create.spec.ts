import { choose, pressOn, tabTo, typeInto } from './keyboard'
import { look } from './look'
import { expect, test } from './test'

/**
 * "Create a new cluster" as far as a KubeOpera without a cluster-provisioner lets it come, by keyboard alone. AWS_ACCESS_KEY_ID and
 * AWS_SECRET_ACCESS_KEY are of a user of the cloud that the KubeOpera under test asks.
 */
const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
test.skip(!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY, 'there is no key of a cloud')
test.describe.configure({ mode: 'serial' })

test('an order is checked field by field, estimated, and submitted with a credential that was added on the way', async ({
  page,
}) => {
  await page.goto('/clusters/new?way=create')
  const submit = page.getByRole('button', { name: 'Create cluster' })
  await pressOn(page, submit)
  await expect(page.getByText('Choose what to build.')).toBeVisible()
  await look(page, 'create-refused')
  await pressOn(page, page.getByRole('radio', { name: /^AWS · Vanilla/ }), 'Space')
  await pressOn(page, submit)
  await expect(page.getByText('Choose a credential.')).toBeVisible()

  await pressOn(page, page.getByRole('button', { name: 'Add a credential' }))
  await typeInto(page, page.getByLabel('Label'), 'acme-platform')
  await typeInto(page, page.getByLabel('Access key ID'), AWS_ACCESS_KEY_ID ?? '')
  await typeInto(page, page.getByLabel('Secret access key'), AWS_SECRET_ACCESS_KEY ?? '')
  await look(page, 'create-credential')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('radio', { name: /acme-platform/ })).toBeChecked()
  await pressOn(page, page.getByRole('button', { name: 'Check acme-platform' }))
  await expect(page.getByText(/arn:aws:iam::\d{12}:user\/kubeopera/)).toBeVisible({ timeout: 30_000 })
  expect(await page.content(), 'a secret never comes back').not.toContain(AWS_SECRET_ACCESS_KEY)

  await pressOn(page, submit)
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await typeInto(page, page.getByLabel('Name', { exact: true }), 'New_Cluster')
  await tabTo(page, page.getByLabel('Region'))
  await page.keyboard.type('Stock')
  await tabTo(page, page.getByLabel('Size of each node'))
  await page.keyboard.type('t3.medium')
  await typeInto(page, page.getByLabel('Nodes', { exact: true }), '0')
  await pressOn(page, submit)
  await expect(page.getByText('Enter a whole number of at least 1.')).toBeVisible()
  await look(page, 'create-fields-refused')
  await typeInto(page, page.getByLabel('Name', { exact: true }), 'created')
  await typeInto(page, page.getByLabel('Nodes', { exact: true }), '3')
  const controlPlane = page.getByLabel('Control-plane nodes')
  const offered = (await controlPlane.locator('option').allTextContents()).map(Number)
  expect(offered.every((count) => count % 2 === 1) && offered.length, 'only odd numbers are offered').toBeGreaterThan(1)
  const before = page.getByRole('complementary', { name: 'Before you create it' })
  await expect(before.getByText(/^\$\d/).first()).toBeVisible()
  await expect(before.getByText(/With one control-plane node/)).toBeVisible()
  const withOne = await before.getByText(/^\$\d/).first().textContent()
  await tabTo(page, controlPlane)
  await page.keyboard.press('3')
  await expect(before.getByText(/^\$\d/).first()).not.toHaveText(withOne ?? '')
  await expect(before.getByText(/With one control-plane node/)).toBeHidden()
  await look(page, 'create')
  await pressOn(page, submit)
  const card = page.getByRole('article', { name: 'created' })
  await expect(card).toBeFocused({ timeout: 30_000 })
  await expect(card).toContainText('This KubeOpera has no cluster-provisioner', { timeout: 30_000 })
  await look(page, 'creating')
})

test('a credential that is in use is not deleted', async ({ page }) => {
  await page.goto('/settings/credentials')
  await expect(page.getByText(/in use by created/)).toBeVisible()
  await look(page, 'settings-credentials')
  await pressOn(page, page.getByRole('button', { name: 'Delete acme-platform' }))
  const dialog = page.getByRole('alertdialog')
  await pressOn(page, dialog.getByRole('button', { name: 'Delete' }))
  await expect(dialog.getByRole('alert')).toBeVisible()
  await look(page, 'settings-credential-in-use')
})

test('deleting asks for the typed name, and what was never begun can be let go of', async ({ page }) => {
  await page.goto('/clusters')
  await choose(page, 'Actions for created', 'Delete…')
  const name = page.getByLabel('Name of the cluster')
  await expect(name).toBeFocused()
  await page.keyboard.type('Created')
  await page.keyboard.press('Enter')
  await expect(page.getByText('This is not the name of the cluster.')).toBeVisible()
  await look(page, 'delete')
  await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Keep it' }))
  await choose(page, 'Actions for created', 'Disconnect…')
  const dialog = page.getByRole('alertdialog')
  await pressOn(page, dialog.getByRole('button', { name: 'Disconnect' }))
  await expect(dialog.getByText('created is disconnected')).toBeVisible({ timeout: 60_000 })
  await pressOn(page, dialog.getByRole('button', { name: 'Close' }))
  await expect(page.getByRole('article', { name: 'created' })).toHaveCount(0)
})
