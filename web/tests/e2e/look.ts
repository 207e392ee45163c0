import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** How people look at a page. Zoomed to 200 %, a window of 1280 has room for 640. */
const ways = [
  { way: 'light', colorScheme: 'light', width: 1280, height: 800, axe: true },
  { way: 'dark', colorScheme: 'dark', width: 1280, height: 800, axe: false },
  { way: 'phone', colorScheme: 'dark', width: 390, height: 844, axe: true },
  { way: 'zoomed', colorScheme: 'light', width: 640, height: 400, axe: false },
] as const

/**
 * Looks at the page in each way: nothing scrolls sideways, no rule of WCAG 2.2 AA or of axe's best practices is broken. What
 * was seen is left in `test-results/pictures`, under its name. An open popup is outside of the page's landmarks.
 */
export async function look(page: Page, name: string, { popup = false } = {}) {
  const before = page.viewportSize()
  for (const { way, colorScheme, axe, ...size } of ways) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme)
    await page.screenshot({ path: `test-results/pictures/${name}-${way}.png` })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect.soft(wide, `${name} scrolls sideways, ${way}`).toBeLessThanOrEqual(size.width)
    if (!axe) continue
    const { violations } = await new AxeBuilder({ page }).disableRules(popup ? ['region'] : []).analyze()
    expect.soft(violations.map(({ id, nodes }) => `${name}, ${way}: ${id}: ${nodes[0]?.html}`)).toEqual([])
  }
  if (before) await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
}
