import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { fleet } from './fixtures'
import { open, Server } from './kubeopera'

const actions = page.getByRole('button', { name: 'Actions for oslo-edge-lab' })
const opened = page.getByRole('menuitem', { name: 'Open' })

async function list() {
  const server = new Server()
  server.clusters = fleet()
  await open('/clusters?view=list')
  await expect.element(actions).toBeVisible()
}

test('a menu that was not loaded yet opens by Enter and by the arrow, closes by Escape, and gives the focus back', async () => {
  await list()
  for (const key of ['{Enter}', '{ArrowDown}', ' ']) {
    actions.element().focus()
    await userEvent.keyboard(key)
    await expect.element(opened).toBeVisible()
    await expect.element(actions).toHaveAttribute('aria-expanded', 'true')
    await expect.poll(() => document.querySelector('[role=menu]')?.contains(document.activeElement)).toBe(true)
    await userEvent.keyboard('{Escape}')
    await expect.element(opened).not.toBeInTheDocument()
    await expect.element(actions).toHaveFocus()
  }
})

test('its items are gone through by arrows and chosen by Enter', async () => {
  await list()
  actions.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(opened).toBeVisible()
  await userEvent.keyboard('{End}{Home}{Enter}')
  await expect.element(page.getByRole('heading', { level: 1, name: 'oslo-edge-lab' })).toBeVisible()
})

test('a button says that it opens something before it was loaded', async () => {
  await list()
  await expect.element(actions).toHaveAttribute('aria-haspopup', 'menu')
  await expect.element(actions).toHaveAttribute('aria-expanded', 'false')
})
