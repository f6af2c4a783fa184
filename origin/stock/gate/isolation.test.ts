/** A failure or a lock of one sale delays no other sale. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { reservationOf, saleOf } from '../../../test/lib/samples.ts'
import { untilLocked, useDatabase, useRedis } from '../../../test/lib/servers.ts'
import { createMetrics } from '../../base/metrics.ts'
import { connect, type Sql } from '../../ledger/connection.ts'
import { findOrder, moveOrders } from '../../ledger/order-statements.ts'
import { type Reservation, record } from '../../ledger/record.ts'
import { connectRedis } from '../../lib/redis/redis.ts'
import type { Eviction } from '../../lib/redis/redis-watch.ts'
import { gateSweeps, sweepLedger } from '../../orders/hold-sweeper.ts'
import { Orders } from '../../orders/orders.ts'
import { SaleMemory } from '../../sales/sale-memory.ts'
import { writeSale } from '../../sales/sale-queries.ts'
import { SaleWork } from '../../sales/sale-work.ts'
import { Sales } from '../../sales/sales.ts'
import { recordAllIntents } from '../intent-recorder.ts'
import { Reconciler, type ReconcilerDeps } from '../reconciler.ts'
import { defineScripts, type Store } from '../scripts.ts'
import { Gates } from './gate.ts'
import { holdEnd } from './hold-ends.ts'

const database = useDatabase()
const redisServer = useRedis()
const log = pino({ level: 'silent' })
let sql: Sql
let redis: Store
let sales: Sales
let deps: ReconcilerDeps & { readonly orders: Orders }
/** What the watch of Redis has seen. */
const redisWatch: { evicting: Eviction | null; refusal: null } = { evicting: null, refusal: null }
let reconciler: Reconciler
let bad: string
let good: string

beforeAll(async () => {
  sql = connect(database.url)
  redis = defineScripts(connectRedis(redisServer.url, log))
  await once(redis, 'ready')
  sales = new Sales(sql)
  await sales.start()
  const metrics = createMetrics()
  const memory = new SaleMemory()
  const gates = new Gates(redis, memory)
  const charges = { addRefunds: async () => [] }
  const orders = new Orders({ sql, gates, changes: { publish: () => {} }, charges, actionSeconds: 300, metrics, log })
  // A round waits no longer than this for a sale.
  const work = new SaleWork(200)
  const refunds = { addRefunds: async () => [] }
  deps = { sql, sales, gates, orders, refunds, work, memory, redisWatch, metrics, log }
  reconciler = new Reconciler(deps)
})
afterAll(async () => {
  await sales.stop()
  redis.disconnect()
  await sql.end({ timeout: 1 })
})

beforeEach(async () => {
  await redis.flushall()
  await sql`truncate sales, products, orders cascade`
  for (const sale of [randomUUID(), randomUUID()]) {
    await writeSale(sql, sale, saleOf(5, { hold_seconds: 1 }))
    await reconciler.reconcileSale(sale, { force: true })
  }
  // The trouble is with the sale that is worked on first.
  const [first, second] = sales.inUse().map(({ sale_id }) => sale_id)
  bad = first ?? ''
  good = second ?? ''
})

const reservations = (sale: string, count: number): Reservation[] =>
  Array.from({ length: count }, () => ({ ...reservationOf(sale), visitor: randomUUID() }))

/** Takes a unit in the gate, as a process does that dies before recording it. */
async function reserve(sale: string): Promise<Reservation> {
  const r = { ...reservationOf(sale), visitor: randomUUID() }
  const { verdict } = await deps.gates.of(sale).reserve(r, { holdMs: 1_000, limit: 1, demand: [] })
  expect(verdict).toBe('reserved')
  return r
}
const statusOf = async ({ order }: Reservation) => (await findOrder(sql, order))?.status
const comesToBe = (r: Reservation, wanted: string) => expect.poll(() => statusOf(r)).toBe(wanted)

/** Repeats a round, which fails for the bad sale once that is due, until the order of the good one has this status. */
async function untilFree(round: () => Promise<unknown>, free: Reservation, wanted: string): Promise<void> {
  let failure = ''
  const status = async () => {
    await round().catch((error) => {
      failure = String(error)
    })
    return failure === '' ? '' : statusOf(free)
  }
  await expect.poll(status).toBe(wanted)
  expect(failure).toContain(bad)
}

