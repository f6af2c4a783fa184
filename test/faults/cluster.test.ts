/**
 * Scale-out: two origins with workers run on one Postgres and a Redis Cluster of three nodes, over which sales are
 * spread. A node dies in the middle of a sale, and its replica takes over. Every unit is sold once, and held units
 * return once, whichever worker processes them.
 */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRedis } from '../../origin/lib/redis/redis.ts'
import { Gate } from '../../origin/stock/gate/gate.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import { eventually } from '../lib/eventually.ts'
import { type OwnOrigin, useOwnOrigin } from '../lib/origin-process.ts'
import { MASTERS, type RedisCluster, SLOTS, startRedisCluster } from '../lib/redis-cluster.ts'
import { saleOf } from '../lib/samples.ts'
import { useDatabase } from '../lib/servers.ts'

/** The number of units of each of two products in each of three sales. */
const EACH = 8
const PRODUCTS = ['p0', 'p1']
const ALL = 3 * PRODUCTS.length * EACH

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
const first = useOwnOrigin(stores)
const second = useOwnOrigin(stores, { ADMISSION_KEYS: JSON.stringify(first.keys) })

/** The index of the sale's first master; the one with the replica is 0. */
const nodeOf = async (id: string) =>
  Math.floor((Number(await redis.cluster('KEYSLOT', `{${id}}:stock`)) * MASTERS) / SLOTS)

/** Opens three sales that both origins know, one on each node. */
async function openSales(): Promise<string[]> {
  const names = Array.from({ length: 100 }, () => `sale-${randomUUID().slice(0, 8)}`)
  const nodes = await Promise.all(names.map(nodeOf))
  const [product] = saleOf(EACH).products
  const products = PRODUCTS.map((product_id) => ({ ...product, product_id }))
  const ids = [0, 1, 2].map((node) => names[nodes.indexOf(node)] ?? '')
  for (const id of ids) {
    const created = await first.admin('PUT', `/sales/${id}`, { ...saleOf(EACH, { hold_seconds: 3_600 }), products })
    expect(created).toMatchObject({ status: 201 })
    const token = await first.token(id)
    const known = () => second.checkout(id, { token, body: { product_id: 'unknown' } })
    await expect.poll(known).toMatchObject({ body: { type: '/problems/unknown-product' } })
  }
  return ids
}

test('when a node dies during a sale its replica takes over: every unit is sold once, and returns once', async () => {
  const ids = await openSales()
  const gates = ids.map((id) => new Gate(redis, id))
  const areOpen = () => Promise.all(gates.map((gate) => gate.isOpen(PRODUCTS).catch(() => false)))
  const untilOpen = () => expect.poll(areOpen).toEqual([true, true, true])
  let bought = 0
  const orders = new Set<unknown>()
  /**
   * Buyers of each sale and product in turn, at both origins, who repeat their call while the status is one of these.
   */
  const crowd = async (buyers: number, again: readonly number[]) => {
    const answers = await Promise.all(
      Array.from({ length: buyers }, async (_, i) => {
        const [id = '', product_id] = [ids[i % 3], PRODUCTS[Math.floor(i / 3) % 2]]
        const origin: OwnOrigin = Math.floor(i / 6) % 2 ? second : first
        const call = { token: await first.token(id), key: randomUUID(), body: { product_id } }
        return eventually(
          () => origin.checkout(id, call),
          ({ status }) => !again.includes(status),
        )
      }),
    )
    for (const { status, body } of answers) if (status === 201 && ++bought) orders.add(body.order_id)
    return new Set(answers.map(({ status }) => status))
  }

  await untilOpen()
  expect(await crowd(12, [503])).toEqual(new Set([201]))
  // Units that the replica has not received appear to be in carts until they are counted again.
  const during = crowd(12, [503, 409, 202])
  await cluster.killMaster()
  expect(await during).toEqual(new Set([201]))
  await untilOpen()
  // No buyer gets "sold out" while units are in carts, and there are more buyers than units.
  const untilSold = async () => ({ heard: await crowd(ALL, [503, 202]), bought })
  await expect.poll(untilSold).toEqual({ heard: new Set([409]), bought: ALL })
  expect(orders.size).toBe(ALL)

  const stock = async () => {
    const sales = await Promise.all(ids.map((id) => first.admin('GET', `/sales/${id}`)))
    return sales.map(({ body }) => body.invariant)
  }
  const each = { total: 2 * EACH, sold: 0 }
  expect(await stock()).toMatchObject(Array(3).fill({ ...each, available: 0, held: 2 * EACH }))
  await first.sql()`update orders set reserved_until = now()`
  await expect.poll(stock).toMatchObject(Array(3).fill({ ...each, available: 2 * EACH, held: 0 }))
  const counted = async () =>
    (await Promise.all(gates.map((gate) => gate.stock()))).map((all) => [...(all?.values() ?? [])])
  await expect.poll(counted).toEqual(Array(3).fill(Array(2).fill({ available: EACH, held: 0 })))
})
