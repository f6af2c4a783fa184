import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostInside } from './payment-room.ts'

const situation = fc.record({
  perSecond: fc.integer({ min: 1, max: 1_000 }),
  holdSeconds: fc.integer({ min: 1, max: 3_600 }),
  waiting: fc.nat(100_000),
  unitsHeld: fc.nat(100_000),
  openOrders: fc.nat(100_000),
})

test('whoever is called finds all charges before theirs tried within half of their hold', () =>
  fc.assert(
    fc.property(situation, fc.nat(100_000), (of, coming) => {
      // The edge decides in the same way: units held and people on their way, plus one more, must not exceed the
      // bound.
      const mayCall = of.unitsHeld + coming + 1 <= mostInside(of)
      const ahead = of.waiting + of.openOrders + coming
      if (mayCall) expect(ahead / of.perSecond).toBeLessThan(of.holdSeconds / 2)
      else if (mostInside(of) > 0) expect(ahead + 2).toBeGreaterThan((of.perSecond * of.holdSeconds) / 2)
    }),
  ))

test('carts of many units leave as many orders room as single ones', () => {
  const of = { perSecond: 25, holdSeconds: 90, waiting: 100 }
  expect(mostInside({ ...of, unitsHeld: 400, openOrders: 400 }) - 400).toBe(1125 - 100 - 400)
  expect(mostInside({ ...of, unitsHeld: 1600, openOrders: 400 }) - 1600).toBe(1125 - 100 - 400)
})
