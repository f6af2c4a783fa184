/**
 * Excess calls of one visitor, or without a body, take no room; once a sale is sold out, newcomers are answered from
 * memory, with the same answers as before.
 */
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startRedis } from '../../dev/servers/redis.ts'
import { type Answer, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { useDatabase, useReturning } from '../../test/lib/servers.ts'

const database = useDatabase()
const gate = await useReturning(startRedis)
// The limit is the one of production.
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: gate.url }), { CALLS_PER_VISITOR: '6' })

/** The most checkouts of one process at once. */
const ROOM = 2_000
/** The hold outlasts the test, so that no sweeper looks up the orders meanwhile. */
const openSale = (total = 10) => origin.sale({ total, hold_seconds: 3_600 })

const healthOf = async (sale: string) =>
  (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.health

test('one admission has few calls in progress, slows nobody down and turns no buyer away', async () => {
  const sale = await openSale()
  const token = await origin.token(sale)
  const { calls } = await origin.sql().begin(async (tx) => {
    // The lock on the sale's row keeps the origin from recording anything.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const calls = Promise.all(Array.from({ length: 60 }, (_, i) => origin.checkout(sale, { token, key: `${i}` })))
    const buyer = { token: await origin.token(sale), key: 'the-one' }
    // Redis may be late for the first call.
    await expect.poll(() => origin.checkout(sale, buyer)).toMatchObject({ status: 202 })
    await expect.poll(() => healthOf(sale)).toBe('ok')
    return { calls }
  })
  const refused = (await calls).filter(({ status }) => status === 429)
  expect(refused[0]).toMatchObject({ body: { type: '/problems/too-many-requests' } })
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(await origin.checkoutDecided(sale, { token })).toMatchObject({ status: 200 })
})

test('rebuilds more gates at once than there are connections without deadlock', async () => {
  const sales = await Promise.all(Array.from({ length: 15 }, () => origin.sale({ total: 10 })))
  const restocked = await Promise.all(
    sales.map((sale) => origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })),
  )
  expect(new Set(restocked.map((answer) => answer.status))).toEqual(new Set([200]))
  await expect.poll(() => origin.ops('/readyz')).toMatchObject({ body: { ledger: true, gate: true } })
  for (const sale of sales) expect(await origin.stock(sale)).toMatchObject({ total: 11, available: 11 })
})

test('bodies that never arrive take no room', async () => {
  const sale = await origin.sale({ total: 10 })
  const token = await origin.token(sale)
  const { hostname, port } = new URL(origin.url())
  const head = `POST /sales/${sale}/checkout HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nidempotency-key: k\r\n`
  const stalled = Array.from({ length: ROOM + 1 }, () => connect(Number(port), hostname).on('error', () => {}))
  try {
    const sent = (socket: Socket) =>
      new Promise((resolve) => socket.write(`${head}content-length: 10\r\n\r\n{`, resolve))
    await Promise.all(stalled.map(sent))
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    await expect.poll(() => healthOf(sale)).toBe('ok')
  } finally {
    for (const socket of stalled) socket.destroy()
  }
})

