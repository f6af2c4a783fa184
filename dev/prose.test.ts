import { expect, test } from 'vitest'
import { halvesIn, longRowsIn } from './prose.ts'

test.each([
  ['a block', `/** ${'Of'} few calls a lower one. */`, 1],
  ['a comment of several lines', '// The unit is\n// so small.\n', 0],
  ['Lua and SQL', '-- Not of the only one.\nselect 1', 1],
  ['the second line of a comment', '/**\n * One slow sample is no congestion.\n * Of many it is.\n */', 0],
  ['a question', '// Whose turn is it?', 0],
])('a comment that begins as half a sentence is found: %s', (_, text, found) => {
  expect(halvesIn('file', text)).toHaveLength(found)
})

test('a page of figures has short lines, and rows of a table that are not much longer', () => {
  const [line, row] = ['a'.repeat(121), `| ${'a'.repeat(150)} |`]
  expect(longRowsIn('page.md', ['short', line, row, `${row} 1, 2, 3 |`].join('\n'))).toEqual(['page.md:2', 'page.md:4'])
})
