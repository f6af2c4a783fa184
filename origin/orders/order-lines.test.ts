/** Lines of an order that are refunded or cancelled one by one, with their units and seats. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { addHall } from '../../test/lib/hall.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { linesLeft, priceOf, requireLines } from './order-lines.ts'

const origin = useOrigin()

async function openHall(): Promise<string> {
  const sale = await origin.sale({ total: 10, limit_per_visitor: 12 })
  await addHall(origin.sql(), sale)
  // The gate learns of the sections.
  const reconciled = async () => (await origin.admin('POST', `/sales/${sale}/reconcile`)).body
  await eventuallyMatches(reconciled, { findings: Array(3).fill({ found: 'ok' }) })
  return sale
}

/** Two units for 2,000, a place for 500, and the seats 3 and 4 for 2,003 and 2,004. */
const LINES = [
  { product_id: 'one', quantity: 2 },
  { section_id: 'floor', quantity: 1 },
  { section_id: 'stalls', seats: ['S3', 'S4'] },
]
const TOTAL = 6_507

async function order(sale: string, payment_method?: string, lines: readonly object[] = LINES) {
  const token = await origin.token(sale)
  const body = { lines, ...(payment_method && { payment_method }) }
  const answer = await origin.checkoutDecided(sale, { token, body })
  return { id: String(answer.body.order_id), token }
}
async function paid(sale: string, lines?: readonly object[]): Promise<string> {
  const { id } = await order(sale, 'pm_ok', lines)
  await until(id, { status: 'confirmed' })
  return id
}
const read = async (id: string) => (await origin.admin('GET', `/orders/${id}`)).body
const until = (id: string, wanted: object) => eventuallyMatches(() => read(id), wanted)
const statuses = async (id: string) => ((await read(id)).lines as { status: string }[]).map(({ status }) => status)
const units = async (id: string) =>
  (await origin.sql()`select quantity from orders where order_id = ${id}`)[0]?.quantity
const refund = (id: string, body: object, key: string = randomUUID()) =>
  origin.call('POST', `/admin/orders/${id}/refund`, { token: ADMIN_TOKEN, body, headers: { 'idempotency-key': key } })
const returnUnits = (id: string, body: object = {}) => origin.admin('POST', `/orders/${id}/return`, body)
const cancel = (id: string, body: object) => origin.admin('POST', `/orders/${id}/cancel`, body)
const eventsOf = async (id: string) =>
  (await origin.sql()`select type from events where order_id = ${id} order by seq`).map(({ type }) => type)
const charged = (id: string) =>
  origin.sql()`select amount_minor::int, refunded_minor::int from sandbox.charges where order_id = ${id}
    and status <> 'declined'`

/** Counters, orders, seats and the gate say the same; `sold` and `held` of units, places and seats. */
async function agree(sale: string, counts: Readonly<Record<'held' | 'sold', readonly number[]>>) {
  const { products } = (await origin.admin('GET', `/sales/${sale}`)).body as {
    products: { held: number; sold: number }[]
  }
  expect({ held: products.map(({ held }) => held), sold: products.map(({ sold }) => sold) }).toEqual(counts)
  const found = Array(3).fill({ found: 'ok', drift: 0, recount: { found: 'ok', units: 0 } })
  const reconciled = async () => (await origin.admin('POST', `/sales/${sale}/reconcile`)).body
  await eventuallyMatches(reconciled, { findings: found })
}
const invalid = (field: string) => ({ status: 422, body: { errors: [{ field }] } })
const takes = (sale: string, seat: string) =>
  eventuallyMatches(() => origin.checkout(sale, { body: { lines: [{ section_id: 'stalls', seats: [seat] }] } }), {
    status: 201,
  })

