/**
 * A crowd: excess calls are shed early and cheaply or wait, and nothing else suffers; once a sale is sold out,
 * newcomers are answered from memory, with the same answers as before.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startRedis } from '../../dev/servers/redis.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { type Answer, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { useDatabase, useReturning } from '../../test/lib/servers.ts'

const database = useDatabase()
const gate = await useReturning(startRedis)
// The limit is the one of production.
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: gate.url }), { CALLS_PER_VISITOR: '6' })

/** The most checkouts of one process at once. */
const ROOM = 2_000
/** The connections that bring them. */
const PARTS = 100
/** The hold outlasts the test, so that no sweeper looks up the orders meanwhile. */
const openSale = (total = 10) => origin.sale({ total, hold_seconds: 3_600 })

/**
 * Sends requests one behind the other over one connection, without waiting for answers: so a crowd is there at once
 * however slow the machine that sends it. Returns the answers from their status on, in the order of the requests.
 */
function pipeline(requests: readonly string[], socket = connection(), sent = () => {}): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket
      .on('error', reject)
      .on('data', (data) => {
        text += data
      })
      .on('end', () => resolve(text.split('HTTP/1.1 ').slice(1)))
      .write(`${requests.join('')}GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, sent)
  })
}
function connection() {
  const { hostname, port } = new URL(origin.url())
  return connect(Number(port), hostname)
}
const requestOf = (path: string, token: string) => `${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
const checkoutOf = (sale: string, token: string, key = 'first') =>
  `${requestOf(`POST /sales/${sale}/checkout`, token)}idempotency-key: ${key}\r\ncontent-length: 2\r\n\r\n{}`
const stateOf = (sale: string) => `${requestOf(`GET /internal/sales/${sale}`, origin.edgeToken)}\r\n`
const isSlow = (answer = '') => answer.includes('"health":"slow"')

const healthOf = async (sale: string) =>
  (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.health

test('serves orders and other sales, and calls one sale slow alone, while a crowd waits for it', async () => {
  const [sale, other] = [await openSale(10_000), await openSale()]
  const mine = await origin.token(sale)
  const order = (await origin.checkout(sale, { token: mine })).body.order_id
  const tokens = await Promise.all(Array.from({ length: ROOM / 2 }, () => origin.token(sale)))
  const parts = Array.from({ length: PARTS }, (_, part) => [
    ...tokens.filter((_, i) => i % PARTS === part).map((token) => checkoutOf(sale, token)),
    ...[stateOf(sale), stateOf(other)],
  ])
  const sockets = parts.map(() => connection())
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { all, looked, bought } = await origin.sql().begin(async (tx) => {
    // The lock on the sale's row keeps the origin from recording anything.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    // The origin finds the whole crowd at once, however slowly that is sent.
    origin.freeze()
    const waiting = parts.map((part, i) => {
      const { promise: isSent, resolve } = Promise.withResolvers<void>()
      return { answers: pipeline(part, sockets[i], resolve), isSent }
    })
    await Promise.all(waiting.map(({ isSent }) => isSent)).finally(origin.goOn)
    const looked = await eventually(
      () => origin.call('GET', `/orders/${order}`, { token: mine }),
      ({ status }) => status !== 503,
    )
    const bought = await origin.checkoutDecided(other)
    return { looked, bought, all: await Promise.all(waiting.map(({ answers }) => answers)) }
  })
  expect([looked.status, bought.status]).toEqual([200, 201])
  expect(all.some((answers) => isSlow(answers.at(-3)))).toBe(true)
  // Where the ledger was late too, all sales are slow.
  const wasRead = (answer = '') => /"read_ago_ms":\d{1,3}\b/.test(answer)
  expect(all.flatMap((answers) => answers.at(-2) ?? []).filter((answer) => isSlow(answer) && wasRead(answer))).toEqual(
    [],
  )
  const crowd = all.flatMap((answers) => answers.slice(0, -3))
  // A call that Redis answers too late is refused with a Retry-After header.
  expect(crowd.filter((answer) => !/^(20[12]|503 .*^retry-after: [1-9])/ims.test(answer))).toEqual([])
  expect(await origin.stock(sale)).toMatchObject({ held: expect.any(Number), sold: 0 })
})

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
      return answers.map(({ status, headers, body: { order_token, ...body } }, index) => ({
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
