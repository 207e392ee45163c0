import { readFileSync } from 'node:fs'
import { choose, pressOn, tabTo, typeInto } from './keyboard'
import { look } from './look'
import { expect, test } from './test'

/** "All Clusters", with the host cluster and the one that was connected. */
test.describe.configure({ mode: 'serial' })

const SET_UP_WITHIN = Number(process.env.SET_UP_WITHIN_SECONDS ?? 600) * 1_000

test('the connected cluster comes to Ready on its own page, with every phase in its time', async ({ page }) => {
  test.setTimeout(SET_UP_WITHIN + 60_000)
  await page.goto('/clusters')
  await pressOn(page, page.getByRole('link', { name: 'second' }))
  await expect(page).toHaveTitle('second · KubeOpera')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('second')
  await look(page, 'cluster-being-set-up')
  await expect(page.locator('header [data-tone]')).toHaveText('Ready', { timeout: SET_UP_WITHIN })
  await expect(page.getByRole('region', { name: 'Phases' }).getByRole('listitem')).toHaveText([
    /^ValidatingAccess, done/,
    /^BootstrappingFlux, done/,
    /^GeneratingGitOpsTree, done/,
    /^InstallingKubeOpera, done/,
    /^Ready, done/,
  ])
  await expect(page.getByText('Flux is healthy and reconciling the tree.')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Health' })).toContainText(/\d/)
  await look(page, 'cluster')
  await page.screenshot({ path: 'test-results/pictures/cluster-whole.png', fullPage: true })
})

test('name and labels are changed by keyboard, and labels find it', async ({ page }) => {
  await page.goto('/clusters')
  await choose(page, 'Actions for second', 'Edit name and labels…')
  await pressOn(page, page.getByRole('button', { name: 'Add a label' }))
  await typeInto(page, page.getByLabel('Key 1'), 'env')
  await typeInto(page, page.getByLabel('Value 1'), 'lab')
  await look(page, 'edit')
  await pressOn(page, page.getByRole('button', { name: 'Save' }))
  await expect(page.getByText('second is saved').first()).toBeVisible()
  await tabTo(page, page.getByLabel('Label', { exact: true }))
  await page.keyboard.type('env=lab')
  await expect(page.getByRole('article')).toHaveCount(1)
  await expect(page).toHaveURL(/label=env%3Dlab/)
})

test('cards or a list are found, filtered and sorted, and the address says how', async ({ page }) => {
  await page.goto('/clusters')
  await expect(page.getByRole('article')).toHaveCount(2)
  await look(page, 'clusters')
  await pressOn(page, page.getByRole('button', { name: 'List' }))
  await expect(page.getByRole('table')).toBeVisible()
  await look(page, 'clusters-list')
  await pressOn(page, page.getByRole('columnheader', { name: /^Nodes/ }).getByRole('button'))
  await expect(page).toHaveURL(/sort=nodes/)
  await page.keyboard.press('/')
  await page.keyboard.type('sec')
  await expect(page.getByText('1 of 2 clusters')).toBeVisible()
  await expect(page).toHaveURL(/q=sec/)
  await pressOn(page, page.getByRole('table').getByRole('link', { name: 'second' }))
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('second')
  await page.goBack()
  await expect(page.getByText('1 of 2 clusters'), 'the way back leads to what was found').toBeVisible()
  await page.keyboard.type('/')
  await page.keyboard.type('x')
  await expect(page.getByText('No clusters match these filters.')).toBeVisible()
  await look(page, 'clusters-none-found')
})

test('the kubeconfig is replaced by one that leads to the same cluster', async ({ page }) => {
  await page.goto('/clusters')
  await choose(page, 'Actions for second', 'Replace kubeconfig…')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('textbox', { name: 'Kubeconfig' })).toBeFocused()
  await page.keyboard.insertText(readFileSync(process.env.OTHER_KUBECONFIG ?? '', 'utf8'))
  await pressOn(page, dialog.getByRole('button', { name: 'Check Kubeconfig' }))
  await expect(dialog.getByText('Usable', { exact: true })).toBeVisible({ timeout: 30_000 })
  await look(page, 'replace-kubeconfig')
  await pressOn(page, dialog.getByRole('button', { name: 'Replace', exact: true }))
  await expect(page.getByText('second has another kubeconfig').first()).toBeVisible({ timeout: 30_000 })
})

test('the palette goes to a cluster and to a page', async ({ page }) => {
  await page.goto('/')
  await look(page, 'overview')
  const palette = page.getByRole('combobox', { name: 'Search or jump to' })
  await page.keyboard.press('Control+k')
  await expect(palette).toBeFocused()
  await page.keyboard.type('sec')
  await look(page, 'palette')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('second')
  await page.keyboard.press('Control+k')
  await expect(palette).toBeFocused()
  await page.keyboard.type('audit')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Audit log' })).toBeVisible()
})

test('an address that leads nowhere says so', async ({ page }) => {
  await page.goto('/clusters/00000000-0000-4000-8000-000000000000')
  await expect(page.getByText('KubeOpera has no such cluster')).toBeVisible()
  await look(page, 'no-such-cluster')
  await page.goto('/no/such/page')
  await look(page, 'no-such-page')
})
