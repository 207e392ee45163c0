import axe from 'axe-core'
import { expect, test } from 'vitest'
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

/** The widths a page is looked at, in px: a phone, a wide screen, and the smallest that WCAG 1.4.10 asks for (1280 px at 400 %). */
export const phone = { width: 390, height: 844 }
export const wide = { width: 1440, height: 900 }
export const magnified = { width: 320, height: 480 }

const shots = import.meta.env.VITE_SHOTS
const only = import.meta.env.VITE_STATE

/**
 * Renders each state, on the narrowest screen first, and looks at it in both themes on each: no fault of accessibility, and
 * nothing scrolls sideways. It is made once, and then the screen and the theme change, as they may for anybody.
 */
export function render(states: State[], on = [phone, wide]) {
  for (const { name, path, arrange, says, act } of states.filter((state) => !only || state.name === only))
    test(`${name} has no accessibility violation and does not scroll sideways`, async () => {
      const [first = wide] = on
      await page.viewport(first.width, first.height)
      chooseTheme('light')
      const server = new Server()
      arrange?.(server)
      const opened = await open(path)
      await expect.element(page.getByText(says).first()).toBeInTheDocument()
      await act?.(server, opened)
      for (const { width, height } of on) {
        await page.viewport(width, height)
        for (const theme of ['light', 'dark'] as const) {
          chooseTheme(theme)
          await settled()
          if (shots) await page.screenshot({ path: `${shots}/${name.replaceAll(' ', '-')}-${theme}-${width}.png` })
          const look = `${theme}, ${width} px`
          // The second theme changes colours and nothing else.
          expect(await violations(theme === 'light' ? undefined : ['color-contrast'], act !== undefined), look).toEqual(
            [],
          )
          expect(document.documentElement.scrollWidth, look).toBeLessThanOrEqual(width)
        }
      }
    })
}

async function violations(rules: string[] | undefined, hasActed: boolean): Promise<string[]> {
  // An open popup lies outside the landmarks, on purpose. One may be open because the pointer rests there.
  const hasPopup = document.querySelector('[data-base-ui-portal] [data-open]') !== null
  const found = await axe.run(document, {
    ...(rules ? { runOnly: rules } : { rules: { region: { enabled: !hasActed && !hasPopup } } }),
    resultTypes: ['violations'],
  })
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}: ${nodes[0]?.failureSummary}`)
}

/** A popup that has just opened begins invisible, also for people who want no motion; and a new size is laid out in a frame. */
async function settled() {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  await expect.poll(() => document.querySelector('[data-starting-style], [data-ending-style]')).toBeNull()
}
