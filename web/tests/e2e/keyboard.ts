import { expect, type Locator, type Page } from '@playwright/test'

/** More stops than any page of a few clusters has. */
const MOST_STOPS = 120

/** Goes to an element with the Tab key, as somebody does who has no mouse. */
export async function tabTo(page: Page, target: Locator) {
  await expect(target).toBeVisible()
  const focused = () => target.evaluate((element) => element === document.activeElement)
  for (let stops = 0; !(await focused()); stops++) {
    expect(stops, `the Tab key does not come to ${target}`).toBeLessThan(MOST_STOPS)
    await page.keyboard.press('Tab')
  }
}

/** Goes there and presses a key. */
export async function pressOn(page: Page, target: Locator, key = 'Enter') {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

/** Goes to a box and types into it, over what is there. */
export async function typeInto(page: Page, target: Locator, text: string) {
  await tabTo(page, target)
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

/** Opens somebody's or something's menu and chooses from it. */
export async function choose(page: Page, menu: string, item: string | RegExp) {
  await pressOn(page, page.getByRole('button', { name: menu }))
  const wanted = page.getByRole('menuitem', { name: item })
  await expect(wanted).toBeVisible()
  for (let down = 0; !(await wanted.evaluate((element) => element === document.activeElement)); down++) {
    expect(down, `the arrow keys do not come to ${item}`).toBeLessThan(12)
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
}
