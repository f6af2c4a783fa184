import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Delivery, type Fee, NO_DELIVERY } from './api/goods.ts'
import { chargeIssue, leastOf, stepOf } from './api/stripe-amount.ts'
import { billOf, type Discount, type PricedLine, shareWithin, spread } from './bill.ts'

describe('the tax within a total', () => {
  it.each([
    [11_900, 19, 1_900],
    [7_800, 19, 1_245],
    [3_900, 7.7, 279],
    [3_900, 0, 0],
    [1, 100, 1],
  ])('of %i at %d %% is %i', (total, percent, tax) => {
    expect(shareWithin(total, percent)).toBe(tax)
  })

  it('is, of all whole amounts, the nearest to the rate times what is left; of two, the larger', () => {
    const rates = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), rates, (total, thousandths) => {
        const tax = BigInt(shareWithin(total, thousandths / 1000))
        // The identity tax = total * rate / (1 + rate) is multiplied by twice the divisor. The error is at most half
        // a minor unit.
        const [rate, whole] = [BigInt(thousandths), 100_000n + BigInt(thousandths)]
        const error = 2n * (tax * whole - BigInt(total) * rate)
        expect(error > -whole && error <= whole).toBe(true)
      }),
    )
  })
})

const ALL = { products: null, units_per_use: null }
const EUR = { currency: 'EUR' }
const NONE = { fees: [], tax: null, delivery: NO_DELIVERY }
const SHIRT: PricedLine = {
  product: 'shirt-m',
  variant_of: 'shirt',
  quantity: 2,
  unit_price_minor: 2_500,
  weight_grams: 300,
}
const PRINT: PricedLine = { product: 'print', quantity: 1, unit_price_minor: 1_999, weight_grams: 800 }

