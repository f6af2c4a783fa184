/**
 * Scale-out: two apis and two workers on one Postgres and a Redis Cluster of three nodes, over which sales are
 * spread; and a node that dies during the sale, whose replica takes over.
 */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRedis } from '../../origin/lib/redis.ts'
import { Gate } from '../../origin/stock/gate/gate.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import { eventually } from '../lib/eventually.ts'
import { type Answer, useOwnOrigin } from '../lib/origin-process.ts'
import { MASTERS, type RedisCluster, SLOTS, startRedisCluster } from '../lib/redis-cluster.ts'
import { saleOf } from '../lib/samples.ts'
import { useDatabase } from '../lib/servers.ts'

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

/** Three sales, one on each node and the first on the node that is killed, with two products each. */
interface TestSales {
  readonly ids: readonly string[]
}
const PRODUCTS = ['p0', 'p1']

const gatesOf = ({ ids }: TestSales) => ids.map((id) => new Gate(redis, id))
/** The master that has the sale at first, counted from 0; the one with the replica is 0. */
const nodeOf = async (id: string) =>
  Math.floor((Number(await redis.cluster('KEYSLOT', `{${id}}:stock`)) * MASTERS) / SLOTS)

/** Open sales that both origins know, with this many units of each product. */
async function openSales(total: number, hold_seconds: number): Promise<TestSales> {
  const names = Array.from({ length: 100 }, () => `sale-${randomUUID().slice(0, 8)}`)
  const nodes = await Promise.all(names.map(nodeOf))
  const ids = [0, 1, 2].map((node) => names[nodes.indexOf(node)] ?? '')
  const [product] = saleOf(total).products
  const products = PRODUCTS.map((product_id) => ({ ...product, product_id }))
  for (const id of ids) {
    const created = await first.admin('PUT', `/sales/${id}`, { ...saleOf(total, { hold_seconds }), products })
    expect(created.status).toBe(201)
    const token = await first.token(id)
    const known = () => origins[1].checkout(id, { token, body: { product_id: 'unknown' } })
    await eventually(known, ({ body }) => body.type === '/problems/unknown-product')
  }
  await untilOpen({ ids })
  return { ids }
}

async function untilOpen(sales: TestSales): Promise<void> {
  const areOpen = () => Promise.all(gatesOf(sales).map((gate) => gate.isOpen(PRODUCTS).catch(() => false)))
  const open = await eventually(areOpen, (all) => all.every(Boolean))
  expect(open).not.toContain(false)
}

/** Buyers of each sale and product in turn, at both origins. They repeat their call while its status is one of `again`. */
async function crowd({ ids }: TestSales, buyers: number, again = [503]): Promise<Answer[]> {
  const until = Date.now() + RETRY_FOR_MS
  return Promise.all(
    Array.from({ length: buyers }, async (_, i) => {
      const id = ids[i % 3] ?? ''
      const origin = origins[Math.floor(i / 6) % 2] as typeof first
      const call = {
        token: await first.token(id),
        key: `key-${i}-${Math.random()}`,
        body: { product_id: PRODUCTS[Math.floor(i / 3) % 2] },
      }
      for (;;) {
        const answer = await origin.checkout(id, call)
        if (!again.includes(answer.status) || Date.now() > until) return answer
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 200))
      }
    }),
  )
}

const count = (answers: readonly Answer[], status: number) => answers.filter((a) => a.status === status).length

/** Buys until this many units are sold: those lost in a failover come back with the reconciler's next round. */
async function buyOut(sales: TestSales, units: number): Promise<Answer[]> {
  const answers: Answer[] = []
  await eventually(
    async () => {
      answers.push(...(await crowd(sales, answers.length === 0 ? 2 * units : 12)))
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

/** The units of all sales together, as the ledger counts them. */
async function stockOf({ ids }: TestSales) {
  const sum = { total: 0, available: 0, held: 0, sold: 0 }
  for (const id of ids) {
    const { body } = await first.admin('GET', `/sales/${id}`)
    const invariant = body.invariant as typeof sum
    for (const name of ['total', 'available', 'held', 'sold'] as const) sum[name] += invariant[name]
  }
  return sum
}

test('sales on all three nodes are sold to the last unit', async () => {
  const sales = await openSales(25, 60)
  expect(await Promise.all(sales.ids.map(nodeOf))).toEqual([0, 1, 2])
  await buyOut(sales, 150)
  expect(await stockOf(sales)).toEqual({ total: 150, available: 0, held: 150, sold: 0 })
})

test('holds that run out are given back once, whichever worker sees them', async () => {
  const sales = await openSales(7, 4)
  expect(count(await crowd(sales, 42), 201)).toBe(42)
  const stock = async () => {
    const all = await Promise.all(gatesOf(sales).map((gate) => gate.stock()))
    return all.flatMap((products) => [...(products?.values() ?? [])])
  }
  const back = { available: 7, held: 0 }
  expect(await eventually(stock, (all) => all.every(({ available }) => available === 7))).toEqual(Array(6).fill(back))
  expect(await stockOf(sales)).toMatchObject({ available: 42, held: 0, sold: 0 })
})

test('when a node dies during a sale its replica takes over, and every unit is sold once', async () => {
  const sales = await openSales(30, 120)
  const before = await crowd(sales, 48)
  expect(count(before, 201)).toBe(48)
  const during = crowd(sales, 60, [503, 409])
  await cluster.killMaster()
  expect(count(await during, 201)).toBe(60)
  await untilOpen(sales)
  const after = await buyOut(sales, 72)
  const orders = [...before, ...(await during), ...after].flatMap((a) => (a.status === 201 ? [a.body.order_id] : []))
  expect(new Set(orders).size).toBe(180)
  expect(await stockOf(sales)).toMatchObject({ total: 180, available: 0, held: 180 })
  const [row] =
    await first.sql()`select count(*)::int as n from orders where sale_id = any(${sales.ids as string[]}) and status = 'reserved'`
  expect(row?.n).toBe(180)
}, 90_000)
