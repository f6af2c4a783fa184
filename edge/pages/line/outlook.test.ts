import fc from 'fast-check'
import { expect, it } from 'vitest'
import { endsOf, wayOf } from './outlook.ts'

const place = fc.integer({ min: 0, max: 1_000_000 })

it('is never longer than its comb, nor one’s own place before those called', () => {
  fc.assert(
    fc.property(place, place, fc.option(place), (serving, ahead, lasts) => {
      const { served, own } = wayOf(serving, serving + ahead, lasts)
      const [from, to] = [Number.parseFloat(served), Number.parseFloat(own)]
      expect(from).toBeGreaterThanOrEqual(0)
      expect(to).toBeGreaterThanOrEqual(from)
      expect(to).toBeLessThanOrEqual(100)
      // A visitor beyond the stock is at the end of the drawing.
      if (lasts === null || lasts <= ahead) expect(to).toBe(serving + ahead === 0 ? 0 : 100)
    }),
  )
})

it('ends where the stock is likely to, as far as anybody knows', () => {
  expect(endsOf(4_500, 900.4)).toBe(5_400)
  expect(endsOf(4_500, null)).toBeNull()
  expect(wayOf(25, 50, 75)).toEqual({ served: '25.00%', own: '50.00%' })
})
