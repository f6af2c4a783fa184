import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOOPBACK } from '../../dev/processes.ts'
import { startRedis } from '../../dev/redis.ts'
import { eventually, reservationOf, saleOf, useOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis, useReturning } from '../../test/servers.ts'
import { Checkout } from '../checkout/checkout.ts'
import type { Outcome } from '../checkout/outcome.ts'
import { connect, prepare, type Sql } from '../ledger/connection.ts'
import { moveOrders } from '../ledger/orders.ts'
import { type Reservation, record } from '../ledger/record.ts'
import { type SaleRow, writeSale } from '../ledger/sales.ts'
import { WarmConnections } from '../ledger/warm-connections.ts'
import { createMetrics } from '../lib/metrics.ts'
import { connectRedis } from '../lib/redis.ts'
import { Sales } from '../sales/sales.ts'
import { Gate } from './gate.ts'
import { Gates } from './gates.ts'
import { defineScripts, type Store } from './scripts.ts'

const database = useDatabase()
const server = await useReturning(startRedis)
const redis = new Redis(server.url, { retryStrategy: () => 100, maxRetriesPerRequest: null })
redis.on('error', () => {})
const origin = useOrigin(() => ({ databaseUrl: database.url, redisUrl: server.url }))
afterAll(() => redis.disconnect())

const gateOf = (sale: string) => redis.hgetall(`{${sale}:one:0}:stock`)
const buyers = (sale: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => origin.checkout(sale)))
const sold = (answers: { status: number }[]) => answers.filter((a) => a.status === 201).length
const inUse = (sale: string) =>
  eventually(
    () => gateOf(sale),
    (gate) => 'run' in gate,
  )

describe('while no worker repairs the gate', () => {
  const quiet = { database: useDatabase(), redis: useRedis() }
  const api = useOrigin(() => ({ databaseUrl: quiet.database.url, redisUrl: quiet.redis.url }), {
    ROLE: 'api',
  })

  test('a key that was promised an order gets no other', async () => {
    const sale = await api.sale()
    const store = defineScripts(connectRedis(quiet.redis.url, pino({ level: 'silent' })))
    await once(store, 'ready')
    const asked = createHash('sha256').update('[null,1,null]').digest('base64url')
    const promised = { ...reservationOf(sale), product: 'one', hash: asked }
    const gate = new Gate(store, sale, 'one')
    // As by a process that dies before it records the order.
    expect(await gate.reserve(promised, { holdMs: 90_000, limit: 1 })).toMatchObject({ verdict: 'reserved' })
    await store.hset(`{${sale}:one:0}:stock`, 'run', 'of a server before')
    const token = await api.token(sale, promised.visitor)
    const again = await api.checkout(sale, { token, key: promised.key })
    expect(again).toMatchObject({ status: 202, body: { order_id: promised.order, status: 'processing' } })
    expect(await api.checkout(sale)).toMatchObject({ status: 201 })
    store.disconnect()
  })
})