describe('a bill', () => {
  it('is the prices, where the sale adds nothing', () => {
    const none = { discount_minor: 0, fees: [], shipping_minor: 0, tax_minor: 0 }
    const totals = { subtotal_minor: 6_999, ...none, total_minor: 6_999 }
    expect(billOf([SHIRT, PRINT], NONE, EUR)).toEqual({ bill: [], shares: [5_000, 1_999], totals })
  })

  it('takes off what a code says, for the products that it names', () => {
    const totals = (code: Partial<Discount>) =>
      billOf([SHIRT, PRINT], NONE, { ...EUR, discounts: [{ ...ALL, code: 'NOON', ...code } as Discount] })?.totals
    expect(totals({ percent: 10 })).toMatchObject({ discount_minor: 700, total_minor: 6_299 })
    expect(totals({ percent: 10, products: ['shirt'] })).toMatchObject({ discount_minor: 500, total_minor: 6_499 })
    expect(totals({ amount_minor: 1_000 })).toMatchObject({ discount_minor: 1_000, total_minor: 5_999 })
    expect(totals({ amount_minor: 10_000 })).toMatchObject({ discount_minor: 6_999, total_minor: 0 })
    expect(totals({ price_minor: 2_000 })).toMatchObject({ discount_minor: 1_000, total_minor: 5_999 })
  })

  it('takes off the same of ten seats as of ten units, whatever else is in it', () => {
    const fees: Fee[] = [{ name: 'Service', percent: 1.5, per: 'unit', included: false }]
    const discounts: Discount[] = [
      { ...ALL, code: 'HALF', percent: 15 },
      { ...ALL, code: 'LATE', percent: 7, products: ['stalls'] },
    ]
    const tax = { name: 'VAT', percent: 19, included: false }
    const [ten, one] = [10, 1].map((quantity) => ({ product: 'stalls', quantity, unit_price_minor: 3_983 }))
    const of = (lines: readonly PricedLine[]) =>
      billOf([...lines, PRINT], { ...NONE, fees, tax }, { ...EUR, discounts })
    const [units, seats] = [of([ten as PricedLine]), of(Array<PricedLine>(10).fill(one as PricedLine))]
    expect(seats?.totals).toEqual(units?.totals)
    expect(billOf([ten as PricedLine], NONE, { ...EUR, discounts: discounts.slice(0, 1) })?.totals.discount_minor).toBe(
      5_975,
    )
  })

  it('takes off no more units than a code says, the dearest first', () => {
    const off = (code: Partial<Discount>) =>
      billOf([SHIRT, PRINT], NONE, { ...EUR, discounts: [{ ...ALL, code: 'ONE', ...code } as Discount] })?.totals
        .discount_minor
    expect(off({ percent: 100, units_per_use: 1 })).toBe(2_500)
    expect(off({ price_minor: 1_000, units_per_use: 3 })).toBe(3_999)
    expect(off({ amount_minor: 9_999, units_per_use: 2, products: ['print'] })).toBe(1_999)
  })

  it('adds fees, shipping and tax, or says what of them the prices include', () => {
    const fees: Fee[] = [
      { name: 'Packing', amount_minor: 50, per: 'unit', included: false },
      { name: 'Service', percent: 2, per: 'order', included: false },
      { name: 'Levy', percent: 1, per: 'unit', included: true },
    ]
    const delivery: Delivery = {
      kind: 'address',
      countries: ['DE', 'AT'],
      prices: [
        { countries: ['DE'], up_to_grams: 1_000, amount_minor: 490 },
        { countries: ['DE'], amount_minor: 690 },
        { up_to_grams: 2_000, amount_minor: 1_290 },
      ],
      ask: NO_DELIVERY.ask,
    }
    const to = (country: string, lines = [SHIRT, PRINT], included = true) =>
      billOf(lines, { fees, delivery, tax: { name: 'VAT', percent: 19, included } }, { ...EUR, country })
    expect(to('DE')?.totals).toEqual({
      subtotal_minor: 6_999,
      discount_minor: 0,
      fees: [
        { name: 'Packing', amount_minor: 150 },
        { name: 'Service', amount_minor: 140 },
        { name: 'Levy', amount_minor: 69, included: true },
      ],
      shipping_minor: 690,
      tax_minor: 1_274,
      total_minor: 7_979,
    })
    expect(to('DE', [SHIRT])?.totals.shipping_minor).toBe(490)
    expect(to('DE', [{ ...SHIRT, quantity: 1, weight_grams: 1_000 }])?.totals.shipping_minor).toBe(490)
    expect(to('AT')?.totals.shipping_minor).toBe(1_290)
    expect(to('AT', [{ ...SHIRT, quantity: 7 }])).toBeNull()
    expect(to('FR')).toBeNull()
    expect(to('DE', [SHIRT, PRINT], false)?.totals).toMatchObject({ tax_minor: 1_516, total_minor: 9_495 })
  })

  it('is exact whatever is sold: the parts are the whole, and nothing is below nothing', () => {
    const line = fc.record({
      product: fc.constantFrom('a', 'b', 'c'),
      quantity: fc.integer({ min: 1, max: 1_000 }),
      unit_price_minor: fc.oneof(fc.nat(100), fc.integer({ min: 0, max: 10_000_000 })),
    })
    const percent = fc.integer({ min: 0, max: 100_000 }).map((n) => n / 1_000)
    const amount = fc.nat(1_000_000_000)
    const code = fc.oneof(
      fc.record({ percent }),
      fc.record({ amount_minor: amount.map((minor) => minor + 1) }),
      fc.record({ price_minor: amount }),
    )
    const products = fc.option(fc.constant(['a']))
    const units = fc.option(fc.integer({ min: 1, max: 20 }))
    const discount = fc
      .tuple(code, products, units)
      .map(([of, list, units_per_use]): Discount => ({ code: 'X', products: list, units_per_use, ...of }))
    const fee = fc
      .tuple(
        fc.oneof(fc.record({ percent }), fc.record({ amount_minor: fc.nat(1_000_000) })),
        fc.constantFrom('unit', 'order'),
        fc.boolean(),
      )
      .map(([of, per, included]): Fee => ({ name: 'Fee', per: per as Fee['per'], included, ...of }))
    const tax = fc.option(fc.record({ name: fc.constant('VAT'), percent, included: fc.boolean() }))
    const currency = fc.constantFrom('EUR', 'JPY', 'KWD', 'MGA')
    const [lines, few] = [fc.array(line, { minLength: 1, maxLength: 20 }), { maxLength: 3 }]
    fc.assert(
      fc.property(
        lines,
        fc.array(fee, few),
        fc.array(discount, few),
        tax,
        currency,
        (priced, fees, discounts, taxed, currency) => {
          const step = stepOf(currency)
          const lines = priced.map((line) => ({ ...line, unit_price_minor: line.unit_price_minor * step }))
          const made = billOf(lines, { ...NONE, fees, tax: taxed }, { currency, discounts })
          if (!made) throw new Error('not delivered')
          const { bill, shares, totals } = made
          const sum = (list: readonly number[]) => list.reduce((all, one) => all + one, 0)
          const amounts = [...shares, ...Object.values(totals).filter((one) => typeof one === 'number')]
          expect(amounts.filter((one) => !Number.isSafeInteger(one) || one < 0)).toEqual([])
          const added = sum(bill.map((one) => (one.included ? 0 : one.amount_minor)))
          expect(totals.total_minor).toBe(totals.subtotal_minor + added)
          const forOrder = fees.some(({ per, included }) => per === 'order' && !included)
          if (forOrder) expect(sum(shares)).toBeLessThanOrEqual(totals.total_minor)
          else expect(sum(shares)).toBe(totals.total_minor)
          const chargeable = [
            ...shares,
            totals.total_minor,
            ...bill.flatMap((one) => (one.included ? [] : one.amount_minor)),
          ]
          expect(chargeable.filter((one) => one % step !== 0)).toEqual([])
          const goods = totals.subtotal_minor >= leastOf(currency)
          if (goods) expect(chargeIssue(totals.total_minor, currency)).toBeUndefined()
          // Seats are tested too, of which each is a line.
          const single = lines.flatMap((line) => Array(Math.min(line.quantity, 3)).fill({ ...line, quantity: 1 }))
          const few = lines.map((line) => ({ ...line, quantity: Math.min(line.quantity, 3) }))
          const of = (lines: readonly PricedLine[]) =>
            billOf(lines, { ...NONE, fees, tax: taxed }, { currency, discounts })?.totals
          expect(of(single)).toEqual(of(few))
        },
      ),
    )
  })

  it.each([
    // These amounts cannot be charged: 10.005 dinar, 12.345 ariary, 0.20 euro and one yen.
    ['KWD', 11_117, { percent: 10 }, 10_010],
    ['MGA', 1_371_700, { percent: 10 }, 1_234_500],
    ['EUR', 2_000, { percent: 99 }, 50],
    ['EUR', 2_000, { amount_minor: 1_990 }, 50],
    ['EUR', 2_000, { percent: 100 }, 0],
    ['JPY', 500, { price_minor: 1 }, 50],
    ['THB', 5_000, { percent: 90 }, 1_000],
  ])('is what a payment in %s can be: %i with a code is a sum to pay', (currency, price, code, total) => {
    const line = {
      product: 'a',
      quantity: 1,
      unit_price_minor: Math.round(price / stepOf(currency)) * stepOf(currency),
    }
    const made = billOf([line], NONE, { currency, discounts: [{ ...ALL, code: 'X', ...code } as Discount] })
    expect(made?.totals.total_minor).toBe(total)
    expect(made?.shares).toEqual([total])
  })

  it('spreads an amount to the last unit', () => {
    expect(spread(100, [1, 1, 1])).toEqual([34, 33, 33])
    expect(spread(5, [0, 0])).toEqual([5, 0])
  })

  it('takes no discount that is none of percentage, amount and price', () => {
    const line = { product: 'one', quantity: 1, unit_price_minor: 100 }
    const none = { code: 'X', products: null, units_per_use: null }
    expect(() => billOf([line], NONE, { currency: 'EUR', discounts: [none] })).toThrow('A discount has a percentage')
  })
})
