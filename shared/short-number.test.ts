import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberOf, shortNumber } from './short-number.ts'

it('is six unambiguous symbols, and eight from the billionth order on', () => {
  expect([0, 1, 2 ** 30 - 1, 2 ** 30, 2 ** 40 - 1].map(shortNumber)).toEqual([
    ...['222-222', '222-223', 'ZZZ-ZZZ'],
    ...['2322-2222', 'ZZZZ-ZZZZ'],
  ])
})

it('is read back however it is typed', () => {
  const number = fc.integer({ min: 1, max: 2 ** 40 - 1 })
  fc.assert(
    fc.property(number, (n) => {
      const text = shortNumber(n)
      expect(numberOf(text)).toBe(n)
      expect(numberOf(` ${text.toLowerCase().replace('-', ' ')}`)).toBe(n)
    }),
  )
  for (const text of ['', 'K7Q-4M', 'K7Q-4M0', 'K7Q-4MI', '0000000000', '2222-2222']) expect(numberOf(text)).toBeNull()
})
