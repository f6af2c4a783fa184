import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bitsOf, differingSeats } from './bits.ts'

test('two bitmaps differ in the seats that one of them has alone, the last of a byte too', () => {
  const some = fc.uniqueArray(fc.nat(40))
  fc.assert(
    fc.property(some, some, (a, b) => {
      const alone = [...a.filter((seat) => !b.includes(seat)), ...b.filter((seat) => !a.includes(seat))]
      expect(differingSeats(bitsOf(a), bitsOf(b))).toEqual(alone.toSorted((one, other) => one - other))
    }),
  )
  expect(differingSeats(bitsOf([7]), bitsOf([]))).toEqual([7])
})
