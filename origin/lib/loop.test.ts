import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually, reservationOf, saleOf } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { Checkout } from '../checkout/checkout.ts'
import type { Deps } from '../deps.ts'
import { connect, prepare, type Sql } from '../ledger/connection.ts'
import { findOrder, moveOrders } from '../ledger/orders.ts'
import { type Reservation, record } from '../ledger/record.ts'
import { writeSale } from '../ledger/sales.ts'
import { WarmConnections } from '../ledger/warm-connections.ts'
import { sweepGate, sweepLedger } from '../orders/hold-sweeper.ts'
import { Orders } from '../orders/orders.ts'
import { productsInUse, Sales } from '../sales/sales.ts'
import { INTENT_GRACE_MS, recordAllIntents } from '../stock/intent-recorder.ts'
import { Reconciler, reconcileSale } from '../stock/reconciler.ts'
import { loop, ProductWork } from './loop.ts'
import { createMetrics } from './metrics.ts'
import { connectRedis, type Store } from './redis.ts'

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const products = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ sale: `${randomUUID()}`, product: `${i}` }))

describe('work on every product', () => {
  test('goes on when one fails, and says so at the end', async () => {
    const done: string[] = []
    const work = async ({ product }: { product: string }) => {
      if (product === '0') throw new Error('no')
      done.push(product)
    }
    await expect(new ProductWork().each('test', products(6), work)).rejects.toThrow('1 of 6')
    expect(done).toEqual(['1', '2', '3', '4', '5'])
  })

  test('goes on when some hang, and begins those again only when they have ended', async () => {
    const all = products(8)
    const actors = new ProductWork()
    const begun: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const work = async ({ product }: { product: string }) => {
      begun.push(product)
      if (Number(product) < 4) await promise
    }
    await expect(actors.each('test', all, work, 50)).rejects.toThrow('4 of 8')
    expect(begun.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
    begun.length = 0
    await expect(actors.each('test', all, work, 50)).rejects.toThrow('still under way')
    expect(begun.sort()).toEqual(['4', '5', '6', '7'])
    // Those of another origin in this process are its own.
    await expect(new ProductWork().each('test', all.slice(0, 1), work, 50)).rejects.toThrow('not within')
    resolve()
    await sleep(10)
    await actors.each('test', all, work, 50)
  })
})

test('an actor tells how often it failed, and when it last did not', async () => {
  const metrics = createMetrics()
  const seen = async (name: string) => {
    const text = await metrics.registry.metrics()
    return Number(new RegExp(`^${name}\\{actor="test"\\} (.+)$`, 'm').exec(text)?.[1])
  }
  let fails = true
  const began = Date.now() / 1000
  const actor = loop('test', 20, { log: pino({ level: 'silent' }), metrics }, async () => {
    if (fails) throw new Error('no')
  })
  actor.start()
  const started = await seen('actor_last_success_timestamp_seconds')
  expect(Math.abs(started - began)).toBeLessThan(1)
  const failedTwice = (failures: number) => failures >= 2
  expect(await eventually(() => seen('actor_failures_total'), failedTwice)).toSatisfy(failedTwice)
  expect(await seen('actor_last_success_timestamp_seconds')).toBe(started)
  fails = false
  const succeeded = (atSeconds: number) => atSeconds > started
  expect(await eventually(() => seen('actor_last_success_timestamp_seconds'), succeeded)).toSatisfy(succeeded)
  await actor.stop()
})

test('an actor that is woken in the middle of a round begins another at once', async () => {
  let rounds = 0
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const actor = loop(
    'test',
    60_000,
    { log: pino({ level: 'silent' }), metrics: createMetrics() },
    async () => {
      rounds++
      begin()
      await sleep(50)
      return undefined
    },
  )
  actor.start()
  await begun
  actor.wake()
  const two = (count: number) => count === 2
  expect(await eventually(async () => rounds, two, 2_000)).toSatisfy(two)
  // Once, and not for ever.
  await sleep(200)
  expect(rounds).toBe(2)
  await actor.stop()
})

describe("one sale's trouble is its own:", () => {
  const database = useDatabase()
  const redisServer = useRedis()
  const log = pino({ level: 'silent' })
  let sql: Sql
  let redis: Store
  let sales: Sales
  let warm: WarmConnections
  let deps: Deps
  let bad: string
  let good: string

  beforeAll(async () => {
    await prepare(database.url)
    sql = connect(database.url)
    redis = connectRedis(redisServer.url, log)
    await once(redis, 'ready')
    sales = new Sales(sql)
    await sales.start()
    const metrics = createMetrics()
    warm = new WarmConnections(sql, () => connect(database.url, 1))
    const checkout = new Checkout({ sql, warm, redis, buckets: 1, sales, metrics, log })
    const charges = { addCharges: async () => {}, addCaptures: async () => {} }
    const orders = new Orders({ sql, checkout, charges, metrics, log })
    // All that these actors ask.
    const work = new ProductWork()
    deps = { sql, redis, sales, checkout, orders, work, metrics, log } as unknown as Deps
  })
  afterAll(async () => {
    await sales.stop()
    await warm.end()
    redis.disconnect()
    await sql.end({ timeout: 1 })
  })

  beforeEach(async () => {
    await redis.flushall()
    await sql`truncate sales, products, orders cascade`
    for (const sale of [randomUUID(), randomUUID()]) {
      await writeSale(sql, sale, saleOf(5, { hold_seconds: 1 }))
      await reconcileSale(deps, sale, { force: true })
    }
    // The trouble is with the one whose turn comes first.
    const [first, second] = productsInUse(sales).map(({ sale }) => sale)
    bad = first ?? ''
    good = second ?? ''
  })

  /** A unit taken in the gate, as by a process that dies before it records it. */
  async function reserve(sale: string): Promise<Reservation> {
    const r = { ...reservationOf(sale), visitor: randomUUID() }
    expect(await deps.checkout.gate(sale, 'one').reserve(r, { holdMs: 1_000, limit: 1 })).toMatchObject({
      verdict: 'reserved',
    })
    return r
  }
  const statusOf = async ({ order }: Reservation) => (await findOrder(sql, order))?.status
  const comesToBe = async (r: Reservation, wanted: string) =>
    expect(
      await eventually(
        () => statusOf(r),
        (status) => status === wanted,
      ),
    ).toBe(wanted)

  test('intents are recorded while the row of another sale is taken', async () => {
    const [stuck, free] = [await reserve(bad), await reserve(good)]
    await sleep(INTENT_GRACE_MS + 100)
    await sql.begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${bad} for update`
      await expect(recordAllIntents(deps)).rejects.toThrow(bad)
      expect(await statusOf(free)).toBe('reserved')
    })
    await comesToBe(stuck, 'reserved')
  })

  test.each([
    ['by the gate', sweepGate],
    ['by the ledger', sweepLedger],
  ])('holds end %s while the row of another product is taken', async (_, sweep) => {
    const [stuck, free] = [await reserve(bad), await reserve(good)]
    for (const r of [stuck, free]) await record(sql, r.sale, [r], false)
    await sleep(2_200)
    await sql.begin(async (tx) => {
      await tx`select 1 from products where sale_id = ${bad} for update`
      await expect(sweep(deps)).rejects.toThrow(bad)
      expect(await statusOf(free)).toBe('expired')
    })
    await comesToBe(stuck, 'expired')
  })

  test('holds end by the ledger while another sale, whose row is taken, has more than are ended at a time', async () => {
    const many = Array.from({ length: 501 }, () => ({ ...reservationOf(bad), visitor: randomUUID() }))
    await sql`update products set total = ${many.length} where sale_id = ${bad}`
    const free = { ...reservationOf(good), visitor: randomUUID() }
    for (const batch of [many, [free]]) await record(sql, batch[0]?.sale ?? '', batch, false)
    await sleep(2_200)
    await sql.begin(async (tx) => {
      await tx`select 1 from products where sale_id = ${bad} for update`
      await expect(sweepLedger(deps)).rejects.toThrow(bad)
      expect(await statusOf(free)).toBe('expired')
    })
    const reserved = () => sql`select 1 from orders where sale_id = ${bad} and status = 'reserved'`
    expect(await eventually(reserved, ({ length }) => length === 0)).toEqual([])
  })

  test('holds end while the gate of another sale does not answer as it should', async () => {
    const free = await reserve(good)
    await record(sql, good, [free], false)
    await redis.set(`{${bad}:one:0}:holds`, 'broken')
    await sleep(1_100)
    await expect(sweepGate(deps)).rejects.toThrow(bad)
    expect(await statusOf(free)).toBe('expired')
  })

  test('a gate is put to use again while another cannot be', async () => {
    await redis.set(`{${bad}:one:0}:stock`, 'broken')
    await redis.del(`{${good}:one:0}:stock`)
    await expect(new Reconciler(deps).watch()).rejects.toThrow(bad)
    expect(await deps.checkout.gate(good, 'one').isOpen()).toBe(true)
  })

  const metric = async (line: string) => {
    const text = await deps.metrics.registry.metrics()
    return text.split('\n').find((one) => one.startsWith(line))
  }

  test('an order that ends while the gate is rebuilt has no hold in it, and is counted once', async () => {
    const gate = deps.checkout.gate(good, 'one')
    const orders = Array.from({ length: 3 }, () => ({ ...reservationOf(good), visitor: randomUUID() }))
    await record(sql, good, orders, false)
    const [paid, over] = orders.map(({ order }) => order)
    if (!paid || !over) throw new Error('nothing was recorded')
    const held = await sql.reserve()
    await held`select pg_advisory_lock(hashtextextended(${`rebuild ${good}:one`}, 0))`
    const rebuilt = reconcileSale(deps, good, { force: true })
    try {
      // It waits for its turn by now; nobody reads the products then, and it stands still between orders and counts.
      await sleep(500)
      await held`begin`
      await held`lock table products in access exclusive mode`
      await held`select pg_advisory_unlock(hashtextextended(${`rebuild ${good}:one`}, 0))`
      const restored = () => redis.zcard(`{${good}:one:0}:holds`)
      expect(await eventually(restored, (holds) => holds === 3)).toBe(3)
      await moveOrders(held, [paid], { from: ['reserved'], to: 'confirmed' })
      await moveOrders(held, [over], { from: ['reserved'], to: 'expired' })
      await held`commit`
    } finally {
      held.release()
    }
    await rebuilt
    expect(await gate.stock()).toEqual({ available: 3, held: 1 })
    await sleep(1_100)
    await sweepGate(deps)
    expect(await gate.stock()).toEqual({ available: 4, held: 0 })
  })

  test('a gate that somebody else has rebuilt by the time it is its turn is left as it is', async () => {
    const gate = deps.checkout.gate(good, 'one')
    const rebuild = await gate.fence()
    const { watched } = await sql.begin(async (tx) => {
      await tx`lock table products in access exclusive mode`
      // It sees the fence, and then waits for the product.
      const watched = new Reconciler(deps).watch()
      await sleep(300)
      await rebuild.open({ available: 5, held: 0 })
      return { watched }
    })
    const epoch = await redis.hget(`{${good}:one:0}:stock`, 'epoch')
    await watched
    expect(await redis.hget(`{${good}:one:0}:stock`, 'epoch')).toBe(epoch)
    expect(await sql`select kind from findings where sale_id = ${good}`).toEqual([])
  })

  test('what differs in the held units alone is a difference', async () => {
    await redis.hincrby(`{${good}:one:0}:stock`, 'held', 2)
    expect((await reconcileSale(deps, good)).findings).toMatchObject([
      { found: 'drift', drift: 0, healed: true },
    ])
    const drift = `stock_drift_units{sale="${good}",product="one"`
    expect(await metric(`${drift},state="held"}`)).toMatch(/ 2$/)
    expect(await metric(`${drift},state="available"}`)).toMatch(/ 0$/)
  })

  test('orders that a worker records are counted, and those it may not', async () => {
    const promised = await reserve(good)
    // Its key has another order.
    await record(sql, good, [{ ...promised, order: randomUUID() }], true)
    await redis.hset(`{${good}:one:0}:stock`, 'available', 9)
    for (let more = 0; more < 5; more++) await reserve(good)
    await sleep(INTENT_GRACE_MS + 100)
    await recordAllIntents(deps)
    const transitions = `order_transitions_total{sale="${good}"`
    expect(await metric(`${transitions},status="reserved"}`)).toMatch(/ 4$/)
    expect(await metric(`${transitions},status="cancelled",reason="no_stock"}`)).toMatch(/ 1$/)
    expect(await metric(`${transitions},status="cancelled",reason="replay"}`)).toMatch(/ 1$/)
    expect(await statusOf(promised)).toBe('cancelled')
  })

  test('an oversell is found by nobody asking for it', async () => {
    const orders = Array.from({ length: 6 }, () => ({ ...reservationOf(good), visitor: randomUUID() }))
    await sql`update products set total = 6 where sale_id = ${good}`
    await record(sql, good, orders, false)
    await sql`update products set held = 0, total = 5 where sale_id = ${good}`
    await new Reconciler(deps).round()
    expect(await metric(`oversold_units{sale="${good}",product="one"}`)).toMatch(/ 1$/)
    expect(await sql`select kind, units from findings where sale_id = ${good} and kind = 'oversold'`).toEqual(
      [{ kind: 'oversold', units: 1 }],
    )
  })
})