describe('a sale that is sold out', () => {
  const PAID = { payment_method: 'pm_ok' }
  const SOLD_OUT = { status: 410, body: { type: '/problems/sold-out', status: 410 } }

  /** Checkouts that the origin made without the fast gate. */
  async function withoutGate(): Promise<number> {
    const text = String((await origin.ops('/metrics')).body.text)
    return Number(/^degraded_total\{without="gate"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }

  /**
   * Checks out as a newcomer until the fast gate, or what was heard from it, says "sold out": the ledger says so too.
   */
  async function untilTheGateSaysSo(sale: string): Promise<void> {
    const asked = async () => {
      const before = await withoutGate()
      expect(await origin.checkout(sale)).toMatchObject(SOLD_OUT)
      return (await withoutGate()) - before
    }
    await expect.poll(asked).toBe(0)
  }

  /** The gate hears of it a moment after the ledger, and then the origin from the gate. */
  async function allSold(sale: string, units: number): Promise<void> {
    await expect.poll(() => origin.stock(sale)).toMatchObject({ sold: units, held: 0 })
    await untilTheGateSaysSo(sale)
  }

  /** Stops Redis, and checks out until the answer needs none; in the end the gate is in use again. */
  async function withoutRedis(sale: string): Promise<void> {
    await gate.kill()
    await untilTheGateSaysSo(sale)
    await gate.start()
    await expect.poll(() => origin.ops('/readyz')).toMatchObject({ body: { gate: true } })
  }

  test('answers newcomers without the stores, and visitors with an order as before', async () => {
    const sale = await origin.sale({ total: 2 })
    const buyer = await origin.token(sale, 'buyer')
    const other = await origin.token(sale, 'other')
    const gaveBack = await origin.token(sale, 'gave-back')
    const first = await origin.checkout(sale, { token: gaveBack, key: 'g' })
    await origin.call('DELETE', `/orders/${first.body.order_id}`, { token: gaveBack })
    await origin.checkout(sale, { token: buyer, key: 'b', body: PAID })
    await origin.checkout(sale, { token: other, key: 'o', body: PAID })
    await allSold(sale, 2)

    const newcomer = await origin.token(sale, 'newcomer')
    const calls = [
      { token: buyer, key: 'b', body: PAID },
      { token: buyer, key: 'b', body: { quantity: 1 } },
      { token: buyer, key: 'another', body: PAID },
      { token: gaveBack, key: 'g' },
      { token: gaveBack, key: 'another' },
      { token: newcomer, key: 'n', body: { quantity: 2 } },
      { token: newcomer, key: 'n', body: { product_id: 'two' } },
      { token: newcomer, key: 'n', body: '{' },
      { token: newcomer, key: '' },
      { token: await origin.token('another-sale'), key: 'n' },
      { token: 'none', key: 'n' },
      { token: newcomer, key: 'n' },
    ]
    const OTHER_KEY = 2
    const responses = async () => {
      const answers: Answer[] = []
      for (const call of calls) answers.push(await origin.checkout(sale, call))
      return answers.map(({ status, headers, body: { order_token, request_id, ...body } }, index) => ({
        status,
        body,
        // A key that was answered with another key's order is stored by the gate alone, so a rebuild may lose it.
        replayed: index === OTHER_KEY ? null : headers.get('idempotency-replayed'),
      }))
    }
    const before = await responses()
    expect(before.map(({ status }) => status)).toEqual([201, 422, 200, 201, 410, 422, 404, 400, 400, 403, 429, 410])

    await withoutRedis(sale)
    expect(await responses()).toEqual(before)
  })

  test('sells a restock at once, and knows its buyers after it is sold out again', async () => {
    const sale = await origin.sale({ total: 1 })
    await origin.checkout(sale, { body: PAID })
    await allSold(sale, 1)
    await withoutRedis(sale)

    const late = { token: await origin.token(sale, 'late'), key: 'l', body: PAID }
    const restocked = await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
    expect(restocked).toMatchObject({ status: 200 })
    const { status, body } = await origin.checkout(sale, late)
    expect(status).toBe(201)
    await allSold(sale, 2)
    await withoutRedis(sale)
    expect(await origin.checkout(sale, late)).toMatchObject({ status, body: { order_id: body.order_id } })
  })

  test('asks the gate while another product is available', async () => {
    const product = { name: 'One', unit_price_minor: 1000, currency: 'EUR', total: 1 }
    const products = ['one', 'two'].map((product_id) => ({ ...product, product_id }))
    const sale = await origin.sale({ products })
    await origin.checkout(sale, { body: PAID })
    await allSold(sale, 1)
    const two = await origin.checkout(sale, { body: { product_id: 'two', ...PAID } })
    expect(two).toMatchObject({ status: 201 })
  })
})
