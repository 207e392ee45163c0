import { pressOn } from './keyboard'
import { look } from './look'
import { logIn } from './session'
import { expect, nobody, test } from './test'

/** "Your first cluster" and "Register This Cluster", on a KubeOpera that has just been started on a cluster of its own. */
test.describe.configure({ mode: 'serial' })

const SET_UP_WITHIN = Number(process.env.SET_UP_WITHIN_SECONDS ?? 600) * 1_000

test.describe('of somebody new', () => {
  test.use({ storageState: nobody })

  test('every page asks who it is, and a wrong password is refused in a sentence', async ({ page }) => {
    await page.goto('/clusters')
    await expect(page.getByRole('heading', { name: 'Log in to KubeOpera' })).toBeVisible()
    await look(page, 'log-in')
    await page.getByLabel('Username').fill('nobody')
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await expect(page.getByRole('alert')).toHaveText(/wrong/)
    await look(page, 'log-in-refused')
  })

  test('logging out ends the session on the server', async ({ page }) => {
    await logIn(page)
    await page.getByRole('button', { name: /^Account of / }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await expect(page.getByRole('heading', { name: 'Log in to KubeOpera' })).toBeVisible()
    expect((await page.request.get('/api/v1/clusters')).status()).toBe(401)
  })
})

test('a fresh installation points to Clusters, where Get Started waits', async ({ page }) => {
  await page.goto('/')
  await expect(page.getByText('KubeOpera has no host cluster yet')).toBeVisible()
  await look(page, 'overview-empty')
  await page.goto('/clusters/multi')
  await expect(page.getByText('There is nothing to compare yet')).toBeVisible()
  await look(page, 'multi-empty')
  await page.goto('/')
  await page.getByRole('link', { name: 'Go to Clusters' }).click()
  await expect(page.getByRole('heading', { name: 'Get Started' })).toBeVisible()
  await look(page, 'get-started')
  await page.getByRole('link', { name: 'Set Up Manually' }).click()
  await expect(page.getByRole('heading', { name: 'Cluster Setup Wizard' })).toBeVisible()
  for (const way of ['Connect Existing', 'Create New', 'Register This Cluster']) {
    await pressOn(
      page,
      page.getByRole('navigation', { name: 'Ways to add a cluster' }).getByRole('link', { name: way }),
    )
    await expect(page.getByRole('region', { name: way })).toBeVisible()
  }
  await look(page, 'wizard-register')
})

test('one click registers this cluster, and its card goes through the phases to Ready', async ({ page }) => {
  test.setTimeout(SET_UP_WITHIN + 60_000)
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
  await look(page, 'registering')
  await expect(badge).toHaveText(/^(Ready|Failed)$/, { timeout: SET_UP_WITHIN })
  await expect(badge, `the message says: ${await card.getByTestId('message').textContent()}`).toHaveText('Ready')
  const afterPending = (await seen.jsonValue()).filter((phase) => phase !== 'Pending')
  expect(afterPending).toEqual(['BootstrappingFlux', 'GeneratingGitOpsTree', 'InstallingKubeOpera', 'Ready'])

  await expect(badge).toHaveAttribute('data-tone', 'ok')
  await expect(card.getByTestId('message')).toHaveText(/^Flux healthy and reconciling fluxcd\/clusters\/[a-z0-9-]+\./)
  await expect(card).toContainText(/v1\.\d+\.\d+/)
  await expect(card).toContainText(/\d+\/\d+ ready/)
  await look(page, 'registered')
})

test('registering again returns the existing entry, by keyboard alone', async ({ page }) => {
  await page.goto('/clusters/new')
  await pressOn(page, page.getByRole('button', { name: 'Register This Cluster' }))
  await expect(page.getByText(/^This cluster is already registered as /).first()).toBeVisible()
  await expect(page.getByRole('article')).toHaveCount(1)
  await expect(page.getByRole('article')).toBeFocused()
})

test('on a phone, the menu leads to the same card', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/')
  await page.getByRole('button', { name: 'Open menu' }).click()
  await page.screenshot({ path: 'test-results/pictures/menu-phone.png' })
  await page.getByRole('dialog').getByRole('link', { name: 'Clusters' }).click()
  await expect(page.getByRole('article')).toBeVisible()
})
