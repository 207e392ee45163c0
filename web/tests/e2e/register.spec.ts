import { expect, type Page, test } from '@playwright/test'
import { expectAccessible } from './axe'
import { logIn } from './session'

/**
 * "Your first cluster" and "Register This Cluster", on a KubeOpera that has just been started on a cluster of its own.
 * The tests build on each other: a host cluster is registered once.
 */
test.describe.configure({ mode: 'serial' })

const SET_UP_WITHIN = Number(process.env.SET_UP_WITHIN_SECONDS ?? 600) * 1_000

/** Everything the browser complained about: a refused script, a failed request, an uncaught error. */
function complaints(page: Page): string[] {
  const heard: string[] = []
  page.on('console', (message) => {
    // The first question of every visit, who is logged in, is answered with 401 when nobody is.
    if (message.type() === 'error' && !message.location().url.endsWith('/api/v1/session')) heard.push(message.text())
  })
  page.on('pageerror', (error) => heard.push(String(error)))
  return heard
}

test('a fresh installation points to Clusters, where Get Started waits', async ({ page }) => {
  const heard = complaints(page)
  await page.goto('/clusters')
  await expect(page.getByRole('heading', { name: 'Log in to KubeOpera' })).toBeVisible()
  await expectAccessible(page)
  await logIn(page)
  await expect(page.getByText('KubeOpera has no host cluster yet')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Go to Clusters' }).click()
  await expect(page.getByRole('heading', { name: 'Get Started' })).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Set Up Manually' }).click()
  await expect(page.getByRole('heading', { name: 'Cluster Setup Wizard' })).toBeVisible()
  for (const way of ['Connect Existing', 'Create New', 'Register This Cluster']) {
    await page.getByRole('navigation', { name: 'Ways to add a cluster' }).getByRole('link', { name: way }).click()
    await expect(page.getByRole('region', { name: way })).toBeVisible()
    await expectAccessible(page)
  }
  expect(heard).toEqual([])
})

test('a wrong password is refused in a sentence', async ({ page }) => {
  await page.goto('/login')
  await page.getByLabel('Username').fill('nobody')
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('alert')).toHaveText(/wrong/)
})

test('one click registers this cluster, and its card goes through the phases to Ready', async ({ page }) => {
  test.setTimeout(SET_UP_WITHIN + 60_000)
  const heard = complaints(page)
  await logIn(page)
  await page.goto('/clusters')
  await page.getByRole('button', { name: 'Register This Cluster' }).click()

  const card = page.getByRole('article')
  await expect(card).toBeFocused()
  await expect(page.getByText(/^Registered as /).first()).toBeVisible()
  await expect(card.getByText('Host', { exact: true })).toBeVisible()

  const badge = card.locator('[data-tone]')
  const seen = await badge.evaluateHandle((element) => {
    const phases = [element.textContent]
    const look = () => element.textContent !== phases.at(-1) && phases.push(element.textContent)
    new MutationObserver(look).observe(element, { subtree: true, childList: true, characterData: true })
    return phases
  })
  await expect(badge).toHaveAttribute('data-tone', 'warn')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await page.evaluate(() => document.getAnimations().length), 'nothing moves for who asked for that').toBe(0)
  await page.emulateMedia({ reducedMotion: null })
  expect(await page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0)
  await expect(badge).toHaveText(/^(Ready|Failed)$/, { timeout: SET_UP_WITHIN })
  await expect(badge, `the message says: ${await card.getByTestId('message').textContent()}`).toHaveText('Ready')
  const afterPending = (await seen.jsonValue()).filter((phase) => phase !== 'Pending')
  expect(afterPending).toEqual(['BootstrappingFlux', 'GeneratingGitOpsTree', 'InstallingKubeOpera', 'Ready'])

  await expect(badge).toHaveAttribute('data-tone', 'ok')
  await expect(card.getByTestId('message')).toHaveText(/^Flux healthy and reconciling fluxcd\/clusters\/[a-z0-9-]+\./)
  await expect(card).toContainText(/v1\.\d+\.\d+/)
  await expect(card).toContainText(/\d+\/\d+ ready/)
  await expectAccessible(page)
  expect(heard).toEqual([])
})

test('registering again returns the existing entry, by keyboard alone', async ({ page }) => {
  await logIn(page)
  await page.goto('/clusters/new')
  const register = page.getByRole('button', { name: 'Register This Cluster' })
  await expect(register).toBeVisible()
  for (let tabs = 0; tabs < 40 && !(await register.evaluate((button) => button === document.activeElement)); tabs++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(page.getByText(/^This cluster is already registered as /).first()).toBeVisible()
  await expect(page.getByRole('article')).toHaveCount(1)
  await expect(page.getByRole('article')).toBeFocused()
  await expectAccessible(page)
})

test('on a phone the same card fits, and nothing scrolls sideways', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await logIn(page)
  await page.getByRole('button', { name: 'Open menu' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Clusters' }).click()
  await expect(page.getByRole('article')).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await expectAccessible(page)
})

test('logging out ends the session on the server', async ({ page }) => {
  await logIn(page)
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await expect(page.getByRole('heading', { name: 'Log in to KubeOpera' })).toBeVisible()
  expect((await page.request.get('/api/v1/clusters')).status()).toBe(401)
})
