import { expect, it } from 'vitest'
import { linesOf, synonymsIn } from './synonyms.ts'

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
