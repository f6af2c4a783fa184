import { describe, expect, it, test } from 'vitest'
import { parse } from '../parse.ts'
import { SectionConfig } from './operators/hall-admin.ts'
import { SaleConfig } from './operators/sale-config.ts'
import { amountIssue, chargeIssue, fromStripe, toStripe } from './stripe-amount.ts'

describe('an amount', () => {
  it.each([
    ['EUR', 12_345, 12_345],
    ['JPY', 500, 500],
    ['KWD', 5_120, 5_120],
    ['ISK', 500, 50_000],
    ['UGX', 60_000, 6_000_000],
    ['MGA', 1_234_500, 12_345],
    ['HUF', 17_545, 17_545],
    ['TWD', 80_045, 80_045],
  ])('of %s can be charged as Stripe counts it, and back: %i is %i', (currency, ours, theirs) => {
    expect(toStripe(ours, currency)).toBe(theirs)
    expect(fromStripe(theirs, currency)).toBe(ours)
    expect(chargeIssue(ours, currency)).toBeUndefined()
  })

  it.each(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])('of %s ends in 0', (currency) => {
    expect([1_234, 1_230].map((minor) => amountIssue(minor, currency) === undefined)).toEqual([false, true])
  })

  it.each([
    ['MGA', 12_345, 12_300],
    ['EUR', 40, 50],
    ['JPY', 1, 50],
    ['HUF', 17_400, 17_500],
    ['GBP', 29, 30],
  ])('of %s cannot be %i, and can be %i or nothing', (currency, wrong, right) => {
    const issues = [wrong, right, 0].map((minor) => chargeIssue(minor, currency))
    expect(issues).toEqual([expect.any(String), undefined, undefined])
  })
})

test('what could not be charged is refused when a sale or a section is written', () => {
  const sale = (product: object, more: object = {}) =>
    parse(SaleConfig, {
      ...{ name: 'Drop', opens_at: '2030-01-01T00:00:00Z', admission: { rate_per_second: 1 } },
      products: [{ product_id: 'one', name: 'One', total: 1, ...product }],
      ...more,
    })
  const variants = [{ variant_id: 'one-s', options: { Size: 'S' }, total: 1, unit_price_minor: 1_234 }]
  const options = [{ name: 'Size', values: ['S'] }]
  const KWD = { unit_price_minor: 1_230, currency: 'KWD' }
  const wrong: [string, () => unknown][] = [
    ['products.0.unit_price_minor', () => sale({ unit_price_minor: 1_234, currency: 'KWD' })],
    ['products.0.unit_price_minor', () => sale({ unit_price_minor: 1, currency: 'JPY' })],
    ['products.0.variants', () => sale({ ...KWD, total: 0, options, variants })],
    ['fees', () => sale(KWD, { fees: [{ name: 'Service', amount_minor: 5, per: 'order' }] })],
    ['delivery', () => sale(KWD, { delivery: { kind: 'address', prices: [{ amount_minor: 5 }] } })],
    ['price_minor', () => parse(SectionConfig, { name: 'A', type: 'reserved', price_minor: 40, currency: 'EUR' })],
  ]
  for (const [field, write] of wrong)
    expect(write, field).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ errors: [expect.objectContaining({ field })] }) }),
    )
  expect(() => sale(KWD)).not.toThrow()
  expect(() => sale({ unit_price_minor: 0, currency: 'EUR' })).not.toThrow()
})
