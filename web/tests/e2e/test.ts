import { type BrowserContext, test as base, expect } from '@playwright/test'
import { logIn } from './session'

type Visit = Awaited<ReturnType<BrowserContext['storageState']>>

/** The browser says this of every request that was refused. Refusals are answers; the pages say what they mean. */
const REFUSAL = /^Failed to load resource: the server responded with a status of 4\d\d /

/**
 * A test of somebody who is logged in, who finds no complaint of the browser at its end: no script or style refused by the
 * Content-Security-Policy, no failed request, no uncaught error.
 */
export const test = base.extend<{ complaints: undefined }, { visit: Visit }>({
  visit: [
    async ({ browser }, use) => {
      const context = await browser.newContext({ baseURL: process.env.BASE_URL })
      await logIn(await context.newPage())
      await use(await context.storageState())
      await context.close()
    },
    { scope: 'worker' },
  ],
  storageState: ({ visit }, use) => use(visit),
  complaints: [
    async ({ page }, use) => {
      const heard: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' && !REFUSAL.test(message.text())) heard.push(message.text())
      })
      page.on('pageerror', (error) => heard.push(String(error)))
      await use(undefined)
      expect(heard).toEqual([])
    },
    { auto: true },
  ],
})

/** Of somebody whom KubeOpera has not seen before. */
export const nobody = { cookies: [], origins: [] }

export { expect }
