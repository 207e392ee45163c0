import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { cluster } from './fixtures'
import { open, Server } from './kubeopera'

test('a new page takes the focus to its title and names itself in the tab', async () => {
  new Server()
  await open('/')
  await expect.element(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  await page.getByRole('link', { name: 'Clusters', exact: true }).click()
  await expect.element(page.getByRole('heading', { name: 'Clusters', level: 1 })).toHaveFocus()
  await expect.poll(() => document.title).toBe('Clusters · KubeOpera')
})

test('a row of the overview leads to the page of the cluster it speaks of', async () => {
  const server = new Server()
  server.clusters = [cluster(), cluster({ id: 'c-2', name: 'second', is_host: false })]
  await open('/')
  await page.getByRole('link', { name: 'second' }).click()
  await expect.element(page.getByRole('heading', { name: 'second', level: 1 })).toHaveFocus()
})

test('an address that names nothing says so and leads back', async () => {
  new Server()
  const { router } = await open('/clusters/no/such/place')
  await expect.element(page.getByRole('heading', { name: 'There is no page here' })).toBeVisible()
  await page.getByRole('link', { name: 'Go to Clusters' }).click()
  await expect.element(page.getByText('Get Started')).toBeVisible()
  expect(router.state.location.pathname).toBe('/clusters')
})

test('the theme follows the switch and is kept', async () => {
  new Server()
  await open('/')
  await page.getByRole('button', { name: /^Theme: / }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await expect.poll(() => document.documentElement.dataset.theme).toBe('dark')
  expect(localStorage.getItem('theme')).toBe('dark')
  await page.getByRole('button', { name: 'Theme: dark' }).click()
  await page.getByRole('menuitemradio', { name: 'System' }).click()
  await expect.poll(() => localStorage.getItem('theme')).toBeNull()
})
