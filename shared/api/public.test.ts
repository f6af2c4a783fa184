import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, parseJson, tryParse, tryParseJson } from '../parse.ts'
import { IdempotencyKey, OrderId } from './fields.ts'
import { CheckoutRequest, Order, PaymentRequest } from './public.ts'

/** Matches an error that `parse` throws. */
const problemLike = (problem: object) => expect.objectContaining({ problem: expect.objectContaining(problem) })

describe('a checkout request', () => {
  it.each([0, -1, 1.5, 1e9, '1', null, Number.NaN])('is refused with a quantity of %s', (quantity) => {
    const errors = [expect.objectContaining({ field: 'quantity' })]
    expect(() => parse(CheckoutRequest, { quantity })).toThrow(problemLike({ status: 422, errors }))
  })

  it.each([[], [' '], Array(6).fill('EARLY')])('is refused with %j for its promo codes', (...promo_code) => {
    const errors = [expect.objectContaining({ field: expect.stringMatching(/^promo_code/) })]
    expect(() => parse(CheckoutRequest, { promo_code })).toThrow(problemLike({ status: 422, errors }))
  })

  it('may be empty: one unit of the first product', () => {
    expect(parseJson(CheckoutRequest, '{}')).toEqual({})
  })

  it.each(['', '{', 'null', '[]', '"text"', '7'])('is malformed when its body is %j', (body) => {
    expect(() => parseJson(CheckoutRequest, body)).toThrow(problemLike({ status: 400 }))
    expect(tryParseJson(CheckoutRequest, body)).toBeUndefined()
  })

  it.each([
    ["o'hara+tag@sub.example.co.uk", true],
    ['first.last@xn--e1afmkfd.xn--p1ai', true],
    [' ada@example.com ', true],
    ['ada@example', false],
    ['max@müller.de', true],
    ['a..b@example.com', false],
    ['.a@example.com', false],
    ['a.@example.com', false],
    ['ada@example.com\r\nBcc: eve@example.com', false],
    ['ada@example.com, eve@example.com', false],
    ['<ada@example.com>', false],
    ['"a b"@example.com', false],
    [`${'a'.repeat(250)}@example.com`, false],
  ])('with the address %j is read: %s', (email, isRead) => {
    expect(tryParse(CheckoutRequest, { contact: { email } }) !== undefined).toBe(isRead)
  })

  it('knows a domain as servers do', () => {
    const { contact } = parse(CheckoutRequest, { contact: { email: 'Max@MÜLLER.de' } })
    expect(contact).toEqual({ email: 'Max@xn--mller-kva.de' })
  })

  it('names countries that exist, and reads an address in one form of Unicode', () => {
    const read = (delivery: object) => tryParse(CheckoutRequest, { delivery })?.delivery
    expect(read({ country: 'XK', city: ' Prishtine\u0308 ' })).toEqual({ country: 'XK', city: 'Prishtinë' })
    for (const wrong of [{ country: 'ZZ' }, { city: '\u200b' }, { name: 'Ada\u202e' }])
      expect(read(wrong)).toBeUndefined()
  })

  it('is either read or refused, whatever is sent', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        if (tryParse(CheckoutRequest, value)) return
        expect(() => parse(CheckoutRequest, value)).toThrow(problemLike({ status: 422 }))
      }),
    )
  })
})

it('a payment request without a method names the missing field', () => {
  const errors = [{ field: 'payment_method', detail: 'is required' }]
  expect(() => parse(PaymentRequest, {})).toThrow(problemLike({ errors }))
})

it('an order id is the same in capitals', () => {
  const id = '01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b'
  expect(parse(OrderId, id.toUpperCase())).toBe(id)
})

it('an order is read without its reason when only a newer version knows the reason', () => {
  const [at, amounts] = ['2026-11-21T12:00:00.000Z', { subtotal_minor: 9900, discount_minor: 0, fees: [] }]
  const order = {
    ...{ order_id: '01934fd2-7c00-7000-8000-000000000001', sale: 'demo', short_number: 'K7Q-4MX' },
    ...{ product_id: 'red', quantity: 1, unit_price_minor: 9900, currency: 'EUR', lines: [] },
    ...{ status: 'cancelled', reserved_until: at, expires_in_seconds: 0, created_at: at, payment: null },
    ...{ ...amounts, shipping_minor: 0, tax_minor: 0, total_minor: 9900, refunded_minor: 0 },
  }
  expect(parse(Order, { ...order, reason: 'declined' })).toEqual({ ...order, reason: 'declined' })
  expect(parse(Order, { ...order, reason: 'mercury_in_retrograde' })).toEqual(order)
  expect(parse(Order, order)).toEqual(order)
})

it('an Idempotency-Key has 1 to 255 printable ASCII characters', () => {
  for (const key of ['a', '7f3c-1', '"quoted"', 'x'.repeat(255)]) expect(tryParse(IdempotencyKey, key)).toBe(key)
  for (const key of ['', 'two words', 'ü', 'x'.repeat(256), 'a\u0000'])
    expect(tryParse(IdempotencyKey, key)).toBeUndefined()
})
