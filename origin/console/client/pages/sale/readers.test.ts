import { expect, test } from 'vitest'
import { mainLanguage, readersOf, readings } from './readers.ts'

const rows = [
  { key: 'en', counted: 9, uniques: 2 },
  { key: 'de', counted: 5, uniques: 5 },
  { key: 'pt', counted: 3, uniques: 3 },
  { key: 'ja', counted: 1, uniques: 0 },
]

test('the main language is that of most people among those that the pages have', () => {
  expect(mainLanguage(readersOf(rows))).toBe('de')
  expect(mainLanguage(readersOf(rows.map((row) => ({ ...row, uniques: null }))))).toBe('en')
  expect(mainLanguage([['pt', 9]])).toBe('en')
})

test('who has no text of their own reads the English one, or the only one', () => {
  const readers = readersOf(rows)
  const inWords = (written: string[]) =>
    readings(readers, written).map(({ language, forWant, people }) => `${language}${forWant ? '*' : ''} ${people}`)
  expect(inWords([])).toEqual([])
  expect(inWords(['de'])).toEqual(['de 5', 'de* 5'])
  expect(inWords(['en', 'de'])).toEqual(['de 5', 'en* 3', 'en 2'])
})