test.each([
  ['intents are recorded', 'sales', 'reserved', () => recordAllIntents(deps)],
  ['holds end by the gate', 'products', 'expired', () => gateSweeps({ ...deps, memory: new SaleMemory() })()],
] as const)('%s while the row of another sale is locked', async (_, table, status, round) => {
  const [stuck, free] = [await reserve(bad), await reserve(good)]
  if (status === 'expired') for (const r of [stuck, free]) await record(sql, r.sale, [r], false)
  await sql.begin(async (tx) => {
    await tx`select 1 from ${tx(table)} where sale_id = ${bad} for update`
    await untilFree(round, free, status)
  })
  await comesToBe(stuck, status)
})

test('holds end by the ledger while another sale with a locked row has more than one batch', async () => {
  const many = reservations(bad, 501)
  await sql`update products set total = ${many.length} where sale_id = ${bad}`
  const free = { ...reservationOf(good), visitor: randomUUID() }
  for (const batch of [many, [free]]) await record(sql, batch[0]?.sale ?? '', batch, false)
  await sql.begin(async (tx) => {
    await tx`select 1 from products where sale_id = ${bad} for update`
    await untilFree(() => sweepLedger(deps), free, 'expired')
  })
  const reserved = () => sql`select 1 from orders where sale_id = ${bad} and status = 'reserved'`
  await expect.poll(reserved).toEqual([])
})

test('holds end while the gate of another sale is broken', async () => {
  const free = await reserve(good)
  await record(sql, good, [free], false)
  await redis.set(`{${bad}}:holds`, 'broken')
  await untilFree(() => gateSweeps({ ...deps, memory: new SaleMemory() })(), free, 'expired')
})

test('a gate is reopened while another cannot be', async () => {
  await redis.set(`{${bad}}:stock`, 'broken')
  await redis.del(`{${good}}:stock`)
  await expect(reconciler.watch()).rejects.toThrow(bad)
  expect(await deps.gates.of(good).isOpen(['one'])).toBe(true)
})

const metric = async (line: string) => {
  const text = await deps.metrics.registry.metrics()
  return text.split('\n').find((one) => one.startsWith(line))
}

test('an order that ends during a rebuild has no hold in the gate and is counted once', async () => {
  const gate = deps.gates.of(good)
  const orders = reservations(good, 3)
  await record(sql, good, orders, false)
  const [paid, over] = orders.map(({ order }) => order) as [string, string]
  const held = await sql.reserve()
  await held`select pg_advisory_lock(hashtextextended(${`rebuild ${good}`}, 0))`
  const tries = vi.spyOn(deps.work, 'rebuild')
  onTestFinished(() => tries.mockRestore())
  const rebuilt = reconciler.reconcileSale(good, { force: true })
  try {
    // It tries for its lock again and again.
    await expect.poll(() => tries.mock.calls.length).toBeGreaterThan(1)
    // With the products locked the rebuild stops between reading orders and counts.
    await held`begin`
    await held`lock table products in access exclusive mode`
    await held`select pg_advisory_unlock(hashtextextended(${`rebuild ${good}`}, 0))`
    const restored = () => redis.zcard(`{${good}}:holds`)
    await expect.poll(restored).toBe(3)
    const ended = [
      ...(await moveOrders(held, [paid], { from: ['reserved'], to: 'confirmed' })),
      ...(await moveOrders(held, [over], { from: ['reserved'], to: 'expired' })),
    ]
    await held`commit`
    await gate.settle(ended.map(holdEnd))
  } finally {
    held.release()
  }
  await rebuilt
  expect((await gate.stock())?.get('one')).toEqual({ available: 3, held: 1 })
  const swept = async () => {
    await gateSweeps({ ...deps, memory: new SaleMemory() })()
    return (await gate.stock())?.get('one')
  }
  await expect.poll(swept).toEqual({ available: 4, held: 0 })
})

test('a gate that another process has rebuilt meanwhile is left alone', async () => {
  const gate = deps.gates.of(good)
  const rebuild = await gate.fence()
  const { watched } = await sql.begin(async (tx) => {
    await tx`lock table products in access exclusive mode`
    // It sees the fence, then waits for the product.
    const watched = reconciler.watch()
    await untilLocked(sql)
    await rebuild.open([{ product: 'one', available: 5, held: 0 }])
    return { watched }
  })
  // A rebuild would delete this.
  await redis.hset(`{${good}}:stock`, 'mark', 1)
  await watched
  expect(await redis.hget(`{${good}}:stock`, 'mark')).toBe('1')
  expect(await sql`select kind from findings where sale_id = ${good}`).toEqual([])
})

