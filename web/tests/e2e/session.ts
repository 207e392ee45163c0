import { expect, type Page } from '@playwright/test'

const { BASE_URL, USERNAME, PASSWORD } = process.env

/** Logs in as the person the stack under test was told to have. */
export async function logIn(page: Page) {
  if (!BASE_URL || !USERNAME || !PASSWORD)
    throw new Error('Set BASE_URL, USERNAME and PASSWORD to the KubeOpera under test and an administrator of it.')
  await page.goto('/login')
  await fillIn(page, USERNAME, PASSWORD)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
}

/** Enters somebody's name and password at the log-in page. */
export async function fillIn(page: Page, username: string, password: string) {
  await page.getByLabel('Username').fill(username)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}
