import { expect, type Page } from '@playwright/test'

const { BASE_URL, USERNAME, PASSWORD } = process.env

/** Logs in as the person the stack under test was told to have. */
export async function logIn(page: Page) {
  if (!BASE_URL || !USERNAME || !PASSWORD)
    throw new Error('Set BASE_URL, USERNAME and PASSWORD to the KubeOpera under test and an administrator of it.')
  await page.goto('/login')
  await page.getByLabel('Username').fill(USERNAME)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
}