describe.concurrent('a refund of lines', () => {
  test('gives back their price, and their units and seats are for sale again', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    const key = randomUUID()
    expect(await refund(id, { lines: [1, 3], restock: true, reason: 'torn' }, key)).toMatchObject({ status: 202 })
    await until(id, { status: 'confirmed', refunded_minor: 4_003, total_minor: TOTAL })
    expect(await statuses(id)).toEqual(['returned', 'sold', 'returned', 'sold'])
    expect(await units(id)).toBe(2)
    expect(await charged(id)).toEqual([{ amount_minor: TOTAL, refunded_minor: 4_003 }])
    expect(await refund(id, { lines: [3, 1], restock: true, reason: 'torn' }, key)).toMatchObject({ status: 200 })
    expect(await refund(id, { lines: [1], restock: true, reason: 'torn' }, key)).toMatchObject({ status: 422 })
    const gone = { status: 409, body: { detail: expect.stringContaining('Line 3') } }
    expect(await refund(id, { lines: [2, 3] })).toMatchObject(gone)
    expect(await refund(id, { lines: [9] })).toMatchObject(invalid('lines'))
    await takes(sale, 'S3')
    await agree(sale, { held: [0, 0, 1], sold: [0, 1, 1] })
    expect(await eventsOf(id)).toEqual(['order.paying', 'order.confirmed', 'order.refunded'])
    const findings = await origin.sql()`select kind from findings where sale_id = ${sale} and kind <> 'fenced'`
    expect(findings).toEqual([])
  })

  test('may be less than their price, and leaves their units sold without a restock', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    expect(await refund(id, { lines: [2], amount_minor: 501 })).toMatchObject(invalid('amount_minor'))
    expect(await refund(id, { lines: [2], amount_minor: 100 })).toMatchObject({ status: 202 })
    await until(id, { refunded_minor: 100 })
    expect(await refund(id, { lines: [2] })).toMatchObject({ status: 409 })
    expect(await refund(id, { lines: [3], amount_minor: 2_000, restock: true })).toMatchObject({ status: 202 })
    await until(id, { refunded_minor: 2_100 })
    expect(await statuses(id)).toEqual(['sold', 'sold', 'returned', 'sold'])
    // What is left of the money comes back, and the units of the other lines stay gone.
    expect(await refund(id, {})).toMatchObject({ status: 202 })
    await until(id, { status: 'refunded', refunded_minor: TOTAL })
    expect(await statuses(id)).toEqual(['sold', 'sold', 'returned', 'sold'])
    await agree(sale, { held: [0, 0, 0], sold: [2, 1, 1] })
  })

  test('ends the order with its last lines', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    await refund(id, { lines: [1, 4], restock: true })
    await refund(id, { lines: [2, 3], restock: true })
    await until(id, { status: 'refunded', refunded_minor: TOTAL })
    expect(await origin.sql()`select status from orders where order_id = ${id}`).toEqual([{ status: 'returned' }])
    expect(await origin.sql()`select from seat_claims where order_id = ${id}`).toHaveLength(0)
    await agree(sale, { held: [0, 0, 0], sold: [0, 0, 0] })
  })

  test('puts the seat on sale though a fee is kept, which can be refunded later', async () => {
    const sale = await openHall()
    const id = await paid(sale, [{ section_id: 'stalls', seats: ['S3'] }])
    expect(await refund(id, { amount_minor: 1_500, restock: true })).toMatchObject({ status: 202 })
    await until(id, { status: 'refunded', refunded_minor: 1_500, lines: [{ status: 'returned' }] })
    await takes(sale, 'S3')
    await agree(sale, { held: [0, 0, 1], sold: [0, 0, 0] })
    expect(await returnUnits(id)).toMatchObject({ status: 409 })
    expect(await refund(id, {})).toMatchObject({ status: 202 })
    await until(id, { status: 'refunded', refunded_minor: 2_003 })
  })

  test('leaves the units sold, and they are put on sale later, once', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    expect(await returnUnits(id)).toMatchObject({ status: 409 })
    await refund(id, { lines: [1, 3] })
    await until(id, { refunded_minor: 4_003 })
    expect(await returnUnits(id, { lines: [2] })).toMatchObject({ status: 409 })
    expect(await returnUnits(id, { lines: [3] })).toMatchObject({ status: 200, body: { status: 'confirmed' } })
    expect(await statuses(id)).toEqual(['sold', 'sold', 'returned', 'sold'])
    await takes(sale, 'S3')
    await refund(id, {})
    await until(id, { status: 'refunded', refunded_minor: TOTAL })
    await agree(sale, { held: [0, 0, 1], sold: [2, 1, 1] })
    const answers = await Promise.all([returnUnits(id), returnUnits(id)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    await agree(sale, { held: [0, 0, 1], sold: [0, 0, 0] })
    expect(await returnUnits(id, { lines: [1] })).toMatchObject({ status: 409 })
    expect((await eventsOf(id)).filter((type) => type === 'order.units_returned')).toHaveLength(2)
  })

  test('of many at once gives each line back once', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    const answers = await Promise.all([1, 2, 3, 1, 2, 3].map((line) => refund(id, { lines: [line], restock: true })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 409, 409, 409])
    await until(id, { refunded_minor: 4_503 })
    expect(await statuses(id)).toEqual(['returned', 'returned', 'returned', 'sold'])
    await agree(sale, { held: [0, 0, 0], sold: [0, 0, 1] })
  })
})

