import { pressOn } from './keyboard'
import { look } from './look'
import { expect, test } from './test'

/** "Multi-Cluster view", with two real clusters. */
test('two clusters are compared in sum, side by side and as tiles', async ({ page }) => {
  await page.goto('/clusters/multi')
  const rows = page.getByRole('region', { name: 'Comparison' }).getByRole('row')
  await expect(rows).toHaveCount(3)
  await expect(page.getByRole('region', { name: 'Comparison' })).toContainText('1/1')
  await look(page, 'multi')
  await page.screenshot({ path: 'test-results/pictures/multi-whole.png', fullPage: true })

  await pressOn(page, page.getByRole('columnheader', { name: /^Cluster/ }).getByRole('button'))
  await expect(page).toHaveURL(/sort=name/)
  await expect(page.getByRole('columnheader', { name: /^Cluster/ })).toHaveAttribute('aria-sort', 'ascending')
  await expect(rows.nth(1)).toContainText('host')
  await page.keyboard.press('Enter')
  await expect(rows.nth(1)).toContainText('second')

  const refreshed = page.waitForResponse((answer) => answer.url().endsWith('/clusters/multi?refresh=true'))
  await pressOn(page, page.getByRole('button', { name: 'Refresh' }))
  expect((await refreshed).status()).toBe(200)

  const tiles = page.getByRole('region', { name: /^Clusters by CPU in use/ }).getByRole('link')
  await expect(tiles).toHaveCount(2)
  for (let stops = 0; stops < 60 && !(await page.evaluate(() => document.activeElement?.matches('[data-id]'))); stops++)
    await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('End')
  await expect(tiles.and(page.locator(':focus'))).toHaveCount(1)
  await look(page, 'multi-tile', { popup: true })
  const name = (await page.locator(':focus').getAttribute('aria-label'))?.split(':')[0] ?? ''
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
})
