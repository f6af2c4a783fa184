import { expect, it } from 'vitest'
import { csvOf, foundIn, isSameCode, type ListedCode, offOf, planOf, sentOf, stateOf, withCode } from './codes.ts'

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
    '¥500',
    '¥900 each',
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

it('says what state a code is in', () => {
  const at = (iso: string) => iso.slice(11, 16)
  const nowMs = Date.parse('2026-11-27T12:04:00Z')
  const state = (changes: Partial<ListedCode>) => stateOf({ ...SPRING, ...changes }, nowMs, at)
  expect(state({})).toEqual({ group: 'work', level: 'good', text: 'Works' })
  expect(state({ used: 96 })).toEqual({ group: 'work', level: 'watch', text: '4 left' })
  expect(state({ used: 100 })).toMatchObject({ group: 'over', text: 'Used up' })
  expect(state({ from: '2026-11-27T13:00:00Z' })).toMatchObject({ group: 'come', text: 'From 13:00' })
  expect(state({ until: '2026-11-27T12:00:00Z' })).toMatchObject({ group: 'over', text: 'Over' })
})

it('plans an import: what is new, changed, as it is, missing and gone', () => {
  const { used: _, ...spring } = SPRING
  const planned = planOf(
    [
      { line: 2, code: { ...spring, uses: 200 } },
      { line: 3, code: { ...spring, code: 'NEW' } },
    ],
    [SPRING, CLUB, { ...none, code: 'PRESS', percent: 5, used: 24 }],
  )
  expect(planned.codes.map(({ line, effect, kind }) => [line, effect, kind])).toEqual([
    [2, 'uses 100 → 200', 'changed'],
    [3, 'new', 'new'],
  ])
  expect([planned.missing, planned.gone].map((list) => list.map(({ code }) => code))).toEqual([['PRESS'], ['CLUB-5']])
  expect(planOf([{ line: 2, code: spring }], [SPRING]).codes[0]).toMatchObject({ effect: 'as it is', kind: 'same' })
})
