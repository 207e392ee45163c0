import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const css = readFileSync(new URL('../../src/styles/tokens.css', import.meta.url), 'utf8')

type Colour = [lightness: number, chroma: number, hue: number]

function tokens(block: RegExp): Map<string, Colour> {
  const text = block.exec(css)?.[1]
  if (!text) throw new Error(`tokens.css has no block ${block}`)
  const found = text.matchAll(/--([\w-]+):\s*oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g)
  return new Map([...found].map(([, name, l, c, h]) => [name ?? '', [Number(l), Number(c), Number(h)]]))
}

/** Relative luminance (WCAG 2.2) of an OKLCH colour, clipped to sRGB. */
function luminance([l, c, h]: Colour): number {
  const angle = (h * Math.PI) / 180
  const a = c * Math.cos(angle)
  const b = c * Math.sin(angle)
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  const clip = (x: number) => Math.min(1, Math.max(0, x))
  const red = clip(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short)
  const green = clip(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short)
  const blue = clip(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const TEXT = 4.5
const SHAPE = 3

const pairs: [ink: string, ground: string, least: number][] = [
  ...['canvas', 'surface', 'raised', 'sunken', 'hover'].flatMap((ground): [string, string, number][] => [
    ['fg', ground, TEXT],
    ['fg-2', ground, TEXT],
    ['fg-3', ground, TEXT],
    ['accent-text', ground, TEXT],
  ]),
  ['accent-fg', 'accent', TEXT],
  ['accent-fg', 'accent-hover', TEXT],
  ['accent-fg', 'danger', TEXT],
  ['accent-fg', 'danger-hover', TEXT],
  ['accent-text', 'accent-soft', TEXT],
  ['fg', 'accent-soft', TEXT],
  ['fg-2', 'accent-soft', TEXT],
  ...['ok', 'warn', 'bad'].flatMap((tone): [string, string, number][] => [
    [`${tone}-fg`, `${tone}-bg`, TEXT],
    [`${tone}-fg`, 'surface', TEXT],
    [tone, 'surface', SHAPE],
  ]),
  ...['ok', 'warn', 'bad', 'new'].map((tone): [string, string, number] => [`tile-${tone}-fg`, `tile-${tone}`, TEXT]),
  ['control', 'surface', SHAPE],
  ['ring', 'canvas', SHAPE],
  ['ring', 'surface', SHAPE],
]

for (const [theme, block] of [
  ['light', /:root \{([\s\S]*?)\n\}/],
  ['dark', /\[data-theme="dark"\] \{([\s\S]*?)\n\}/],
] as const)
  describe(`${theme} theme`, () => {
    const palette = tokens(block)
    const of = (name: string) => {
      const colour = palette.get(name)
      if (!colour) throw new Error(`the ${theme} theme has no colour --${name}`)
      return luminance(colour)
    }
    test.each(pairs)('%s on %s has a contrast of at least %d', (ink, ground, least) => {
      const [darker = 0, lighter = 0] = [of(ink), of(ground)].toSorted((a, b) => a - b)
      expect((lighter + 0.05) / (darker + 0.05)).toBeGreaterThanOrEqual(least)
    })
  })
