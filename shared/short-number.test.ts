import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberOf, shortNumber } from './short-number.ts'

it('is six unambiguous symbols, and one to one', () => {
  const numbers = Array.from({ length: 20_000 }, (_, i) => shortNumber(i + 1))
  expect(new Set(numbers).size).toBe(20_000)
  for (const text of numbers) expect(text).toMatch(/^[2-9A-HJ-NP-Z]{3}-[2-9A-HJ-NP-Z]{3}$/)
  expect(numbers.slice(0, 3)).toEqual(['DAF-TKZ', 'E84-MM3', 'QC8-CJ4'])
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
  for (const text of ['', 'K7Q-4M', 'K7Q-4M0', 'K7Q-4MI', '0000000000', '2222-22222']) expect(numberOf(text)).toBeNull()
})
