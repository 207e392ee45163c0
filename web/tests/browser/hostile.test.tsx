import { describe, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { cluster, disconnection } from './fixtures'
import { open, Server } from './kubeopera'
import { monitored, multi, row } from './monitor-fixtures'

/** What somebody who has nothing but a cluster, a file or a name to give can put into a text. */
const texts = {
  markup: '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>',
  'a change of direction': '\u202Egpj.exe\u2066\u2067 ',
  'words from right to left': 'مجموعة-الإنتاج',
  'orders to a terminal': '\u001b[31mred\u001b]8;;https://evil.example\u0007here',
  'marks over marks': `Z${'\u0353\u0333\u0316\u0321'.repeat(200)}`,
  'no space to break at': 'x'.repeat(1_000),
  'many lines': 'a line\n'.repeat(120),
}

/** Fields that say whatever somebody wrote there. */
const openEnded =
  /^(name|message|reason|region|provider|kubernetes_version|version|instance_type|zone|namespace|what|basis|source|not_measured|not_readable|url|branch|path|commit|managed_by|applied_revision|operating_system)$/

/** The same with `text` in every such field. */
function saying<T>(value: T, text: string): T {
  if (Array.isArray(value)) return value.map((one) => saying(one, text)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [
      key,
      openEnded.test(key) && (typeof held === 'string' || held === null) ? text : saying(held, text),
    ]),
  ) as T
}

const CLUSTERS = 1_000

function serving(text: string) {
  const server = new Server()
  const labels = { [text.slice(0, 60)]: text.slice(0, 60) }
  const condition = { type: text, status: 'False' as const, last_transition_time: new Date().toISOString() }
  const one = saying(
    cluster({
      labels,
      is_host: false,
      conditions: [{ ...condition, reason: '', message: '' }],
      unreachable: { since: condition.last_transition_time, reason: '' },
    }),
    text,
  )
  server.clusters = Array.from({ length: CLUSTERS }, (_, at) => ({ ...one, id: `c-${at}` }))
  const comparison = multi({
    clusters: Array.from({ length: CLUSTERS }, (_, at) =>
      saying(row({ id: `c-${at}`, is_host: false, stale: { as_of: null, reason: '' } }), text),
    ),
  })
  server.on('GET /api/v1/clusters/multi', { status: 200, body: comparison })
  server.on('GET /api/v1/clusters/c-0/monitor', { status: 200, body: saying({ ...monitored(), cluster: 'c-0' }, text) })
  server.on('GET /api/v1/clusters/c-0/disconnect', { status: 200, body: saying(disconnection, text) })
  return server
}

const pages: { name: string; path: string; there: () => Promise<unknown> }[] = [
  { name: 'the overview', path: '/', there: () => sees(page.getByRole('link', { name: 'All clusters' })) },
  { name: 'cards', path: '/clusters?view=cards', there: () => sees(page.getByRole('article').first()) },
  { name: 'the list', path: '/clusters?view=list', there: () => sees(page.getByRole('row').nth(3)) },
  {
    name: 'Multi-Cluster',
    path: '/clusters/multi',
    there: () => sees(page.getByRole('region', { name: 'Comparison' }).getByRole('row').nth(3)),
  },
  {
    name: 'a cluster',
    path: '/clusters/c-0',
    there: () => sees(page.getByRole('region', { name: 'Recent events' }).getByRole('listitem').first()),
  },
  {
    name: 'the dialog that disconnects',
    path: '/clusters/c-0',
    there: async () => {
      await page.getByRole('button', { name: /^Actions for/ }).click()
      await page.getByRole('menuitem', { name: 'Disconnect…' }).click()
      await sees(page.getByRole('alertdialog').getByRole('heading', { name: 'What stays' }))
    },
  },
  {
    name: 'the palette',
    path: '/clusters',
    there: async () => {
      await page.getByRole('button', { name: 'Search or jump to' }).click()
      await sees(page.getByRole('option').first())
    },
  },
]

const sees = (element: ReturnType<typeof page.getByRole>) => expect.element(element).toBeInTheDocument()

/** Texts in an element that flows with its neighbours and would take them along when it changes the direction. */
function leaking(): string[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: string[] = []
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    if (!element || !/[\u202a-\u202e\u2066-\u2069]/.test(walker.currentNode.textContent ?? '')) continue
    const { display, unicodeBidi } = getComputedStyle(element)
    if (display === 'inline' && !/isolate|plaintext/.test(unicodeBidi)) found.push(element.outerHTML.slice(0, 120))
  }
  return found
}

describe.each(Object.entries(texts))('%s in each name, message and event of 1,000 clusters', (_, text) => {
  test.each(pages)('is text and no more on $name', async ({ path, there }) => {
    serving(text)
    await page.viewport(390, 844)
    await open(path)
    await there()
    for (const [width, height] of [
      [390, 844],
      [1_280, 800],
    ] as const) {
      await page.viewport(width, height)
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      const what = `${path} at ${width} px`
      expect(document.querySelector('img[src="x"], #root script, a[href^="javascript"]'), what).toBeNull()
      expect(document.title, what).not.toBe('owned')
      expect(document.documentElement.scrollWidth, `${what} scrolls sideways`).toBeLessThanOrEqual(width)
      expect(document.querySelectorAll('*').length, `elements of ${what}`).toBeLessThan(6_000)
      expect(leaking(), `${what} turns what is beside it`).toEqual([])
    }
  })
})

/** Places in an address where somebody who sends a link can write what they like. */
const addresses = (text: string) => [
  `/clusters?q=${text}`,
  `/clusters?label=${text}`,
  `/clusters?sort=${text}&direction=${text}&view=${text}&phase=${text}&provider=${text}`,
  `/clusters/multi?sort=${text}`,
  `/clusters/new?way=${text}`,
  `/clusters/${text}`,
  `/settings/audit?who=${text}&action=${text}&from=${text}`,
  `/login?refused=${text}&next=${text}`,
  `/${text}`,
]

describe.each([texts.markup, texts['a change of direction'], texts['no space to break at'], 'javascript:alert(1)'])(
  '%j in an address',
  (text) => {
    test.each(addresses(encodeURIComponent(text)))('is text and no more: %s', async (path) => {
      const server = serving('cluster')
      server.on('GET /api/v1/audit', { status: 200, body: { items: [], next_cursor: null } })
      await page.viewport(390, 844)
      await open(path)
      await sees(page.getByRole('heading', { level: 1 }))
      expect(document.querySelector('img[src="x"], #root script, a[href^="javascript"]')).toBeNull()
      expect(document.title).not.toBe('owned')
      expect(document.documentElement.scrollWidth, 'it scrolls sideways').toBeLessThanOrEqual(390)
      expect(leaking()).toEqual([])
    })
  },
)
