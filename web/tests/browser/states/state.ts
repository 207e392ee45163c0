import axe from 'axe-core'
import { describe, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { chooseTheme } from '@/theme'
import { open, Server } from '../kubeopera'

type Opened = Awaited<ReturnType<typeof open>>

/** A page as somebody may meet it. */
export interface State {
  name: string
  path: string
  arrange?: (server: Server) => void
  /** What the page says in this state; found before the page is checked. */
  says: string | RegExp
  act?: (server: Server, opened: Opened) => Promise<void>
}

export const screens = {
  wide: { theme: 'light', width: 1440, height: 900 },
  dark: { theme: 'dark', width: 1440, height: 900 },
  phone: { theme: 'light', width: 390, height: 844 },
  darkPhone: { theme: 'dark', width: 390, height: 844 },
  /** The width of a page of 1280 px at 400 %, the smallest that WCAG 1.4.10 asks for. */
  magnified: { theme: 'dark', width: 320, height: 480 },
} as const

type Screen = (typeof screens)[keyof typeof screens]

const shots = import.meta.env.VITE_SHOTS
const only = import.meta.env.VITE_STATE

/** Renders each state in both themes, wide and on a phone: no fault of accessibility, and nothing scrolls sideways. */
export function render(states: State[], on: Screen[] = [screens.wide, screens.dark, screens.phone, screens.darkPhone]) {
  for (const { theme, width, height } of on)
    describe(`${theme}, ${width} px`, () => {
      for (const { name, path, arrange, says, act } of states.filter((state) => !only || state.name === only))
        test(`${name} has no accessibility violation and does not scroll sideways`, async () => {
          await page.viewport(width, height)
          chooseTheme(theme)
          const server = new Server()
          arrange?.(server)
          const opened = await open(path)
          await expect.element(page.getByText(says).first()).toBeInTheDocument()
          await act?.(server, opened)
          await settled()
          if (shots) await page.screenshot({ path: `${shots}/${name.replaceAll(' ', '-')}-${theme}-${width}.png` })
          // An open popup lies outside the landmarks, on purpose. One may be open because the pointer rests there.
          const hasPopup = document.querySelector('[data-base-ui-portal] [data-open]') !== null
          const { violations } = await axe.run(document, { rules: { region: { enabled: !act && !hasPopup } } })
          expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}: ${nodes[0]?.failureSummary}`)).toEqual([])
          expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
        })
    })
}

/** A popup that has just opened begins invisible, also for people who want no motion. */
async function settled() {
  await expect.poll(() => document.querySelector('[data-starting-style], [data-ending-style]')).toBeNull()
}