describe('when Redis', () => {
  test('is flushed during a sale, no unit is sold twice', async () => {
    const sale = await origin.sale({ total: 30 })
    expect(sold(await buyers(sale, 10))).toBe(10)
    await redis.flushall()
    expect(sold(await buyers(sale, 10))).toBe(10)
    await inUse(sale)
    expect(sold(await buyers(sale, 30))).toBe(10)
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 30 })
  })

  test('counts too many units, the ledger decides', async () => {
    const sale = await origin.sale({ total: 5 })
    await redis.hset(`{${sale}:one:0}:stock`, 'available', 1_000)
    const answers = await buyers(sale, 40)
    expect(sold(answers)).toBe(5)
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([201, 409]))
    expect(
      await eventually(
        () => gateOf(sale),
        (g) => g.available === '0',
      ),
    ).toMatchObject({ available: '0', held: '5' })
  })

  test('counts too few units, they are found again', async () => {
    const sale = await origin.sale({ total: 5 })
    await redis.hset(`{${sale}:one:0}:stock`, 'available', 1)
    await eventually(
      () => gateOf(sale),
      (g) => g.available === '5',
    )
    expect(sold(await buyers(sale, 10))).toBe(5)
  })

  test('is away, the sale goes on through the ledger with the same limits and keys', async () => {
    const sale = await origin.sale({ total: 8 })
    const token = await origin.token(sale)
    const before = await origin.checkout(sale, { token, key: 'before' })
    await server.kill()
    const replayed = await origin.checkout(sale, { token, key: 'before' })
    expect(replayed).toMatchObject({ status: 201, body: { order_id: before.body.order_id } })
    expect(replayed.headers.get('idempotency-replayed')).toBe('true')
    expect(await origin.checkout(sale, { token })).toMatchObject({
      status: 200,
      body: { order_id: before.body.order_id },
    })
    expect(sold(await buyers(sale, 20))).toBe(7)
    expect(await origin.call('DELETE', `/orders/${before.body.order_id}`, { token })).toMatchObject({
      status: 200,
    })
    expect(sold(await buyers(sale, 3))).toBe(1)
    // Redis may know of this order: it is not reported as unknown.
    expect(await origin.call('GET', `/orders/${randomUUID()}`, { token })).toMatchObject({ status: 503 })

    await server.start()
    const gate = await eventually(
      () => gateOf(sale),
      (g) => g.available === '0' && g.held === '8' && 'run' in g,
    )
    expect(gate).toMatchObject({ available: '0', held: '8' })
    expect(sold(await buyers(sale, 5))).toBe(0)
  })

  test('comes back with an old snapshot, its counter is not used', async () => {
    const sale = await origin.sale({ total: 20 })
    const { run } = await gateOf(sale)
    await buyers(sale, 15)
    await server.kill()
    await server.start()
    // As in the snapshot: all units available, and loaded in an earlier run.
    await redis.hset(`{${sale}:one:0}:stock`, { available: 20, held: 0, run: run ?? '' })
    expect(sold(await buyers(sale, 20))).toBe(5)
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 20 })
  })
})

describe('when Postgres', () => {
  test('does not commit, the response is "processing" until it does', async () => {
    const sale = await origin.sale({ total: 5 })
    const token = await origin.token(sale)
    const lock = origin.sql().begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const answer = await origin.checkout(sale, { token, key: 'slow' })
      expect(answer).toMatchObject({
        status: 202,
        body: { status: 'processing', product_id: 'one', reserved_until: null },
      })
      expect(answer.headers.get('location')).toBe(`/orders/${answer.body.order_id}`)
      const asked = await origin.call('GET', `/orders/${answer.body.order_id}`, {
        token: answer.body.order_token ?? '',
      })
      expect(asked).toMatchObject({ status: 200, body: { status: 'processing' } })
      const other = await origin.call('GET', `/orders/${answer.body.order_id}`, {
        token: await origin.token(sale),
      })
      expect(other).toMatchObject({ status: 404 })
      return answer
    })
    const answer = await lock
    const order = await eventually(
      () => origin.call('GET', `/orders/${answer.body.order_id}`, { token }),
      (a) => a.body.status === 'reserved',
    )
    expect(order.body).toMatchObject({ status: 'reserved', order_id: answer.body.order_id })
    const replayed = await origin.checkout(sale, { token, key: 'slow' })
    expect(replayed).toMatchObject({ status: 201, body: { order_id: answer.body.order_id } })
    expect(
      await eventually(
        () => redis.xlen(`{${sale}:one:0}:intents`),
        (n) => n === 0,
      ),
    ).toBe(0)
  })
})

test('a promised order is recorded although the sale ended hours ago', async () => {
  const sale = await origin.sale()
  await origin.sql()`update sales set ended_at = now() - interval '12 hours' where sale_id = ${sale}`
  // All origins know by now.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const intent = reservationOf(sale)
  await redis.xadd(`{${sale}:one:0}:intents`, '*', 'reservation', JSON.stringify(intent))
  const recorded = () => origin.sql()`select status from orders where order_id = ${intent.order}`
  expect(await eventually(recorded, (rows) => rows.length > 0, 5_000)).toEqual([{ status: 'reserved' }])
})

