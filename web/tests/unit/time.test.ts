import { expect, test } from 'vitest'
import { duration } from '@/format/time'

const spaced = (ms: number) => duration(ms).replaceAll('\u00a0', ' ')

test('a length of time is told in its two largest units', () => {
  expect(spaced(0)).toBe('0 s')
  expect(spaced(21_900)).toBe('21 s')
  expect(spaced(60_000)).toBe('1 min')
  expect(spaced(59 * 60_000 + 59_000)).toBe('59 min')
  expect(spaced(72 * 60_000)).toBe('1 h 12 min')
  expect(spaced(3 * 3600_000)).toBe('3 h')
  expect(spaced(76 * 3600_000)).toBe('3 d 4 h')
})

test('a clock that runs behind the server never shows a negative time', () => {
  expect(spaced(-5_000)).toBe('0 s')
})
