/**
 * Scale-out: two apis and two workers at once on one Postgres and a Redis Cluster of three nodes, among which the stock
 * of each product is shared; and a node that dies in mid-sale, whose replica takes its place.
 */

import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRedis, type Store } from '../origin/lib/redis.ts'
import { Gate } from '../origin/stock/gate.ts'
import { type Answer, eventually, type SaleOptions, useOrigin } from './origin-process.ts'
import { type RedisCluster, startRedisCluster } from './redis-cluster.ts'
import { useDatabase } from './servers.ts'

const BUCKETS = 6
const PATIENCE_MS = 20_000
const database = useDatabase()
let cluster: RedisCluster
let redis: Store
beforeAll(async () => {
  cluster = await startRedisCluster()
  redis = connectRedis(cluster.url, pino({ level: 'silent' }))
})
afterAll(async () => {
  redis.disconnect()
  await cluster.stop()
})

const stores = () => ({ databaseUrl: database.url, redisUrl: cluster.url })
const role = (ROLE: string) => () => ({
  ROLE,
  STOCK_BUCKETS: String(BUCKETS),
  ...(origins[0] === undefined ? {} : { ADMISSION_JWKS: first.jwks() }),
})
const first = useOrigin(stores, { ROLE: 'api', STOCK_BUCKETS: String(BUCKETS) })
const origins = [first, useOrigin(stores, role('api'))] as const
useOrigin(stores, role('worker'))
useOrigin(stores, role('worker'))

const gateOf = (sale: string) => new Gate(redis, sale, 'one', BUCKETS)
const inUse = (sale: string) =>
  eventually(
    () =>
      gateOf(sale)
        .isOpen()
        .catch(() => false),
    Boolean,
  )

/** A sale that both origins know, a second after the first of them was told of it. */
async function knownSale(options: SaleOptions): Promise<string> {
  const sale = await first.sale(options)
  const token = await first.token(sale)
  const known = () => origins[1].checkout(sale, { token, body: { product_id: 'unknown' } })
  await eventually(known, ({ body }) => body.type === '/problems/unknown-product')
  expect(await inUse(sale)).toBe(true)
  return sale
}

/** So many buyers at both origins; each tries again while they are told what they take for "later". */
async function crowd(sale: string, buyers: number, again = [503]): Promise<Answer[]> {
  const until = Date.now() + PATIENCE_MS
  return Promise.all(
    Array.from({ length: buyers }, async (_, i) => {
      const origin = origins[i % 2] as typeof first
      const token = await first.token(sale)
      const key = `key-${i}-${Math.random()}`
      for (;;) {
        const answer = await origin.checkout(sale, { token, key })
        if (!again.includes(answer.status) || Date.now() > until) return answer
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 200))
      }
    }),
  )
}

const count = (answers: readonly Answer[], status: number) =>
  answers.filter((a) => a.status === status).length

/**
 * Twice as many buyers as there are units, and some more until the last is sold: one on its way between two buckets, or
 * mislaid by a failover until the reconciler's next round, is "in carts" meanwhile, but never sold out.
 */
async function buyOut(sale: string, units: number): Promise<Answer[]> {
  const answers: Answer[] = []
  await eventually(
    async () => {
      answers.push(...(await crowd(sale, answers.length === 0 ? 2 * units : 5)))
      return count(answers, 201)
    },
    (sold) => sold >= units,
    30_000,
  )
  expect(count(answers, 201)).toBe(units)
  expect(count(answers, 409)).toBe(answers.length - units)
  return answers
}

test('the buckets of a product lie on all three nodes', async () => {
  const sale = await knownSale({ total: 60 })
  const nodes = Array.from({ length: BUCKETS * 4 }, (_, i) => cluster.masterOf(`{${sale}:one:${i}}:stock`))
  expect(new Set(nodes)).toEqual(new Set([0, 1, 2]))
  expect(await gateOf(sale).stock()).toMatchObject({ available: 60, held: 0 })
})

test('a crowd at both origins buys the stock to the last unit, and nobody is told "sold out" before', async () => {
  const sale = await knownSale({ total: 150, hold_seconds: 60 })
  await buyOut(sale, 150)
  expect(await first.stock(sale)).toMatchObject({ total: 150, available: 0, held: 150, sold: 0 })
})

test('holds that run out are given back once, whichever worker sees them', async () => {
  const sale = await knownSale({ total: 40, hold_seconds: 1 })
  // A unit on its way between two buckets is "in carts" for that long: who hears so asks again.
  expect(count(await crowd(sale, 40, [503, 409]), 201)).toBe(40)
  const stock = await eventually(
    () => gateOf(sale).stock(),
    (s) => s?.available === 40,
  )
  expect(stock).toMatchObject({ available: 40, held: 0 })
  expect(await first.stock(sale)).toMatchObject({ available: 40, held: 0, sold: 0 })
})

test('units that were lost on their way between two buckets are found again', async () => {
  const sale = await knownSale({ total: 30 })
  await gateOf(sale).buckets[1]?.lend(3)
  const found = () => gateOf(sale).stock()
  expect(await found()).not.toMatchObject({ available: 30 })
  expect(await eventually(found, (s) => s?.available === 30)).toMatchObject({ available: 30, held: 0 })
})

test('when a node dies in mid-sale its replica takes over, and every unit is sold once', async () => {
  const sale = await knownSale({ total: 200, hold_seconds: 120 })
  const before = await crowd(sale, 50)
  expect(count(before, 201)).toBe(50)
  const during = crowd(sale, 60, [503, 409])
  await cluster.killMaster()
  expect(count(await during, 201)).toBe(60)
  expect(await inUse(sale)).toBe(true)
  const after = await buyOut(sale, 90)
  const orders = [...before, ...(await during), ...after].flatMap((a) =>
    a.status === 201 ? [a.body.order_id] : [],
  )
  expect(new Set(orders).size).toBe(200)
  expect(await first.stock(sale)).toMatchObject({ total: 200, available: 0, held: 200 })
  const [row] =
    await first.sql()`select count(*)::int as n from orders where sale_id = ${sale} and status = 'reserved'`
  expect(row?.n).toBe(200)
}, 90_000)
