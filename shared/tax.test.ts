import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { includedTax } from './tax.ts'

describe('the tax within a total', () => {
  it.each([
    [11_900, 19, 1_900],
    [7_800, 19, 1_245],
    [3_900, 7.7, 279],
    [3_900, 0, 0],
    [1, 100, 1],
  ])('of %i at %d %% is %i', (total, percent, tax) => {
    expect(includedTax(total, percent)).toBe(tax)
  })

  it('is, of all whole amounts, the nearest to the rate times what is left; of two, the larger', () => {
    const rates = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), rates, (total, thousandths) => {
        const tax = BigInt(includedTax(total, thousandths / 1000))
        // tax = total * rate / (1 + rate), times twice the divisor: the error is at most half a minor unit.
        const [rate, whole] = [BigInt(thousandths), 100_000n + BigInt(thousandths)]
        const error = 2n * (tax * whole - BigInt(total) * rate)
        expect(error > -whole && error <= whole).toBe(true)
      }),
    )
  })
})
