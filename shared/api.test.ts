import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CheckoutRequest,
  IdempotencyKey,
  Order,
  OrderId,
  PaymentRequest,
  parse,
  parseJson,
  SaleConfig,
} from './api.ts'
import { problem, problemResponse } from './problem.ts'

const sale = {
  name: 'Trainers "Ünï" 👟',
  opens_at: '2026-11-27T12:00:00+01:00',
  products: [{ product_id: 'red', name: 'Red', unit_price_minor: 9900, currency: 'EUR', total: 100 }],
  admission: { rate_per_second: 200 },
}

function fieldsOf(value: unknown): string[] {
  const parsed = parse(SaleConfig, value)
  return parsed.ok ? [] : (parsed.problem.errors ?? []).map((e) => e.field)
}

describe('a sale', () => {
  it('gets the defaults of the contract, and its times in UTC', () => {
    const parsed = parse(SaleConfig, sale)
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        ...sale,
        opens_at: '2026-11-27T11:00:00.000Z',
        ends_at: null,
        hold_seconds: 90,
        limit_per_visitor: 1,
      },
    })
  })

  it('that is wrong is refused by the name of each field', () => {
    expect(fieldsOf({ ...sale, name: '  ' })).toEqual(['name'])
    expect(fieldsOf({ ...sale, opens_at: 'noon', hold_seconds: 0.5 })).toEqual(['opens_at', 'hold_seconds'])
    expect(fieldsOf({ ...sale, ends_at: '2026-11-27T10:00:00Z' })).toEqual(['ends_at'])
    expect(fieldsOf({ ...sale, products: [{ ...sale.products[0], total: -1 }] })).toEqual([
      'products.0.total',
    ])
    expect(fieldsOf({ ...sale, products: [sale.products[0], sale.products[0]] })).toEqual(['products'])
    expect(fieldsOf({ ...sale, admission: { rate_per_second: 0 } })).toEqual(['admission.rate_per_second'])
  })

  it.each([
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2101-01-01T00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2030-02-31T12:00+05:00',
    '2030-13-01T00:00:00Z',
  ])('at %s, when there is none, is refused', (time) => {
    expect(fieldsOf({ ...sale, opens_at: time, ends_at: time, pre_queue_opens_at: time })).toEqual([
      'opens_at',
      'ends_at',
      'pre_queue_opens_at',
    ])
  })

  it.each(['1970-01-01T00:00:00Z', '2032-02-29T00:00:00+14:00', '2030-06-30T24:00Z'])(
    'may open at %s',
    (opens_at) => expect(fieldsOf({ ...sale, opens_at })).toEqual([]),
  )

  it('with a field that there is not is refused by its name, wherever it stands', () => {
    const [product] = sale.products
    expect(fieldsOf({ ...sale, hold_secondz: 5 })).toEqual(['hold_secondz'])
    expect(fieldsOf({ ...sale, products: [{ ...product, price: 5 }] })).toEqual(['products.0.price'])
    expect(fieldsOf({ ...sale, admission: { rate_per_second: 5, max: 5 } })).toEqual(['admission.max'])
    expect(fieldsOf({ ...sale, admission: 5 })).toEqual(['admission'])
  })

  it('is told what may be done about an oversell, in our words', () => {
    expect(parse(SaleConfig, { ...sale, oversell_policy: 'pray' })).toMatchObject({
      problem: {
        errors: [
          {
            field: 'oversell_policy',
            detail: 'one of alarm, cancel_latest, fulfil_from_buffer is required',
          },
        ],
      },
    })
  })

  it('may have every field of the contract, and those of ours', () => {
    const full = {
      ...sale,
      ends_at: null,
      pre_queue_opens_at: '2026-11-27T10:00:00Z',
      hold_seconds: 90,
      limit_per_visitor: 1,
      admission: { rate_per_second: 200, max_inside: 500 },
      oversell_policy: 'alarm',
    }
    expect(fieldsOf(full)).toEqual([])
  })
})

describe('a checkout request', () => {
  it.each([0, -1, 1.5, 1e9, '1', null, Number.NaN])('with the quantity %s is refused', (quantity) => {
    expect(parse(CheckoutRequest, { quantity })).toMatchObject({
      ok: false,
      problem: { status: 422, errors: [{ field: 'quantity' }] },
    })
  })

  it('may be empty: one unit of the first product', () => {
    expect(parseJson(CheckoutRequest, '{}')).toEqual({ ok: true, value: { quantity: 1 } })
  })

  it.each(['', '{', 'null', '[]', '"text"', '7'])('whose body is %j is malformed', (body) => {
    expect(parseJson(CheckoutRequest, body)).toMatchObject({ ok: false, problem: { status: 400 } })
  })

  it('of any kind is answered, never thrown at', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const parsed = parse(CheckoutRequest, value)
        return parsed.ok || parsed.problem.status === 422
      }),
    )
  })
})

describe('a payment request', () => {
  it('without its method is told what it lacks', () => {
    expect(parse(PaymentRequest, {})).toMatchObject({
      problem: { errors: [{ field: 'payment_method', detail: 'is required' }] },
    })
  })
})

describe('the id of an order', () => {
  it('is the same in capitals', () => {
    const id = '01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b'
    expect(parse(OrderId, id.toUpperCase())).toEqual({ ok: true, value: id })
  })
})

describe('an order', () => {
  it('whose reason was given by a newer version than reads it is read as one without', () => {
    const order = {
      order_id: '01934fd2-7c00-7000-8000-000000000001',
      sale: 'demo',
      product_id: 'red',
      quantity: 1,
      unit_price_minor: 9900,
      currency: 'EUR',
      status: 'cancelled',
      reserved_until: '2026-11-21T12:00:00.000Z',
      expires_in_seconds: 0,
      created_at: '2026-11-21T11:58:30.000Z',
    }
    expect(parse(Order, { ...order, reason: 'declined' })).toEqual({
      ok: true,
      value: { ...order, reason: 'declined' },
    })
    expect(parse(Order, { ...order, reason: 'mercury_in_retrograde' })).toEqual({ ok: true, value: order })
    expect(parse(Order, order)).toEqual({ ok: true, value: order })
  })
})

describe('an Idempotency-Key', () => {
  it('is 1 to 255 printable ASCII characters', () => {
    for (const key of ['a', '7f3c-1', '"quoted"', 'x'.repeat(255)])
      expect(parse(IdempotencyKey, key).ok).toBe(true)
    for (const key of ['', 'two words', 'ü', 'x'.repeat(256), 'a\u0000'])
      expect(parse(IdempotencyKey, key).ok).toBe(false)
  })
})

describe('a problem', () => {
  it('is sent as problem+json, uncached, with Retry-After in whole seconds', () => {
    const sent = problemResponse(problem('try-again', { detail: 'Please wait.', retry_after_seconds: 0.2 }))
    expect(sent.status).toBe(503)
    expect(sent.headers).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '1',
    })
    expect(JSON.parse(sent.body)).toMatchObject({
      type: '/problems/try-again',
      status: 503,
      detail: 'Please wait.',
      retry_after_seconds: 1,
    })
  })

  it('says something for people where nothing more is known', () => {
    expect(problem('sold-out').detail).toBe('All units are sold.')
  })
})
