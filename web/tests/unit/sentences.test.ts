import { expect, test } from 'vitest'
import { partsOf } from '@/ui/sentences'

test('commands that only a comma separates become one block, and names stay in their sentence', () => {
  expect(
    partsOf('`users[0].exec` is refused. Supply a token: `kubectl one`, `kubectl two`. Then check again.'),
  ).toEqual([
    { kind: 'code', text: 'users[0].exec' },
    { kind: 'words', text: ' is refused. Supply a token: ' },
    { kind: 'commands', lines: ['kubectl one', 'kubectl two'] },
    { kind: 'words', text: 'Then check again.' },
  ])
})

test('a sentence without commands stays as it is', () => {
  expect(partsOf('The database is away.')).toEqual([{ kind: 'words', text: 'The database is away.' }])
})
