import { expect, it } from 'vitest'
import { linesOf, mergedLines, synonymsIn } from './synonyms.ts'

it('reads what it writes, whatever the spaces and empty lines', () => {
  const synonyms = [
    ['home', 'house'],
    ['New York', 'NYC'],
  ]
  expect(synonymsIn(linesOf(synonyms))).toEqual(synonyms)
  expect(synonymsIn('\n home ,house,\n\n New York،NYC')).toEqual(synonyms)
  expect(synonymsIn(' \n')).toEqual([])
})

it('says which line has a word alone', () => {
  expect(() => synonymsIn('home, house\ncar')).toThrow('Line 2 has one word alone: “car”.')
})

it('keeps what two operators add and remove in the same list', () => {
  const base = 'home, house\ncar, auto\ntv, telly'
  expect(mergedLines(base, 'home, house\ntv, telly\nshoe, boot', 'home, house\ncar, auto\nhat, cap')).toBe(
    'home, house\nhat, cap\nshoe, boot',
  )
})
