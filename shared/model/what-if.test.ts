import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type WhatComes, type WhatIf, whatComes } from './what-if.ts'

const sale: WhatIf = {
  visitors: 500_000,
  units: 10_000,
  ratePerSecond: 45,
  maxInside: null,
  holdSeconds: 90,
  comes: 6 / 7,
  pays: 0.85,
  endsInSeconds: null,
}
const played = (changes: Partial<WhatIf> = {}) => whatComes({ ...sale, ...changes }) as WhatComes

describe('what comes of a sale', () => {
  test('is told from its visitors, stock, rate, hold and conversion', () => {
    const { allInCartsSeconds, soldOutSeconds, allToldSeconds, ...rest } = played()
    // 10,000 units at 45 a second are in carts after 222 s and more, because some of them return unpaid.
    expect(allInCartsSeconds).toBeGreaterThan(222)
    expect(allInCartsSeconds).toBeLessThan(270)
    expect(soldOutSeconds).toBeGreaterThan(allInCartsSeconds ?? Number.NaN)
    expect(allToldSeconds).toBe((soldOutSeconds ?? 0) + 120)
    expect(rest).toMatchObject({ sold: 10_000, left: 0, without: 490_000, allCalledSeconds: null })
    expect(rest.curve.length).toBeLessThanOrEqual(121)
  })

  test('says what is left if fewer come than there is, and when the last one is called', () => {
    const few = played({ visitors: 900, pays: 1 })
    expect(few).toMatchObject({ soldOutSeconds: null, sold: 771, left: 9_229, without: 129 })
    expect(few.allCalledSeconds).toBe(few.allToldSeconds)
    expect(few.allCalledSeconds).toBeGreaterThan(900 / 60)
  })

  test('follows each setting', () => {
    const soldOut = (changes: Partial<WhatIf>) => played(changes).soldOutSeconds ?? Number.POSITIVE_INFINITY
    const usual = soldOut({})
    expect(soldOut({ ratePerSecond: 90 })).toBeLessThan(usual)
    expect(soldOut({ units: 5_000 })).toBeLessThan(usual)
    expect(soldOut({ holdSeconds: 600 })).toBeGreaterThan(usual)
    expect(soldOut({ pays: 0.5 })).toBeGreaterThan(usual)
    expect(soldOut({ comes: 0.3 })).toBeGreaterThan(usual)
    expect(soldOut({ maxInside: 50 })).toBeGreaterThan(usual)
    expect(played({ endsInSeconds: 60 })).toMatchObject({ soldOutSeconds: null, allToldSeconds: 180 })
    expect(whatComes({ ...sale, ratePerSecond: Number.NaN })).toBe(null)
  })

  test('never sells more than there is, and counts every unit, whatever is asked', () => {
    const share = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100)
    const any = fc.record({
      visitors: fc.integer({ min: 1, max: 20_000 }),
      units: fc.integer({ min: 1, max: 5_000 }),
      ratePerSecond: fc.integer({ min: 1, max: 500 }),
      maxInside: fc.option(fc.integer({ min: 1, max: 1_000 })),
      holdSeconds: fc.integer({ min: 1, max: 600 }),
      comes: share,
      pays: share,
      endsInSeconds: fc.option(fc.integer({ min: 1, max: 3_600 })),
    })
    fc.assert(
      fc.property(any, (asked) => {
        const { sold, left, soldOutSeconds, allInCartsSeconds } = whatComes(asked) as WhatComes
        expect(sold + left).toBe(asked.units)
        expect(sold).toBeLessThanOrEqual(Math.min(asked.units, asked.visitors))
        if (soldOutSeconds !== null) expect(soldOutSeconds).toBeGreaterThanOrEqual(allInCartsSeconds ?? Number.NaN)
      }),
      { numRuns: 50 },
    )
  })
})
