import { expect, test } from 'vitest'
import { cores } from '@/format/numbers'

test('CPU is told in cores: whole from ten on, a little is not nought, and one of them is a core', () => {
  expect([0, 40, 450, 999, 1_000, 9_949, 12_400, 1_018_000].map(cores)).toEqual(
    ['0 cores', '0.04 cores', '0.45 cores', '1 core', '1 core', '9.9 cores', '12 cores', '1,018 cores'].map((text) =>
      text.replace(' ', '\u00a0'),
    ),
  )
})
