/**
 * Scale-out: two apis and two workers on one Postgres and a Redis Cluster of three nodes, over which the products of a sale
 * are spread; and a node that dies during the sale, whose replica takes over.
 */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRedis } from '../origin/lib/redis.ts'
import { Gate } from '../origin/stock/gate.ts'
import { defineScripts, type Store } from '../origin/stock/scripts.ts'
import { type Answer, eventually, saleOf, useOwnOrigin } from './origin-process.ts'
import { MASTERS, type RedisCluster, SLOTS, startRedisCluster } from './redis-cluster.ts'
import { useDatabase } from './servers.ts'

const RETRY_FOR_MS = 20_000
const database = useDatabase()
let cluster: RedisCluster
let redis: Store
beforeAll(async () => {
  cluster = await startRedisCluster()
  redis = defineScripts(connectRedis(cluster.url, pino({ level: 'silent' })))
})
afterAll(async () => {
  redis.disconnect()
  await cluster.stop()
})

const stores = () => ({ databaseUrl: database.url, redisUrl: cluster.url })
const first = useOwnOrigin(stores, { ROLE: 'api' })
const ADMISSION_KEYS = JSON.stringify(first.keys)
const origins = [first, useOwnOrigin(stores, { ROLE: 'api', ADMISSION_KEYS })] as const
useOwnOrigin(stores, { ROLE: 'worker', ADMISSION_KEYS })
useOwnOrigin(stores, { ROLE: 'worker', ADMISSION_KEYS })

interface TestSale {
  readonly id: string
  /** Six: two on each node, those on the node that is killed first. */
  readonly products: readonly string[]
}

const gatesOf = ({ id, products }: TestSale) => products.map((product) => new Gate(redis, id, product))
/** The master that has the product at first, counted from 0; the one with the replica is 0. */
const nodeOf = async (id: string, product: string) =>
  Math.floor((Number(await redis.cluster('KEYSLOT', `{${id}:${product}:0}:stock`)) * MASTERS) / SLOTS)

/** An open sale that both origins know, with this many units of each product. */
async function openSale(total: number, hold_seconds: number): Promise<TestSale> {
  const id = `sale-${randomUUID().slice(0, 8)}`
  const names = Array.from({ length: 100 }, (_, i) => `p${i}`)
  const nodes = await Promise.all(names.map((name) => nodeOf(id, name)))
  const products = [0, 1, 2].flatMap((node) => names.filter((_, i) => nodes[i] === node).slice(0, 2))
  const [product] = saleOf(total).products
  const sold = products.map((product_id) => ({ ...product, product_id }))
  const created = await first.admin('PUT', `/sales/${id}`, {
    ...saleOf(total, { hold_seconds }),
    products: sold,
  })
  expect(created.status).toBe(201)
  const token = await first.token(id)
  const known = () => origins[1].checkout(id, { token, body: { product_id: 'unknown' } })
  await eventually(known, ({ body }) => body.type === '/problems/unknown-product')
  await untilOpen({ id, products })
  return { id, products }
}

async function untilOpen(sale: TestSale): Promise<void> {
  const areOpen = () => Promise.all(gatesOf(sale).map((gate) => gate.isOpen().catch(() => false)))
  const open = await eventually(areOpen, (all) => all.every(Boolean))
  expect(open).not.toContain(false)
}

/** Buyers of each product in turn, at both origins. They repeat their call while its status is one of `again`. */
async function crowd({ id, products }: TestSale, buyers: number, again = [503]): Promise<Answer[]> {
  const until = Date.now() + RETRY_FOR_MS
  return Promise.all(
    Array.from({ length: buyers }, async (_, i) => {
      const call = {
        token: await first.token(id),
        key: `key-${i}-${Math.random()}`,
        body: { product_id: products[i % products.length] },
      }
      for (;;) {
        const answer = await (origins[Math.floor(i / products.length) % 2] as typeof first).checkout(id, call)
        if (!again.includes(answer.status) || Date.now() > until) return answer
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 200))
      }
    }),
  )
}

const count = (answers: readonly Answer[], status: number) => answers.filter((a) => a.status === status).length

/** Buys until this many units are sold: those lost in a failover come back with the reconciler's next round. */
async function buyOut(sale: TestSale, units: number): Promise<Answer[]> {
  const answers: Answer[] = []
  await eventually(
    async () => {
      answers.push(...(await crowd(sale, answers.length === 0 ? 2 * units : 12)))
      return count(answers, 201)
    },
    (sold) => sold >= units,
    30_000,
  )
  expect(count(answers, 201)).toBe(units)
  // Nobody hears "sold out" while units are in carts.
  expect(count(answers, 409)).toBe(answers.length - units)
  return answers
}

const stockOf = async ({ id }: TestSale) => {
  const { body } = await first.admin('GET', `/sales/${id}`)
  return body.invariant
}

test('products on all three nodes are sold to the last unit', async () => {
  const sale = await openSale(25, 60)
  expect(await Promise.all(sale.products.map((p) => nodeOf(sale.id, p)))).toEqual([0, 0, 1, 1, 2, 2])
  await buyOut(sale, 150)
  expect(await stockOf(sale)).toMatchObject({ total: 150, available: 0, held: 150, sold: 0 })
})

test('holds that run out are given back once, whichever worker sees them', async () => {
  const sale = await openSale(7, 4)
  expect(count(await crowd(sale, 42), 201)).toBe(42)
  const stock = () => Promise.all(gatesOf(sale).map((gate) => gate.stock()))
  const back = { available: 7, held: 0 }
  expect(await eventually(stock, (all) => all.every((one) => one?.available === 7))).toEqual(Array(6).fill(back))
  expect(await stockOf(sale)).toMatchObject({ available: 42, held: 0, sold: 0 })
})

test('when a node dies during a sale its replica takes over, and every unit is sold once', async () => {
  const sale = await openSale(30, 120)
  const before = await crowd(sale, 48)
  expect(count(before, 201)).toBe(48)
  const during = crowd(sale, 60, [503, 409])
  await cluster.killMaster()
  expect(count(await during, 201)).toBe(60)
  await untilOpen(sale)
  const after = await buyOut(sale, 72)
  const orders = [...before, ...(await during), ...after].flatMap((a) => (a.status === 201 ? [a.body.order_id] : []))
  expect(new Set(orders).size).toBe(180)
  expect(await stockOf(sale)).toMatchObject({ total: 180, available: 0, held: 180 })
  const [row] =
    await first.sql()`select count(*)::int as n from orders where sale_id = ${sale.id} and status = 'reserved'`
  expect(row?.n).toBe(180)
}, 90_000)