test('a difference in the held units alone is drift', async () => {
  await redis.hincrby(`{${good}}:stock`, 'held one', 2)
  expect((await reconciler.reconcileSale(good)).findings).toMatchObject([{ found: 'drift', drift: 0, healed: true }])
  const drift = `stock_drift_units{sale="${good}",product="one"`
  expect(await metric(`${drift},state="held"}`)).toMatch(/ 2$/)
  expect(await metric(`${drift},state="available"}`)).toMatch(/ 0$/)
})

test.each([
  ['was recorded by a process that died before it removed the intent', 'reserved', { available: 4, held: 1 }],
  ['ended without the gate', 'expired', { available: 5, held: 0 }],
  ['was recorded without the gate', 'missing', { available: 4, held: 1 }],
] as const)('an order that %s is told to the gate, and is no drift', async (_, what, stock) => {
  const gate = deps.gates.of(good)
  const r = what === 'missing' ? { ...reservationOf(good), visitor: randomUUID() } : await reserve(good)
  await record(sql, good, [r], false)
  if (what === 'expired') await moveOrders(sql, [r.order], { from: ['reserved'], to: 'expired' })
  const ok = { found: 'ok', drift: 0, healed: false }
  expect((await reconciler.reconcileSale(good)).findings).toMatchObject([ok])
  expect((await gate.stock())?.get('one')).toEqual(stock)
  expect((await reconciler.reconcileSale(good)).findings).toMatchObject([ok])
  expect(await sql`select kind from findings where sale_id = ${good}`).toEqual([])
})

test('counts the orders that a worker records and those it refuses', async () => {
  const promised = await reserve(good)
  // The key of the call belongs to another order.
  await record(sql, good, [{ ...promised, order: randomUUID() }], true)
  await redis.hset(`{${good}}:stock`, 'available one', 9)
  for (let more = 0; more < 5; more++) await reserve(good)
  const transitions = `order_transitions_total{sale="${good}"`
  // Each is recorded once it is old enough.
  const recorded = async () => {
    await recordAllIntents(deps)
    return (await metric(`${transitions},status="cancelled",reason="no_stock"}`)) ?? ''
  }
  await expect.poll(recorded).toMatch(/ 1$/)
  expect(await metric(`${transitions},status="reserved"}`)).toMatch(/ 4$/)
  expect(await metric(`${transitions},status="cancelled",reason="replay"}`)).toMatch(/ 1$/)
  expect(await statusOf(promised)).toBe('cancelled')
})

test('finds an oversell without being asked', async () => {
  const orders = reservations(good, 6)
  await sql`update products set total = 6 where sale_id = ${good}`
  await record(sql, good, orders, false)
  await sql`update products set held = 0, total = 5 where sale_id = ${good}`
  await reconciler.round()
  expect(await metric(`oversold_units{sale="${good}",product="one"}`)).toMatch(/ 1$/)
  expect(await sql`select kind, units from findings where sale_id = ${good} and kind = 'oversold'`).toEqual([
    { kind: 'oversold', units: 1 },
  ])
})

test('a gate is shut while Redis may evict keys, and findings say so, and how many promised orders went', async () => {
  await sql`truncate findings`
  onTestFinished(() => {
    redisWatch.evicting = null
  })
  const isOpen = () => deps.gates.of(good).isOpen(['one'])
  const findings = () => sql`
    select kind, units, closed_at is null as open from findings where sale_id = ${good} and kind like 'evict%'
      order by kind`
  for (let i = 0; i < 3; i++) await reserve(good)
  await reconciler.watch()
  redisWatch.evicting = { policy: 'allkeys-lru', keys: 0 }
  await reconciler.watch()
  expect(await findings()).toEqual([{ kind: 'evicting', units: 0, open: true }])
  for (const again of [() => reconciler.round(), () => reconciler.reconcileSale(good, { force: true })]) {
    expect(await isOpen()).toBe(false)
    await again()
  }
  expect(await isOpen()).toBe(false)
  // Redis evicts keys like this when it is full.
  await redis.del(`{${good}}:unrecorded`)
  redisWatch.evicting = { policy: 'allkeys-lru', keys: 1 }
  await reconciler.watch()
  const evicted = { kind: 'evicted', units: 3, open: true }
  expect(await findings()).toEqual([evicted, { kind: 'evicting', units: 0, open: true }])
  redisWatch.evicting = null
  await reconciler.watch()
  expect(await isOpen()).toBe(true)
  expect(await findings()).toEqual([evicted, { kind: 'evicting', units: 0, open: false }])
})
