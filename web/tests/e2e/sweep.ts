import { writeFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { expect, test } from './test'

/** Leaves in SWEEP_TO what every page is and keeps, for whoever looks whether a secret is in it. */
const { SWEEP_TO = '' } = process.env

const pages = [
  '/',
  '/clusters',
  '/clusters/multi',
  '/clusters/new',
  '/clusters/new?way=connect',
  '/clusters/new?way=create',
  '/settings',
  '/settings/account',
  '/settings/audit',
  '/settings/credentials',
  '/settings/git',
  '/settings/people',
]

/** The document as it stands, what stands in its fields, and what the browser keeps for it. */
async function all(page: Page) {
  const heading = page.getByRole('heading').first()
  await expect(heading).toBeVisible()
  await expect(page.locator('.skeletons')).toHaveCount(0)
  return page.evaluate(async () => {
    const fields = [...document.querySelectorAll('input, textarea, select')].map(
      (field) => 'value' in field && field.value,
    )
    const caches_ = await Promise.all(
      (await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map((one) => one.url)),
    )
    const kept = [{ ...localStorage }, { ...sessionStorage }, await indexedDB.databases(), caches_, document.cookie]
    return [location.href, document.documentElement.outerHTML, JSON.stringify(fields), JSON.stringify(kept)].join('\n')
  })
}

test('every page, and each cluster on its own', async ({ page }) => {
  const seen: string[] = []
  for (const path of pages) {
    await page.goto(path)
    seen.push(await all(page))
  }
  const list = await (await page.request.get('/api/v1/clusters')).json()
  for (const { id } of list.items) {
    await page.goto(`/clusters/${id}`)
    seen.push(await all(page))
  }
  writeFileSync(SWEEP_TO, seen.join('\n'))
})
