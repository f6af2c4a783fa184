import { expect, it } from 'vitest'
import { csvOf, foundIn, isSameCode, type ListedCode, offOf, sentOf, withCode } from './codes.ts'

const none = {
  uses: null,
  uses_per_visitor: null,
  units_per_use: null,
  from: null,
  until: null,
  products: null,
  combined: false,
  used: 0,
}
const SPRING: ListedCode = { ...none, code: 'SPRING', percent: 12.5, uses: 100, used: 7 }
const CLUB: ListedCode = {
  ...none,
  code: 'CLUB-5',
  amount_minor: 500,
  uses_per_visitor: 1,
  products: ['cap', 'tee'],
  combined: true,
}

it('writes the file that an import takes, without what was used', () => {
  expect(csvOf([SPRING, CLUB])).toBe(
    'code,percent,amount_minor,price_minor,uses,uses_per_visitor,units_per_use,from,until,products,combined\n' +
      'SPRING,12.5,,,100,,,,,,\nCLUB-5,,500,,,1,,,,cap tee,true\n',
  )
})

it('says what a code takes off, in its currency', () => {
  expect([SPRING, CLUB, { ...none, code: 'X', price_minor: 900 }].map((code) => offOf(code, 'JPY'))).toEqual([
    '12.5 %',
    '500 JPY',
    'each for 900 JPY',
  ])
})

it('finds codes by their letters and their products', () => {
  const found = (words: string) => foundIn([SPRING, CLUB], words).map(({ code }) => code)
  expect([found(''), found(' spr'), found('tee'), found('x')]).toEqual([
    ['SPRING', 'CLUB-5'],
    ['SPRING'],
    ['CLUB-5'],
    [],
  ])
})

it('is the same code however often it was used, and another one once it was changed or is gone', () => {
  const used = { ...SPRING, used: 8 }
  const changed = { ...SPRING, until: '2026-12-01T00:00:00.000Z' }
  expect([used, changed, CLUB, undefined].map((code) => isSameCode(SPRING, code))).toEqual([true, false, false, false])
  expect(isSameCode(undefined, undefined)).toBe(true)
})

it('puts a code in the place of the one before, or at the end', () => {
  const codes = sentOf([SPRING, CLUB])
  expect(codes[0]).not.toHaveProperty('used')
  const { percent: _, ...spring } = SPRING
  const cheaper = { ...spring, price_minor: 1 }
  expect(withCode(codes, cheaper)).toEqual([cheaper, codes[1]])
  expect(withCode(codes, { ...cheaper, code: 'NEW' }).map(({ code }) => code)).toEqual(['SPRING', 'CLUB-5', 'NEW'])
})
