import { readFileSync } from 'node:fs'
import { pressOn, tabTo, typeInto } from './keyboard'
import { look } from './look'
import { expect, test } from './test'

/**
 * "Connect an existing cluster", by keyboard alone, with the kubeconfig of a second real cluster in the file that
 * OTHER_KUBECONFIG names. What comes later is done with this cluster, too.
 */
const { OTHER_KUBECONFIG } = process.env
test.skip(!OTHER_KUBECONFIG, 'OTHER_KUBECONFIG names no kubeconfig of a second cluster')
test.describe.configure({ mode: 'serial' })

const kubeconfig = () => readFileSync(OTHER_KUBECONFIG ?? '', 'utf8')

test('what is no kubeconfig is refused at its field, and a real one is looked at and connected', async ({ page }) => {
  await page.goto('/clusters/new?way=connect')
  const box = page.getByRole('textbox', { name: 'Kubeconfig' })
  const check = page.getByRole('button', { name: 'Check Kubeconfig' })
  await typeInto(page, box, 'this is no kubeconfig')
  await pressOn(page, check)
  await expect(box).toHaveAttribute('aria-invalid', 'true')
  await look(page, 'connect-refused')

  await page.reload()
  await typeInto(page, box, kubeconfig())
  await pressOn(page, check)
  await expect(page.getByText('Usable', { exact: true })).toBeVisible({ timeout: 30_000 })
  await typeInto(page, page.getByLabel(/^Region/), '')
  await pressOn(page, page.getByRole('button', { name: 'Connect', exact: true }))
  await expect(page.getByLabel(/^Provider/)).toBeFocused()
  await page.keyboard.type('On-prem')
  await typeInto(page, page.getByLabel(/^Region/), 'lab')
  await page.goto('/clusters/new?way=connect')
  await expect(page.getByLabel(/^Region/), 'what was typed outlives a reload').toHaveValue('lab')
  await expect(box, 'what is secret does not').toHaveValue('')

  await typeInto(page, box, kubeconfig())
  await pressOn(page, check)
  await expect(page.getByText('Usable', { exact: true })).toBeVisible({ timeout: 30_000 })
  await typeInto(page, page.getByLabel(/^Name/), 'second')
  await tabTo(page, page.getByText('The same as a HostCluster resource'))
  await page.keyboard.press('Enter')
  await look(page, 'connect')
  await pressOn(page, page.getByRole('button', { name: 'Connect', exact: true }))
  await expect(page.getByRole('article', { name: 'second' })).toBeFocused({ timeout: 30_000 })
  await look(page, 'connecting')

  const key = /client-key-data: (\S+)/.exec(kubeconfig())?.[1] ?? ''
  expect(key.length).toBeGreaterThan(100)
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.documentElement.outerHTML]),
  )
  expect(kept).not.toContain(key)
})

test('the same cluster cannot be connected twice, and the refusal leads to it', async ({ page }) => {
  await page.goto('/clusters/new?way=connect')
  await page.getByRole('textbox', { name: 'Kubeconfig' }).fill(kubeconfig())
  await page.getByRole('button', { name: 'Check Kubeconfig' }).click()
  await expect(page.getByText('Cannot be used')).toBeVisible({ timeout: 30_000 })
  await look(page, 'connect-again')
  await page.getByRole('link', { name: 'Show second' }).click()
  await expect(page.getByRole('article', { name: 'second' })).toBeFocused()
})
