import { expect, test } from 'vitest'
import { retryDelay } from '@/api/event-stream'

test('the pause before the next connection doubles from one second to thirty', () => {
  expect([0, 1, 2, 3, 4, 5, 20].map((failures) => retryDelay(failures, 1))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ])
})

test('half of the pause is random, so that many tabs do not come back in step', () => {
  expect(retryDelay(3, 0)).toBe(4_000)
  expect(retryDelay(3, 0.5)).toBe(6_000)
})
