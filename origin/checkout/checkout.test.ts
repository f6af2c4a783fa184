/** The checkout: which order, or which refusal, a call is answered with. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { moveOrders } from '../ledger/order-statements.ts'

const origin = useOrigin()

const soon = (ms: number) => new Date(Date.now() + ms).toISOString()
const PRICE = { unit_price_minor: 100, currency: 'EUR' }
const product = (product_id: string, total = 50) => ({ product_id, name: product_id, total, ...PRICE })
const [one, two] = ['one', 'two'].map((id) => product(id))

test('returns 201 with the order, reserved and recorded', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale, 'ada')
  const answer = await origin.checkout(sale, { token })
  expect(answer.status).toBe(201)
  const units = { product_id: 'one', quantity: 1, unit_price_minor: 1000, currency: 'EUR' }
  expect(answer.body).toMatchObject({ sale, ...units, status: 'reserved', remaining: 9 })
  expect(answer.body.expires_in_seconds).toBeGreaterThan(30)
  const { order_id = '' } = answer.body
  const rows = await origin.sql()`select status, visitor from orders where order_id = ${order_id}`
  expect(rows).toEqual([{ status: 'reserved', visitor: 'ada' }])
  for (const right of [token, answer.body.order_token]) {
    const seen = await origin.call('GET', `/orders/${order_id}`, { token: right ?? '' })
    expect(seen).toMatchObject({ status: 200, body: { order_id, status: 'reserved' } })
    expect(seen.body).not.toHaveProperty('order_token')
    expect(seen.body).not.toHaveProperty('remaining')
  }
})

test('sells each of the last units once to many at once', async () => {
  const sale = await origin.sale({ total: 7 })
  const answers = await Promise.all(Array.from({ length: 60 }, () => origin.checkoutDecided(sale)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(7)
  const refused = answers.filter(({ status }) => status === 409)
  expect(refused).toHaveLength(53)
  expect(refused[0]).toMatchObject({ body: { type: '/problems/all-in-carts' } })
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await origin.stock(sale)).toMatchObject({ total: 7, available: 0, held: 7, sold: 0 })
})

test('counts visitors as waiting for stock, unless units are left for others', async () => {
  const sale = await origin.sale({ limit_per_visitor: 2, products: [product('blue', 2), product('red', 2)] })
  const ask = async (product_id: string, quantity: number, visitor: string) =>
    origin.checkout(sale, { token: await origin.token(sale, visitor), body: { product_id, quantity } })
  const waiting = async () =>
    (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.waiting_for_stock
  const became = (wanted: number) => eventually(waiting, (now) => now === wanted)
  await ask('blue', 2, 'ann')
  await ask('red', 1, 'bob')
  for (const [product_id, quantity] of [
    ['blue', 1],
    ['red', 2],
  ] as const)
    expect(await ask(product_id, quantity, `for ${product_id}`)).toMatchObject({ status: 409 })
  await ask('red', 1, 'cid')
  // Reads the other products' stock from the ledger now.
  await origin.admin('GET', `/sales/${sale}`)
  expect(await ask('blue', 1, 'dan')).toMatchObject({ status: 409 })
  expect(await became(1)).toBe(1)
  await ask('red', 1, 'for red')
  expect(await became(2)).toBe(2)
})

test('makes one order of a key sent fifty times at once, and counts it once', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const ask = () => origin.checkout(sale, { token, key: 'the-one' })
  const answers = await Promise.all(Array.from({ length: 50 }, ask))
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([201]))
  expect(new Set(answers.map((a) => a.body.order_id)).size).toBe(1)
  expect(answers.filter((a) => a.headers.get('idempotency-replayed') === 'true')).toHaveLength(49)
  expect(await origin.stock(sale)).toMatchObject({ available: 9, held: 1 })
  const { body } = await origin.ops('/metrics')
  const counted = String(body.text)
    .split('\n')
    .filter((line) => line.includes(sale) && /^(checkouts|order_transitions)_total/.test(line))
  expect(counted.sort()).toEqual([
    `checkouts_total{sale="${sale}",outcome="replayed"} 49`,
    `checkouts_total{sale="${sale}",outcome="reserved"} 1`,
    `order_transitions_total{sale="${sale}",status="reserved"} 1`,
  ])
})

test('returns the same order to a key that was answered with another live order, whatever becomes of it', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const first = await origin.checkout(sale, { token })
  const second = (body = {}) => origin.checkout(sale, { token, key: 'second', body })
  expect((await second()).headers.get('idempotency-replayed')).toBeNull()
  const heard = async (status: string) => {
    const again = await second()
    expect(again).toMatchObject({ status: 200, body: { order_id: first.body.order_id, status } })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  }
  await heard('reserved')
  expect(await origin.stock(sale)).toMatchObject({ held: 1 })
  await origin.call('DELETE', `/orders/${first.body.order_id}`, { token })
  await heard('cancelled')
  const reused = { status: 422, body: { type: '/problems/idempotency-key-reused' } }
  expect(await second({ payment_method: 'pm_ok' })).toMatchObject(reused)
  expect(await origin.stock(sale)).toMatchObject({ held: 0 })
  expect(await origin.checkout(sale, { token, key: 'third' })).toMatchObject({ status: 201 })
  for (const change of ['pause', 'end']) {
    await origin.admin('POST', `/sales/${sale}/${change}`)
    await heard('cancelled')
  }
})

test('returns the existing order of a key whatever the operator changed since, and refuses another body', async () => {
  const config = {
    name: 'x',
    opens_at: soon(-1000),
    admission: { rate_per_second: 100 },
    products: [one, two],
    limit_per_visitor: 2,
  }
  const sale = await origin.sale(config)
  const token = await origin.token(sale)
  const ask = (key: string, quantity = 2) => origin.checkout(sale, { token, key, body: { quantity } })
  const { order_id } = (await ask('k')).body
  const change = (changes: object) => origin.admin('PUT', `/sales/${sale}`, { ...config, ...changes })
  const given = async () => {
    await origin.call('DELETE', `/orders/${order_id}`, { token })
    expect(await ask('another')).toMatchObject({ status: 201 })
    // Rebuilds the gate, and the visitor has all they may.
    return origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
  }
  const changes = [
    () => change({ products: [two, one] }),
    () => change({ limit_per_visitor: 1 }),
    () => change({ products: [one, two] }),
    given,
    () => origin.admin('POST', `/sales/${sale}/end`),
  ]
  for (const changed of changes) {
    expect((await changed()).status).toBe(200)
    const again = await ask('k')
    expect(again).toMatchObject({ status: 201, body: { order_id, product_id: 'one' } })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await ask('k', 1)).toMatchObject({ status: 422, body: { type: '/problems/idempotency-key-reused' } })
  }
  expect(await ask('l', 1)).toMatchObject({ status: 410, body: { type: '/problems/ended' } })
})

describe.concurrent('while others wait for their turn', () => {
  let redis: Redis
  beforeAll(() => {
    redis = new Redis(origin.redisUrl())
  })
  afterAll(() => redis.disconnect())

  /** When the origin last counted who waits. */
  const countedAt = async () => {
    const text = String((await origin.ops('/metrics')).body.text)
    return Number(/^actor_last_success_timestamp_seconds\{actor="arrivals"\} (.+)$/m.exec(text)?.[1])
  }
  /**
   * The edge's report, which the origin knows once it has counted again, and does not forget after ten seconds here.
   */
  async function queueOf(sale: string, people: number, likely = people): Promise<void> {
    const still = { called: '0', called_per_second: '1', coming_units: '0', coming_people: `${people}` }
    const about = { numbers_given: `${people}`, boost: '1', throttle: '1', clock_ms: '0' }
    const figures = new URLSearchParams({ ...still, ...about, waiting: `${people}`, likely_people: `${likely}` })
    await origin.call('GET', `/internal/sales/${sale}?${figures}`, { token: origin.edgeToken })
    await counted()
    await redis.persist(`{${sale}}:in-line`)
  }
  /** The first count that ends now may have begun before. */
  async function counted(): Promise<void> {
    for (let counts = 0; counts < 2; counts++) {
      const last = await countedAt()
      await eventually(countedAt, (at) => at > last)
    }
  }
  const giveBack = (order: string | undefined, token: string) => origin.call('DELETE', `/orders/${order}`, { token })
  const tooMany = { status: 429, body: { type: '/problems/too-many-orders' } }

  test('units that squatters give back go to others', async () => {
    const sale = await origin.sale({ total: 5, hold_seconds: 90 })
    const squatters = await Promise.all(Array.from({ length: 5 }, () => origin.token(sale)))
    const reserve = () => Promise.all(squatters.map((token) => origin.checkout(sale, { token })))
    const squatted = await reserve()
    expect(squatted.map(({ status }) => status)).toEqual(Array(5).fill(201))
    await Promise.all(squatted.map(({ body }, i) => giveBack(body.order_id, squatters[i] ?? '')))
    await queueOf(sale, 1_000)
    for (const refused of [...(await reserve()), ...(await reserve())]) {
      expect(refused).toMatchObject(tooMany)
      // The retry interval is the same as for any visitor who waits for stock.
      const retryAfter = Number(refused.headers.get('retry-after'))
      expect(retryAfter).toBeGreaterThanOrEqual(4)
      expect(retryAfter).toBeLessThanOrEqual(7)
    }
    expect(await origin.stock(sale)).toMatchObject({ available: 5, held: 0 })
    const others = await Promise.all(Array.from({ length: 5 }, () => origin.checkout(sale)))
    expect(others.map(({ status }) => status)).toEqual(Array(5).fill(201))
    // Nor do they count as waiting for stock, for which others are called.
    for (const refused of await reserve()) expect(refused).toMatchObject({ status: 409 })
    await counted()
    const state = await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
    expect(state.body.waiting_for_stock).toBe(0)
  })

  test('answers keys as before, and the visitor again once nobody waits', async () => {
    const sale = await origin.sale({ total: 5, hold_seconds: 5 })
    const token = await origin.token(sale)
    await queueOf(sale, 100)
    const first = await origin.checkout(sale, { token, key: 'first' })
    await giveBack(first.body.order_id, token)
    expect(await origin.checkout(sale, { token, key: 'second' })).toMatchObject(tooMany)
    const replay = await origin.checkout(sale, { token, key: 'first' })
    expect(replay).toMatchObject({ status: 201, body: { order_id: first.body.order_id, status: 'cancelled' } })
    await queueOf(sale, 5)
    expect(await origin.checkout(sale, { token, key: 'second' })).toMatchObject(tooMany)
    // The gate counts only the visitors in the queue who are likely to come, not all hundred.
    await queueOf(sale, 100, 4)
    expect(await origin.checkout(sale, { token, key: 'second' })).toMatchObject({ status: 201 })
  })

  test('also after an unpaid order of another product, and not once the queue is gone', async () => {
    const sale = await origin.sale({ products: [product('blue', 5), product('red', 5)] })
    const token = await origin.token(sale)
    const ask = (product_id: string) => origin.checkout(sale, { token, body: { product_id } })
    const blue = await ask('blue')
    await queueOf(sale, 100)
    await giveBack(blue.body.order_id, token)
    for (let again = 0; again < 2; again++) expect(await ask('red')).toMatchObject(tooMany)
    await queueOf(sale, 0)
    expect(await ask('red')).toMatchObject({ status: 201 })
  })
})