describe.concurrent('an operator cancels lines', () => {
  test('of an order that is not paid: they are for sale at once, and the others are charged', async () => {
    const sale = await openHall()
    const { id, token } = await order(sale)
    const cancelled = await cancel(id, { lines: [1, 4], reason: 'by telephone' })
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'reserved', total_minor: 2_503 } })
    expect(await statuses(id)).toEqual(['returned', 'held', 'held', 'returned'])
    await takes(sale, 'S4')
    await agree(sale, { held: [0, 1, 2], sold: [0, 0, 0] })
    expect(await cancel(id, { lines: [4] })).toMatchObject({ status: 409 })
    await origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_ok' } })
    await until(id, { status: 'confirmed', total_minor: 2_503 })
    expect(await charged(id)).toMatchObject([{ amount_minor: 2_503 }])
    expect((await eventsOf(id)).slice(0, 2)).toEqual(['order.lines_cancelled', 'order.paying'])
    const audited = origin.sql()`select action, after from audit_log where order_id = ${id} order by entry_id limit 1`
    expect(await audited).toEqual([{ action: 'lines cancelled', after: { lines: [1, 4], reason: 'by telephone' } }])
    expect(await refund(id, { lines: [1] })).toMatchObject({ status: 409 })
    await refund(id, { restock: true })
    await until(id, { status: 'refunded', refunded_minor: 2_503 })
    await agree(sale, { held: [0, 0, 1], sold: [0, 0, 0] })
  })

  test('of an unpaid order: its bill is made again, and a code for these lines alone is given back', async () => {
    const product = { name: 'A', unit_price_minor: 1_200, currency: 'EUR', total: 10 }
    const sale = await origin.sale({
      limit_per_visitor: 5,
      products: [
        { product_id: 'a', ...product },
        { product_id: 'b', ...product },
      ],
      tax: { name: 'VAT', percent: 20 },
    })
    const codes = [
      { code: 'TEN', percent: 10, combined: true },
      { code: 'FORB', amount_minor: 100, products: ['b'], combined: true },
    ]
    await origin.admin('PUT', `/sales/${sale}/promo-codes`, codes)
    const token = await origin.token(sale)
    const lines = [
      { product_id: 'a', quantity: 2 },
      { product_id: 'b', quantity: 1 },
    ]
    const { body } = await origin.checkoutDecided(sale, { token, body: { lines, promo_code: ['TEN', 'FORB'] } })
    const id = String(body.order_id)
    expect(body).toMatchObject({ subtotal_minor: 3_600, discount_minor: 460, tax_minor: 523, total_minor: 3_140 })
    const bill = { subtotal_minor: 2_400, discount_minor: 240, tax_minor: 360, total_minor: 2_160 }
    expect(await cancel(id, { lines: [2] })).toMatchObject({ status: 200, body: bill })
    const { body: listed } = await origin.admin('GET', `/sales/${sale}/promo-codes`)
    expect(listed).toMatchObject({ codes: [{ used: 1 }, { used: 0 }] })
    expect(await eventsOf(id)).toEqual(['order.lines_cancelled'])
    const payment = { token, body: { payment_method: 'pm_ok' } }
    await origin.call('POST', `/orders/${id}/payment`, payment)
    await until(id, { status: 'confirmed', ...bill, lines: [{ cost_minor: 2_160 }, { cost_minor: 0 }] })
    expect(await charged(id)).toMatchObject([{ amount_minor: 2_160 }])
  })

  test('of a paid order: they are refunded, and for sale again', async () => {
    const sale = await openHall()
    const id = await paid(sale)
    expect(await cancel(id, { lines: [3] })).toMatchObject({ status: 202 })
    await until(id, { status: 'confirmed', refunded_minor: 2_003 })
    expect(await statuses(id)).toEqual(['sold', 'sold', 'returned', 'sold'])
    await takes(sale, 'S3')
    await origin.admin('POST', `/orders/${id}/fulfil`)
    const sent = { status: 409, body: { detail: expect.stringContaining('can only be refunded') } }
    expect(await cancel(id, { lines: [1] })).toMatchObject(sent)
    await agree(sale, { held: [0, 0, 1], sold: [2, 1, 1] })
  })

  test('and with the last of them the order', async () => {
    const sale = await openHall()
    const [unpaid, bought] = [(await order(sale)).id, await paid(sale, [{ section_id: 'stalls', seats: ['S7', 'S8'] }])]
    const cancelled = { status: 200, body: { status: 'cancelled', reason: 'by_shop' } }
    expect(await cancel(unpaid, { lines: [1, 2] })).toMatchObject({ status: 200, body: { status: 'reserved' } })
    expect(await cancel(unpaid, { lines: [3, 4] })).toMatchObject(cancelled)
    expect(await cancel(bought, { lines: [1] })).toMatchObject({ status: 202, body: { status: 'confirmed' } })
    await until(bought, { refunded_minor: 2_007 })
    expect(await cancel(bought, { lines: [2] })).toMatchObject(cancelled)
    await until(bought, { refunded_minor: 4_015 })
    await agree(sale, { held: [0, 0, 0], sold: [0, 0, 0] })
  })

  test('that were paid at the box office: they are for sale at once, and the money is given back there', async () => {
    const sale = await openHall()
    const sold = await origin.call('POST', `/admin/sales/${sale}/box-office`, {
      ...{ token: ADMIN_TOKEN, headers: { 'idempotency-key': randomUUID() } },
      body: { lines: [{ section_id: 'stalls', seats: ['S3', 'S4', 'S7'] }] },
    })
    const id = String(sold.body.order_id)
    expect(await refund(id, { lines: [1], restock: true })).toMatchObject({ status: 409 })
    const inPart = { status: 200, body: { status: 'confirmed', refunded_minor: 2_004, total_minor: 6_014 } }
    expect(await cancel(id, { lines: [2], reason: 'ill' })).toMatchObject(inPart)
    expect(await statuses(id)).toEqual(['sold', 'returned', 'sold'])
    await takes(sale, 'S4')
    await agree(sale, { held: [0, 0, 1], sold: [0, 0, 2] })
    const whole = { status: 'cancelled', refunded_minor: 6_014, payment: { status: 'refunded' } }
    expect(await cancel(id, { lines: [1, 3] })).toMatchObject({ status: 200, body: whole })
    await agree(sale, { held: [0, 0, 1], sold: [0, 0, 0] })
  })

  test('of no order that is being paid, or whose payment was begun', async () => {
    const sale = await openHall()
    const slow = await order(sale, 'pm_slow')
    await until(slow.id, { status: 'paying' })
    expect(await cancel(slow.id, { lines: [1] })).toMatchObject({ status: 409 })
    const { id } = await order(sale, 'pm_declined', [{ section_id: 'stalls', seats: ['S9', 'S10'] }])
    await until(id, { status: 'reserved', payment: { status: 'declined' } })
    expect(await cancel(id, { lines: [1] })).toMatchObject({ status: 409 })
    expect(await cancel(id, { lines: [7] })).toMatchObject({ status: 409 })
  })
})

test('lines are numbered from one, and none goes twice', () => {
  const plain = { product_id: 'one', quantity: 3, unit_price_minor: 100, cart: null, bill: null }
  expect(linesLeft(plain, [])).toEqual([1])
  expect(priceOf(plain, [1], [])).toBe(300)
  const line = { product: 'one', name: 'One', quantity: 1, unit_price_minor: 100 }
  const cart = { ...plain, cart: [line, { ...line, returned: 'unpaid' as const }, line] }
  expect(linesLeft(cart, [3])).toEqual([1])
  expect(() => requireLines(cart, [1, 3], [])).not.toThrow()
  for (const line of [2, 3, 4]) expect(() => requireLines(cart, [line], [3])).toThrow()
})
