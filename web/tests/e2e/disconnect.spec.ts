import { choose, pressOn } from './keyboard'
import { look } from './look'
import { expect, test } from './test'

/** "Disconnecting or deleting", of the cluster that was connected. */
test('disconnecting tells what goes and what stays, and ends with the receipt', async ({ page }) => {
  test.setTimeout(180_000)
  await page.goto('/clusters')
  await pressOn(page, page.getByRole('button', { name: 'Actions for second' }))
  await expect(page.getByRole('menuitem', { name: 'Disconnect…' })).toBeVisible()
  await expect(page.getByRole('menuitem', { name: 'Delete…' }), 'KubeOpera did not create it').toHaveCount(0)
  await look(page, 'menu', { popup: true })
  await page.keyboard.press('Escape')
  await choose(page, 'Actions for second', 'Disconnect…')
  const dialog = page.getByRole('alertdialog')
  await expect(dialog.getByRole('heading', { name: 'What stays' })).toBeVisible()
  await look(page, 'disconnect')
  await pressOn(page, dialog.getByRole('button', { name: 'Disconnect' }))
  await expect(dialog.getByText('second is disconnected')).toBeVisible({ timeout: 120_000 })
  await expect(dialog.getByRole('heading', { name: 'Removed' })).toBeVisible()
  await expect(dialog.getByRole('heading', { name: 'Kept' })).toBeVisible()
  await look(page, 'disconnected')
  await pressOn(page, dialog.getByRole('button', { name: 'Close' }))
  await expect(page.getByRole('article', { name: 'second' })).toHaveCount(0)
})