describe('when the origin', () => {
  test('is killed between the script and the commit, another process records the order', async () => {
    const sale = await origin.sale({ total: 3 })
    const token = await origin.token(sale)
    await origin.sql().begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const asked = origin.checkout(sale, { token, key: 'cut' }).catch(() => {})
      await eventually(
        () => redis.xlen(`{${sale}:one:0}:intents`),
        (n) => n === 1,
      )
      await origin.kill()
      await asked
      await tx`select pg_terminate_backend(pid) from pg_stat_activity
                 where application_name = 'flash-sale-origin' and datname = current_database()`
    })
    await origin.restart()
    const again = await eventually(
      () => origin.checkout(sale, { token, key: 'cut' }),
      (a) => a.status === 201,
    )
    expect(again).toMatchObject({ status: 201, body: { status: 'reserved' } })
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 1 })
    expect(
      await eventually(
        () => redis.xlen(`{${sale}:one:0}:intents`),
        (n) => n === 0,
      ),
    ).toBe(0)
  })

  test('is killed and restarted during a sale, every 201 is kept and no unit is sold twice', async () => {
    const sale = await origin.sale({ total: 60 })
    const told: string[] = []
    const crowd = Array.from({ length: 40 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 20))
      const token = await origin.token(sale)
      for (let attempt = 0; attempt < 20; attempt++) {
        const answer = await origin.checkout(sale, { token, key: `k${i}` }).catch(() => undefined)
        if (answer?.status === 201) return void told.push(answer.body.order_id ?? '')
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await origin.kill()
    await origin.restart()
    await Promise.all(crowd)
    expect(told).toHaveLength(40)
    const rows =
      await origin.sql()`select order_id from orders where sale_id = ${sale} and status = 'reserved'`
    expect(new Set(rows.map((r) => r.order_id))).toEqual(new Set(told))
    expect(await origin.stock(sale)).toMatchObject({ available: 20, held: 40 })
  })
})

