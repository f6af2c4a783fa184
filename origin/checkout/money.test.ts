/** What an order costs: fees, delivery, tax and promo codes, as buyers are shown it and as it is recorded. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

const product = (product_id: string, unit_price_minor: number, weight_grams: number) => ({
  ...{ product_id, name: product_id, unit_price_minor, weight_grams },
  ...{ currency: 'EUR', total: 20 },
})
const SHIRT = product('shirt', 2_500, 300)
const PRINT = product('print', 1_999, 800)
const FEES = [
  { name: 'Service', percent: 10, per: 'unit' },
  { name: 'Booking', amount_minor: 250, per: 'order' },
]
const DELIVERY = {
  kind: 'address',
  countries: ['DE', 'FR', 'IE'],
  prices: [
    { countries: ['DE'], up_to_grams: 2_000, amount_minor: 490 },
    { countries: ['FR', 'IE'], up_to_grams: 2_000, amount_minor: 1_290 },
  ],
}
const BERLIN = { name: 'Ada', street: 'Allee 1', postcode: '10115', city: 'Berlin', country: 'DE' }

const openSale = (options: object = {}) => origin.sale({ products: [SHIRT, PRINT], limit_per_visitor: 20, ...options })
const putCodes = async (sale: string, codes: object[]) =>
  expect(await origin.admin('PUT', `/sales/${sale}/promo-codes`, codes)).toMatchObject({ status: 200 })
const buy = async (sale: string, body: object, token?: string) =>
  origin.checkoutDecided(sale, { body, ...(token !== undefined && { token }) })
const read = async (id: unknown) => (await origin.admin('GET', `/orders/${id}`)).body
const change = async (sale: string, changes: object) => {
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  expect((await origin.admin('PUT', `/sales/${sale}`, { ...body, ...changes })).status).toBe(200)
}
const totals = async (sale: string, body: object) =>
  origin.call('POST', `/sales/${sale}/totals`, { token: await origin.token(sale), body })
/** Asks for the refund of some lines. */
const refund = async (id: unknown, lines: number[]) => {
  const asked = { body: { lines, reason: 'returned', restock: true }, headers: { 'idempotency-key': randomUUID() } }
  const { status } = await origin.call('POST', `/admin/orders/${id}/refund`, { token: ADMIN_TOKEN, ...asked })
  expect(status).toBeLessThan(300)
}
const codesOf = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/promo-codes`)).body
const heldOf = async (sale: string) => {
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  return (body as { products: { held: number }[] }).products.map(({ held }) => held)
}

const LINES = [
  { product_id: 'shirt', quantity: 2 },
  { product_id: 'print', quantity: 1 },
]
/** 6,999 for the goods, 10 % each line, 250, 490 for Germany. */
const TOTALS = {
  subtotal_minor: 6_999,
  discount_minor: 0,
  fees: [
    { name: 'Service', amount_minor: 700 },
    { name: 'Booking', amount_minor: 250 },
  ],
  shipping_minor: 490,
  tax_minor: 0,
  total_minor: 8_439,
}

describe('a sale that adds to its prices', () => {
  test('says the same sum before the order, with it, and ever after', async () => {
    const sale = await openSale({ fees: FEES, delivery: DELIVERY })
    const shown = await totals(sale, { lines: LINES, delivery: { country: 'DE' } })
    expect(shown).toMatchObject({ status: 200, body: TOTALS })
    expect((await totals(sale, { lines: LINES })).body).toMatchObject({ needs_country: true, shipping_minor: 0 })
    expect(await heldOf(sale)).toEqual([0, 0])
    const { status, body } = await buy(sale, { lines: LINES, delivery: BERLIN, total_minor: 8_439 })
    expect([status, body]).toMatchObject([201, TOTALS])
    expect(body.lines).toMatchObject([{ product_id: 'shirt', quantity: 2 }, { product_id: 'print' }])
    expect(body.lines?.[0]).not.toHaveProperty('share_minor')
    expect(body.short_number).toMatch(/^[2-9A-HJ-NP-Z]{3}-[2-9A-HJ-NP-Z]{3}$/)
    expect(await read(body.order_id)).toMatchObject({ ...TOTALS, short_number: body.short_number })
    const stored = await origin.sql()`select delivery from contacts where order_id = ${String(body.order_id)}`
    expect(stored).toEqual([{ delivery: BERLIN }])
    const token = await origin.token(sale, 'contact')
    const own = await origin.checkout(sale, { token, key: 'c', body: { lines: LINES, delivery: BERLIN } })
    const [again, paid] = await Promise.all([
      origin.call('GET', `/orders/${own.body.order_id}`, { token }),
      origin.call('POST', `/orders/${own.body.order_id}/payment`, { token, body: { payment_method: 'pm_ok' } }),
    ])
    for (const { body } of [again, paid]) expect(body.contact).toEqual({ delivery: BERLIN })
  })

  test('asks for the same at the box office, except that nothing is sent', async () => {
    const products = [{ ...SHIRT, terms: 'No returns.' }, PRINT]
    const sale = await openSale({ fees: FEES, delivery: DELIVERY, products })
    const asked = { token: ADMIN_TOKEN, headers: { 'idempotency-key': randomUUID() }, body: { lines: LINES } }
    const answer = await origin.call('POST', `/admin/sales/${sale}/box-office`, asked)
    const body = { ...TOTALS, shipping_minor: 0, total_minor: TOTALS.total_minor - 490, status: 'confirmed' }
    expect(answer).toMatchObject({ status: 201, body })
  })

  test('adds tax, and takes the payment of the whole sum', async () => {
    const sale = await openSale({ tax: { name: 'VAT', percent: 19, included: false } })
    const { body } = await buy(sale, { product_id: 'shirt', payment_method: 'pm_ok' })
    expect(body).toMatchObject({ subtotal_minor: 2_500, tax_minor: 475, total_minor: 2_975 })
    await eventuallyMatches(() => read(body.order_id), { status: 'confirmed' })
    const charged = await origin.sql()`
      select amount_minor::int from sandbox.charges where order_id = ${String(body.order_id)}`
    expect(charged).toEqual([{ amount_minor: 2_975 }])
  })

  test('gives back lines with their shares, and with the last one all and the use of a promo code', async () => {
    const sale = await openSale({ fees: FEES, delivery: DELIVERY })
    await putCodes(sale, [{ code: 'NOON', percent: 10, uses: 1 }])
    const order = { lines: LINES, delivery: BERLIN, promo_code: 'NOON', payment_method: 'pm_ok' }
    const { order_id, total_minor } = (await buy(sale, order)).body
    await eventuallyMatches(() => read(order_id), { status: 'confirmed' })
    await refund(order_id, [2])
    // The print and its fee, both less a tenth.
    await eventuallyMatches(() => read(order_id), { refunded_minor: 1_799 + 180, status: 'confirmed' })
    expect(await codesOf(sale)).toMatchObject({ codes: [{ used: 1 }] })
    await refund(order_id, [1])
    await eventuallyMatches(() => read(order_id), { refunded_minor: total_minor, status: 'refunded' })
    expect(await codesOf(sale)).toMatchObject({ codes: [{ used: 0 }] })
  })

  test('takes the share of a line that is cancelled off the sum', async () => {
    const sale = await openSale({ fees: FEES, delivery: DELIVERY })
    const { body } = await buy(sale, { lines: LINES, delivery: BERLIN })
    const answer = await origin.admin('POST', `/orders/${body.order_id}/cancel`, { lines: [2] })
    expect(answer).toMatchObject({ status: 200, body: { total_minor: 8_439 - 2_199 } })
  })
})

describe('a price that has changed', () => {
  test.each([
    ['of a plain order', { product_id: 'shirt' }, 2_500],
    ['of a cart', { lines: LINES }, 6_999],
  ])('%s is a 409 with the new one, and nothing is held', async (_, body, total_minor) => {
    const sale = await openSale()
    const [token, key] = [await origin.token(sale), randomUUID()]
    const ask = (total: number) => origin.checkout(sale, { token, key, body: { ...body, total_minor: total } })
    const changed = { type: '/problems/price-changed', total_minor, discount_minor: 0, fees: [] }
    for (const shown of [1, total_minor + 1]) expect(await ask(shown)).toMatchObject({ status: 409, body: changed })
    expect(await heldOf(sale)).toEqual([0, 0])
    // The key is free for the new sum.
    expect(await ask(total_minor)).toMatchObject({ status: 201, body: { total_minor } })
  })

  test('between what a buyer sees and what they buy is never silent, at whichever moment', async () => {
    const sale = await openSale({ fees: FEES })
    const shown = 2_500 + 250 + 250
    const buys = Array.from({ length: 12 }, () => buy(sale, { product_id: 'shirt', total_minor: shown }))
    await change(sale, { fees: [{ name: 'Service', percent: 20, per: 'unit' }] })
    const more = Array.from({ length: 6 }, () => buy(sale, { product_id: 'shirt', total_minor: shown }))
    for (const { status, body } of await Promise.all([...buys, ...more])) {
      expect([201, 409]).toContain(status)
      expect(body.total_minor).toBe(status === 201 ? shown : 3_000)
    }
  })
})

describe('what is asked for', () => {
  test('of an address: all that is missing at once, and where it is not sent', async () => {
    const sale = await openSale({ delivery: { ...DELIVERY, ask: { phone: 'required', note: 'optional' } } })
    const fieldsOf = async (delivery?: object) => {
      const { status, body } = await buy(sale, { product_id: 'shirt', ...(delivery && { delivery }) })
      return [status, ...(body.errors ?? []).map(({ field }) => field)]
    }
    const all = ['phone', 'street', 'city', 'country', 'name'].map((field) => `delivery.${field}`)
    const [status, ...missing] = await fieldsOf()
    expect([status, missing.toSorted()]).toEqual([422, all.toSorted()])
    for (const country of ['US', 'Germany'])
      expect(await fieldsOf({ ...BERLIN, country, phone: '1' })).toEqual([422, 'delivery.country'])
    const { postcode: _, ...dublin } = { ...BERLIN, city: 'Dublin', country: 'IE', phone: '1', company: 'X' }
    expect(await fieldsOf(dublin)).toEqual([201])
    const { company: __, ...kept } = dublin
    expect(await origin.sql()`select delivery from contacts where sale_id = ${sale}`).toEqual([{ delivery: kept }])
  })

  test('of terms, together with what else is wrong', async () => {
    const sale = await openSale({
      products: [{ ...SHIRT, terms: 'No returns.' }, PRINT],
      contact: { email: 'required' },
      delivery: { kind: 'pickup', ask: { name: 'required' } },
    })
    const { status, body } = await buy(sale, { product_id: 'shirt' })
    const fields = body.errors?.map(({ field }) => field)
    expect([status, fields]).toEqual([422, ['accept', 'contact.email', 'delivery.name']])
    const said = { contact: { email: 'ada@example.com' }, delivery: { name: 'Ada' } }
    expect((await buy(sale, { product_id: 'print', ...said })).status).toBe(201)
    expect((await buy(sale, { product_id: 'shirt', accept: ['terms'], ...said })).status).toBe(201)
  })

  const variant = (id: string, total: number) => ({ variant_id: id, options: { size: id }, total })
  const options = [{ name: 'size', values: ['m', 'l'] }]
  const variants = { products: [{ ...SHIRT, total: 0, options, variants: [variant('m', 0), variant('l', 2)] }] }
  const dear = { products: [{ ...SHIRT, unit_price_minor: 1_000_000_000, total: 1_000 }], limit_per_visitor: 200 }

  test.each<[string, object, object, string]>([
    ['too heavy', { delivery: DELIVERY }, { product_id: 'print', quantity: 3, delivery: BERLIN }, 'quantity'],
    ['no variant', variants, { product_id: 'shirt' }, 'product_id'],
    ['no variant in a cart', variants, { lines: [{ product_id: 'shirt' }] }, 'lines.0.product_id'],
    ['beyond all sums', dear, { quantity: 101 }, 'quantity'],
    ['beyond all sums with fees', { ...dear, fees: FEES }, { quantity: 101 }, 'quantity'],
  ])('is refused where it is %s', async (_, options, body, field) => {
    const sale = await openSale(options)
    expect(await buy(sale, body)).toMatchObject({ status: 422, body: { errors: [{ field }] } })
    expect(new Set(await heldOf(sale))).toEqual(new Set([0]))
  })

  test('is the first variant that there is, where none is named', async () => {
    expect(await buy(await openSale(variants), {})).toMatchObject({ status: 201, body: { product_id: 'l' } })
  })
})

describe('promo codes', () => {
  const NOON = { code: 'NOON', percent: 10, uses: 2, uses_per_visitor: 1 }

  test('take off what they say, count their uses, and give them back', async () => {
    const sale = await openSale()
    await putCodes(sale, [NOON])
    const token = await origin.token(sale)
    const first = await buy(sale, { lines: LINES, promo_code: 'noon' }, token)
    expect([first.status, first.body]).toMatchObject([201, { discount_minor: 700, total_minor: 6_299 }])
    expect(first.body.lines).toHaveLength(2)
    const shirt = { product_id: 'shirt', promo_code: 'NOON' }
    const refused = { type: '/problems/promo-code-used-up', promo_code: 'NOON', total_minor: 2_500 }
    expect(await buy(sale, shirt, token)).toMatchObject({ status: 409, body: refused })
    expect((await buy(sale, shirt)).status).toBe(201)
    const other = await origin.token(sale)
    expect(await buy(sale, shirt, other)).toMatchObject({ status: 409, body: refused })
    expect((await totals(sale, shirt)).body).toMatchObject({
      total_minor: 2_500,
      promo_codes: [{ code: 'NOON', holds: false, reason: 'used_up' }],
    })
    expect(await codesOf(sale)).toMatchObject({ codes: [{ used: 2, uses: 2 }] })
    expect(await origin.stock(sale)).toMatchObject({ total: 20, held: 3 })
    const { order_id } = first.body
    expect((await origin.call('DELETE', `/orders/${order_id}`, { token })).status).toBe(200)
    expect((await buy(sale, shirt, other)).status).toBe(201)
    const { body } = await origin.admin('POST', `/sales/${sale}/reconcile`)
    expect(body).toMatchObject({ findings: [{ found: 'ok' }, { found: 'ok' }] })
  })

  test('that are unknown, not valid now, of no product in the cart, or not to be combined are 422', async () => {
    const sale = await openSale()
    await putCodes(sale, [
      { code: 'EARLY', percent: 10, until: '2020-01-01T00:00:00Z' },
      { code: 'LATE', percent: 10, from: '2090-01-01T00:00:00Z' },
      { code: 'PRINTS', percent: 10, products: ['print'], combined: true },
      { code: 'ALONE', percent: 10 },
      { code: 'TEN', amount_minor: 1_000, combined: true },
    ])
    const unknown = { status: 422, body: { type: '/problems/promo-code-unknown' } }
    for (const promo_code of ['NONE', 'EARLY', 'LATE', 'PRINTS', ['TEN', 'NONE']])
      expect(await buy(sale, { product_id: 'shirt', promo_code })).toMatchObject(unknown)
    const clash = { status: 422, body: { errors: [{ field: 'promo_code' }] } }
    expect(await buy(sale, { lines: LINES, promo_code: ['TEN', 'ALONE'] })).toMatchObject(clash)
    expect(await heldOf(sale)).toEqual([0, 0])
    const both = { status: 201, body: { discount_minor: 200 + 1_000 } }
    expect(await buy(sale, { lines: LINES, promo_code: ['PRINTS', 'TEN'] })).toMatchObject(both)
    expect((await totals(sale, { product_id: 'shirt', promo_code: ['TEN', 'NONE'] })).body).toMatchObject({
      total_minor: 1_500,
      promo_codes: [
        { code: 'TEN', holds: true },
        { code: 'NONE', holds: false, reason: 'unknown' },
      ],
    })
    // The response reports only valid codes as not combinable, because the report would confirm a guessed code.
    expect((await totals(sale, { product_id: 'shirt', promo_code: ['ALONE', 'LATE', 'PRINTS'] })).body).toMatchObject({
      promo_codes: [{ holds: true }, { reason: 'unknown' }, { reason: 'unknown' }],
    })
    expect(await totals(sale, { lines: LINES, promo_code: ['TEN', 'ALONE'] })).toMatchObject(clash)
  })

  test('are no more than guesses by an unknown one, for a network that the edge names', async () => {
    const sale = await openSale()
    const token = await origin.token(sale)
    const headers = { 'edge-token': origin.edgeToken, 'edge-networks': '198.51.100.9=24' }
    const guess = (where: 'totals' | 'checkout') => {
      const body = {
        product_id: 'shirt',
        promo_code: ['A1', 'A2', 'A3', 'A4', 'A5'].map((code) => code + crypto.randomUUID().slice(0, 4)),
      }
      const key = { 'idempotency-key': crypto.randomUUID() }
      return origin.call('POST', `/sales/${sale}/${where}`, { token, headers: { ...headers, ...key }, body })
    }
    for (const where of ['totals', 'checkout', 'totals', 'checkout'] as const)
      expect([200, 422]).toContain((await guess(where)).status)
    for (const where of ['totals', 'checkout'] as const)
      expect(await guess(where)).toMatchObject({ status: 429, body: { type: '/problems/too-many-requests' } })
  })

  test('of 10 uses, wanted by 100 at once, are used exactly 10 times, and again as they come back', async () => {
    const sale = await openSale({ products: [{ ...SHIRT, total: 500 }], hold_seconds: 600 })
    await putCodes(sale, [{ code: 'TEN', percent: 50, uses: 10 }])
    const all = async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => buy(sale, { product_id: 'shirt', promo_code: 'TEN' })),
      )
      return [201, 409].map((wanted) => answers.filter(({ status }) => status === wanted).length)
    }
    expect(await all()).toEqual([10, 90])
    expect(await codesOf(sale)).toMatchObject({ codes: [{ used: 10 }] })
    // Their holds end.
    await origin.sql()`update orders set reserved_until = now() - interval '1 minute' where sale_id = ${sale}`
    await eventuallyMatches(() => codesOf(sale), { codes: [{ used: 0 }] })
    expect(await all()).toEqual([10, 90])
  })
})
