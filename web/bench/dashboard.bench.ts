import { type Browser, type Page, test } from '@playwright/test'
import { answers, CLUSTERS } from './answers.ts'
import { figure, times } from './figures.ts'
import { serve } from './server.ts'

const THROTTLED = 4

/** kB of script (gzip) that a first visit may load; the aim is 150. */
const SCRIPT_KB = 250

/** Pages that somebody comes to first, and what is there once they can be used. */
const firstPages = [
  { path: '/', name: 'overview', shows: 'main h1' },
  { path: '/clusters', name: `list of ${CLUSTERS}`, shows: 'tbody th a' },
  { path: '/clusters/multi', name: `comparison of ${CLUSTERS}`, shows: 'tbody th a' },
]

let server: Awaited<ReturnType<typeof serve>>

test.beforeAll(async () => {
  process.stdout.write('\nDashboard, as it is built\n')
  server = await serve(new URL(process.env.DIST ?? '../dist', import.meta.url).pathname, answers)
})
test.afterAll(() => server.stop())

/** A first visit: nothing is cached. Time from the navigation until what matters is painted and the page is idle for input. */
async function visit(browser: Browser, path: string, shows: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLED })
  await page.addInitScript((shows) => {
    const usable = new Promise<number>((found) => {
      const look = () => {
        if (!document.querySelector(shows)) return
        seen.disconnect()
        // A frame is drawn, and then the main thread is free for whoever clicks.
        requestAnimationFrame(() => setTimeout(() => found(performance.now())))
      }
      const seen = new MutationObserver(look)
      seen.observe(document, { subtree: true, childList: true })
    })
    Object.assign(window, { usable })
  }, shows)
  await page.goto(server.url + path)
  const after = await page.evaluate(() => (window as unknown as { usable: Promise<number> }).usable)
  const script = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  )
  const { metrics } = await devtools.send('Performance.getMetrics')
  const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  await context.close()
  return { after, busy: busy * 1_000, kilobytes: script / 1_000 }
}

interface Until {
  selector: string
  /** How many there are. */
  count?: number
  /** The first says something else than this. */
  otherThan?: string | null
}

/** Time from a click until what it leads to is in the page and laid out, in ms. */
const clicked = (page: Page, on: string, until: Until) =>
  page.evaluate(
    ({ on, selector, count, otherThan }) =>
      new Promise<number>((done) => {
        const begun = performance.now()
        const look = () => {
          const found = document.querySelectorAll(selector)
          if (count === undefined ? found[0]?.textContent === otherThan : found.length !== count) return
          seen.disconnect()
          document.body.getBoundingClientRect()
          done(performance.now() - begun)
        }
        const seen = new MutationObserver(look)
        seen.observe(document, { subtree: true, childList: true, characterData: true })
        document.querySelector<HTMLElement>(on)?.click()
      }),
    { on, ...until },
  )

test('first visits', async ({ browser }) => {
  await visit(browser, '/login', 'main')
  for (const { path, name, shows } of firstPages) {
    const visits = []
    for (let run = 0; run < 5; run += 1) visits.push(await visit(browser, path, shows))
    times(
      `${name}: usable with a CPU ${THROTTLED} times slower`,
      visits.map(({ after }) => after),
      1_000,
    )
    // What else the machine does makes the first figure larger and leaves this one.
    times(
      `${name}: of it the main thread`,
      visits.map(({ busy }) => busy),
    )
    figure(`${name}: script, gzip`, visits[0]?.kilobytes ?? Number.NaN, 'kB', SCRIPT_KB)
  }
})

test('what is done on a page', async ({ page }) => {
  await page.goto(`${server.url}/clusters?view=list&sort=name`)
  await page.locator('tbody th a').first().waitFor()
  const sorts = []
  for (let run = 0; run < 21; run += 1) {
    const selector = 'tbody th a'
    const otherThan = await page.locator(selector).first().textContent()
    const column = run % 2 ? 6 : 1
    sorts.push(await clicked(page, `thead th:nth-child(${column}) button`, { selector, otherThan }))
  }
  times(`table of ${CLUSTERS} rows: click on a head to the new order`, sorts.slice(1), 16)

  await page.goto(`${server.url}/clusters/multi`)
  await page.locator('.tile').first().waitFor()
  const drawings = []
  for (let run = 0; run < 11; run += 1) {
    await page.getByRole('link', { name: 'Settings' }).first().click()
    await page.locator('.tile').first().waitFor({ state: 'detached' })
    const until = { selector: 'a.tile', count: CLUSTERS }
    drawings.push(await clicked(page, 'nav a[href="/clusters/multi"]', until))
  }
  times(`treemap of ${CLUSTERS} tiles: click on Multi-Cluster to all drawn`, drawings.slice(1), 50)
})
