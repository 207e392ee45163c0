import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { fillIn } from './session'

/**
 * The pictures of README.md and docs/, of a KubeOpera that has just been started. KUBECONFIGS says which clusters to connect:
 * `name provider region file`, separated by commas.
 */
const { PICTURES_TO, USERNAME = '', PASSWORD = '', KUBECONFIGS = '' } = process.env
const CHOSEN = 'correct horse battery staple'

test.describe.configure({ mode: 'serial' })
test.use({ viewport: { width: 1280, height: 760 } })

/** In both themes, once nothing is loading, pointed at or announced any more. */
async function picture(page: Page, name: string) {
  await page.mouse.move(0, 0)
  await expect(page.locator('.skeletons')).toHaveCount(0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme)
    await page.screenshot({ path: `${PICTURES_TO}/${name}-${colorScheme}.png` })
  }
}

test('the pictures', async ({ page }) => {
  test.setTimeout(900_000)
  await page.goto('/login')
  await fillIn(page, USERNAME, PASSWORD)
  await page.getByLabel('New password', { exact: true }).fill(CHOSEN)
  await page.getByLabel('New password again', { exact: true }).fill(CHOSEN)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Go to Clusters' }).click()
  await expect(page.getByRole('heading', { name: 'Get Started' })).toBeVisible()
  await picture(page, 'get-started')
  await page.getByRole('button', { name: 'Register This Cluster' }).click()
  await expect(page.getByRole('article')).toBeVisible()

  const clusters = KUBECONFIGS.split(',')
  const first = clusters[0]?.split(' ')[0]
  for (const described of clusters) {
    const [name = '', provider = '', region = '', file = ''] = described.split(' ')
    await page.goto('/clusters/new?way=connect')
    await page.getByRole('textbox', { name: 'Kubeconfig' }).fill(readFileSync(file, 'utf8'))
    await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
    await expect(page.getByText('Usable', { exact: true })).toBeVisible({ timeout: 60_000 })
    await page.getByLabel(/^Name/).fill(name)
    await page.getByLabel(/^Provider/).selectOption(provider)
    await page.getByLabel(/^Region/).fill(region)
    await page.getByText('Supply a kubeconfig').scrollIntoViewIfNeeded()
    if (name === first) await picture(page, 'connect')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect(page.getByRole('article', { name })).toBeVisible({ timeout: 60_000 })
  }

  await page.goto('/clusters/new?way=create')
  await page.getByRole('radio', { name: /^AWS · Vanilla/ }).check()
  await page.getByLabel('Name', { exact: true }).fill('prod-stockholm')
  await page.getByLabel('Region').selectOption('eu-north-1')
  await page.getByLabel('Size of each node').selectOption('t3.large')
  await page.getByLabel('Control-plane nodes').selectOption('3')
  await expect(page.getByRole('complementary').getByText(/^\$\d/).first()).toBeVisible()
  await page.getByText('Size the cluster').scrollIntoViewIfNeeded()
  await picture(page, 'create')

  await page.goto('/clusters')
  const badges = page.getByRole('article').locator('[data-tone=ok]')
  await expect(badges).toHaveText(['Ready', 'Ready'], { timeout: 600_000 })
  await picture(page, 'clusters')
  await page.goto('/clusters/multi')
  await expect(page.getByRole('region', { name: 'Comparison' }).getByRole('row')).toHaveCount(4)
  await picture(page, 'multi')
  await page.goto('/clusters')
  await page.getByRole('link', { name: 'prod-north' }).click()
  await expect(page.getByRole('region', { name: 'Health' })).toContainText(/of 100/)
  await picture(page, 'cluster')
})