describe('a checkout without workers', () => {
  const quiet = useDatabase()
  const NOWHERE = '127.0.0.1:1'
  const log = pino({ level: 'silent' })
  const ends: (() => unknown)[] = []
  let sql: Sql
  beforeAll(async () => {
    await prepare(quiet.url)
    sql = connect(quiet.url)
  })
  afterAll(async () => {
    for (const end of ends) await end()
    await sql.end({ timeout: 1 })
  })

  /** One checkout of one sale, on the stores at these addresses. */
  async function alone({ total = 5, limit = 1, ledger = quiet.url, gate = server.url } = {}) {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    await writeSale(sql, sale, saleOf(total, { limit_per_visitor: limit }))
    const there = new Sales(sql)
    await there.refresh()
    const row = there.get(sale) as SaleRow
    const store = defineScripts(connectRedis(gate, log))
    const isThere = gate !== `redis://${NOWHERE}`
    if (isThere) await once(store, 'ready')
    const its = connect(ledger)
    const warm = new WarmConnections(its, () => connect(ledger, 1))
    ends.push(
      () => store.disconnect(),
      () => warm.end(),
      () => its.end({ timeout: 0 }),
    )
    const sales = new Sales(its)
    await sales.refresh().catch(() => {})
    const metrics = createMetrics()
    const gates = new Gates(store)
    const checkout = new Checkout({ sql: its, warm, gates, sales, metrics, log })
    if (isThere) await (await gates.of(sale, 'one').fence()).open({ available: total, held: 0 })
    const buy = (visitor = randomUUID() as string, key = 'k', quantity = 1) =>
      checkout.checkout(row, { visitor, number: 1 }, { quantity }, key)
    return { sale, row, sales, checkout, buy, store, its: gates.of(sale, 'one') }
  }

  /** A proxy to a server that loses all replies, or everything, until it is back. */
  async function failingWay(to: string) {
    const url = new URL(to)
    const port = Number(url.port)
    let lost: 'nothing' | 'answers' | 'all' = 'nothing'
    const clients = new Set<Socket>()
    const way = createServer((client) => {
      const server = connectTcp(port, LOOPBACK)
      for (const end of [client, server])
        end
          .on('error', () => {})
          .on('close', () => {
            client.destroy()
            server.destroy()
          })
      clients.add(client)
      client.on('data', (sent) => lost === 'all' || server.write(sent))
      server.on('data', (answer) => lost !== 'nothing' || client.write(answer))
    })
    await once(way.listen(0, LOOPBACK), 'listening')
    ends.push(() => way.close())
    url.port = String((way.address() as { port: number }).port)
    return {
      url: url.href,
      lose(what: 'answers' | 'all') {
        lost = what
      },
      back() {
        lost = 'nothing'
        for (const client of clients) client.destroy()
      },
    }
  }

  const orderOf = (outcome: Outcome) =>
    'reservation' in outcome ? outcome.reservation.order : 'order' in outcome ? outcome.order.order_id : ''
  const said = (outcome: Outcome) => (outcome.kind === 'problem' ? outcome.problem.type : outcome.kind)

  test('gives a key that repeats in one batch the same response, and promises no order that is refused', async () => {
    const { sale, buy } = await alone({ total: 1, gate: `redis://${NOWHERE}` })
    expect(said(await buy())).toBe('recorded')
    const began = performance.now()
    const answers = await sql.begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      // While the first waits for the row, the others join one batch.
      const all = [buy(), ...['same', 'same', 'other'].map((key) => buy('ann', key))]
      await new Promise((resolve) => setTimeout(resolve, 200))
      return { all }
    })
    const told = await Promise.all(answers.all)
    expect(told.map(said)).toEqual(Array(4).fill('/problems/all-in-carts'))
    expect(performance.now() - began).toBeLessThan(1_500)
  })

  test('leaves a refused order to the workers after it answered "processing"', async () => {
    const { sale, buy, its, checkout } = await alone({ total: 1 })
    const answer = await sql.begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const answer = await buy('ann')
      await tx`update products set total = 0 where sale_id = ${sale}`
      return answer
    })
    expect(said(answer)).toBe('processing')
    await checkout.drain()
    await new Promise((resolve) => setTimeout(resolve, 300))
    const [waiting] = await its.intents(10)
    expect(answer).toMatchObject({ reservation: { order: waiting?.intent?.order } })
    await expect(checkout.existing.byId(sale, waiting?.intent?.order ?? '')).resolves.toMatchObject({
      visitor: 'ann',
    })
  })

  test('counts unrecorded orders against the limit', async () => {
    const { sale, buy } = await alone({ limit: 2 })
    const [first, more] = await sql.begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      return Promise.all([buy('ann', 'k'), buy('ann', 'l', 2)])
    })
    expect(said(first)).toBe('processing')
    expect(more).toMatchObject({
      problem: { errors: [{ field: 'quantity', detail: 'at most 1 more per visitor' }] },
    })
  })

  test('returns a refusal at once that a faster worker noted', async () => {
    const { sale, buy, its } = await alone({ total: 1 })
    const began = performance.now()
    const asked = await sql.begin(async (tx) => {
      await tx`update products set total = 0 where sale_id = ${sale}`
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const asked = buy()
      const [waiting] = await eventually(
        () => its.intents(1),
        (intents) => intents.length === 1,
      )
      if (!waiting?.intent) throw new Error('no intent')
      await record(tx, sale, [waiting.intent], true)
      return { asked }
    })
    expect(said(await asked.asked)).toBe('/problems/sold-out')
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  test('returns the order of a key, not the noted refusal of an earlier promise', async () => {
    const { sale, buy, its, checkout } = await alone()
    const hash = createHash('sha256').update('[null,1,null]').digest('base64url')
    const [kept, promised] = [0, 1].map(() => ({
      ...{ ...reservationOf(sale), order: randomUUID(), product: 'one', visitor: 'ann', hash },
    })) as [Reservation, Reservation]
    await its.reserve(promised, { holdMs: 60_000, limit: 1 })
    await record(sql, sale, [kept], false)
    await record(sql, sale, [promised], true)
    expect(await buy('ann')).toMatchObject({
      kind: 'recorded',
      replayed: true,
      order: { order_id: kept.order },
    })
    expect(await checkout.existing.byId(sale, promised.order)).toMatchObject({ status: 'cancelled' })
  })

  test('finds an order that is recorded during the look-up', async () => {
    const { sale, checkout, its } = await alone()
    const [order, visitor] = [randomUUID(), 'ann']
    const reservation = {
      ...{ order, sale, product: 'one', visitor, number: 1, quantity: 1, key: 'k', hash: 'h', method: null },
    }
    await its.reserve(reservation, { holdMs: 60_000, limit: 1 })
    const [waiting] = await its.intents(1)
    // Redis executes further commands only after this pause.
    await redis.client('PAUSE', 300, 'ALL')
    const acknowledged = its.acknowledge([waiting?.entry ?? ''])
    const found = checkout.existing.byId(sale, reservation.order)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await record(sql, sale, [reservation], false)
    await acknowledged
    expect(await found).toMatchObject({ order_id: reservation.order, status: 'reserved' })
  })

  test('returns sold-out at once while the ledger is away', async () => {
    const { buy } = await alone({ total: 0, ledger: `postgres://${NOWHERE}/none` })
    const began = performance.now()
    for (let i = 0; i < 20; i++) expect(said(await buy())).toBe('/problems/sold-out')
    expect(performance.now() - began).toBeLessThan(500)
  })

  test('promises an order if the fast gate may have taken the unit, and none if neither gate was reached', async () => {
    const way = await failingWay(server.url)
    const away = `postgres://${NOWHERE}/none`
    const { sale, buy } = await alone({ gate: way.url, ledger: away })
    way.lose('answers')
    const answer = await buy()
    const { intent } = (await new Gate(redis as Store, sale, 'one').intents(1))[0] ?? {}
    expect(answer).toMatchObject({ kind: 'processing', reservation: { order: intent?.order } })
    expect(said(await (await alone({ gate: `redis://${NOWHERE}`, ledger: away })).buy())).toBe(
      '/problems/try-again',
    )
  })

  test.each(['take', 'give back'])(
    'sells nothing later to a refused buyer, though Redis may %s the unit unheard',
    async (what) => {
      const way = await failingWay(server.url)
      const { sale, buy } = await alone({ total: 1, gate: way.url })
      const there = new Gate(redis as Store, sale, 'one')
      const other = { ...reservationOf(sale), visitor: 'who has the last unit' }
      if (what === 'take') way.lose('answers')
      const { asked } = await sql.begin(async (tx) => {
        await tx`select 1 from sales where sale_id = ${sale} for update`
        const asked = buy()
        await eventually(
          () => there.countIntents(),
          (intents) => intents === 1,
        )
        way.lose('answers')
        await record(tx, sale, [other], false)
        return { asked }
      })
      expect(said(await asked)).toBe('/problems/all-in-carts')
      await moveOrders(sql, [other.order], { from: ['reserved'], to: 'cancelled' })
      // As a worker that finds the intent.
      const [waiting] = await there.intents(1)
      const found = await record(sql, sale, [waiting?.intent as Reservation], true)
      expect(found).toMatchObject([{ verdict: 'no_stock' }])
    },
  )

  test('returns the order that the exact gate made, though its reply was lost', async () => {
    const way = await failingWay(quiet.url)
    const { sale, sales, buy } = await alone({ gate: `redis://${NOWHERE}`, ledger: way.url })
    expect(said(await buy())).toBe('recorded')
    await sales.refresh()
    way.lose('answers')
    const asked = buy('ann')
    const [made] = await eventually(
      () => sql`select order_id from orders where sale_id = ${sale} and visitor = 'ann'`,
      (orders) => orders.length === 1,
    )
    way.back()
    const answer = await asked
    // Processing if the ledger does not count as back yet.
    expect(['recorded', 'processing']).toContain(said(answer))
    expect(orderOf(answer)).toBe(made?.order_id)
  })

  test('goes on recording a promised order that neither store may have heard of', async () => {
    const [toGate, toLedger] = await Promise.all([failingWay(server.url), failingWay(quiet.url)])
    const { sale, checkout, buy } = await alone({ gate: toGate.url, ledger: toLedger.url })
    expect(said(await buy())).toBe('recorded')
    for (const way of [toGate, toLedger]) way.lose('all')
    const answer = await buy('ann')
    expect(said(answer)).toBe('processing')
    const order = orderOf(answer)
    expect(await checkout.existing.byId(sale, order)).toMatchObject({ order, visitor: 'ann' })
    for (const way of [toGate, toLedger]) way.back()
    const orders = await eventually(
      () => sql`select status from orders where order_id = ${order}`,
      (found) => found.length === 1,
      5_000,
    )
    expect(orders).toMatchObject([{ status: 'reserved' }])
  })

  test('promises a bounded number of unrecorded orders', async () => {
    const { sale, buy, store } = await alone({ total: 30_000 })
    // Without the sale's row the ledger fails at once.
    await sql`delete from products where sale_id = ${sale}`
    await sql`delete from sales where sale_id = ${sale}`
    const told = new Map<string, number>()
    for (let round = 0; round < 21; round++)
      for (const answer of await Promise.all(Array.from({ length: 1_000 }, () => buy())))
        told.set(said(answer), (told.get(said(answer)) ?? 0) + 1)
    expect(Object.fromEntries(told)).toEqual({ processing: 20_000, '/problems/try-again': 1_000 })
    // As workers do once they have recorded them.
    await store.del(`{${sale}:one:0}:intents`)
    const again = await eventually(
      () => buy(),
      (answer) => said(answer) === 'processing',
      3_000,
    )
    expect(said(again)).toBe('processing')
  }, 30_000)
})