test('bounds what a network holds unpaid, as the edge says, until somebody has paid', async () => {
  const sale = await origin.sale()
  const from = async (sender: string) => {
    const token = await origin.token(sale)
    const headers = {
      'edge-token': sender,
      'edge-networks': '192.0.2.7%2F32=1',
      'idempotency-key': crypto.randomUUID(),
    }
    return { ...(await origin.call('POST', `/sales/${sale}/checkout`, { token, headers, body: {} })), token }
  }
  const first = await from(origin.edgeToken)
  expect(first.status).toBe(201)
  const full = { type: '/problems/too-many-requests', reason: 'unpaid_nearby' }
  expect(await from(origin.edgeToken)).toMatchObject({ status: 429, body: full })
  // The network of a buyer is trusted only if the edge's token comes with it.
  expect((await from('forged')).status).toBe(201)
  const paying = { token: first.token, body: { payment_method: 'pm_ok' } }
  await origin.call('POST', `/orders/${first.body.order_id}/payment`, paying)
  await eventually(
    () => from(origin.edgeToken),
    ({ status }) => status === 201,
  )
})

test('refuses a visitor after a hundred failed orders, but returns their orders', async () => {
  const sale = await origin.sale({ total: 200 })
  const token = await origin.token(sale, 'churner')
  const before = await origin.checkout(sale, { token, key: 'first' })
  await origin.sql()`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
      currency, status, idempotency_key, request_hash, reserved_until)
    select gen_random_uuid(), (next_order_numbers(1))[1], ${sale}, 'one', 'churner', 1, 1, 1000, 'EUR', 'cancelled',
      'k' || i, 'h', now()
    from generate_series(1, 100) i`
  const { order_id } = before.body
  expect(await origin.checkout(sale, { token })).toMatchObject({ status: 200, body: { order_id } })
  await origin.call('DELETE', `/orders/${order_id}`, { token })
  const detail = expect.stringContaining('too many orders')
  const refused = { status: 429, body: { type: '/problems/too-many-orders', detail } }
  for (let again = 0; again < 2; again++)
    expect(await origin.checkout(sale, { token, key: 'again' })).toMatchObject(refused)
  expect(await origin.checkout(sale, { token, key: 'first' })).toMatchObject({ body: { order_id } })
  expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
  expect(await origin.stock(sale)).toMatchObject({ available: 199, held: 1 })
})

test('returns the opening time before it', async () => {
  const opens_at = soon(60_000)
  const sale = await origin.sale({ opens_at })
  const answer = await origin.checkout(sale)
  expect(answer).toMatchObject({ status: 425, body: { type: '/problems/not-open', opens_at } })
})

test('while the sale is paused, returns what is left with a replay, and try-again to others', async () => {
  const sale = await origin.sale()
  const buyer = { token: await origin.token(sale), key: 'the-one' }
  await origin.checkout(sale, buyer)
  await origin.admin('POST', `/sales/${sale}/pause`)
  expect(await origin.checkout(sale, buyer)).toMatchObject({ status: 201, body: { remaining: 9 } })
  const answer = await origin.checkout(sale)
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await origin.stock(sale)).toMatchObject({ held: 1 })
  await origin.admin('POST', `/sales/${sale}/resume`)
  expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
})

test('makes another order if the gate did not hear that the first ended', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  const { order_id = '' } = body
  await moveOrders(origin.sql(), [order_id], { from: ['reserved'], to: 'cancelled' })
  const again = await origin.checkout(sale, { token })
  expect(again).toMatchObject({ status: 201, body: { status: 'reserved' } })
  expect(again.body.order_id).not.toBe(order_id)
})
