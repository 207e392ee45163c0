import { expect, test } from '@playwright/test'
import { logIn } from './session'

/** The pictures of the README, of a KubeOpera whose host cluster is Ready. */
for (const theme of ['light', 'dark'] as const)
  test(`the clusters page in the ${theme} theme`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 760 })
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await logIn(page)
    await page.getByRole('link', { name: 'Clusters', exact: true }).click()
    await expect(page.locator('[data-tone=ok]')).toHaveText('Ready')
    await page.getByRole('button', { name: /^Phases of / }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    await page.mouse.move(0, 0)
    await page.screenshot({ path: `${process.env.PICTURES_TO}/clusters-${theme}.png` })
  })
