/** An origin is killed between its two writes of an order: the next one finds the order, and makes it once. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useOwnOrigin } from '../lib/origin-process.ts'
import { untilLocked, useDatabase, useRedis } from '../lib/servers.ts'

const [database, server] = [useDatabase(), useRedis()]
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: server.url }))
let redis: Redis
beforeAll(() => {
  redis = new Redis(server.url)
})
afterAll(() => redis.disconnect())

const ordersOf = (sale: string) => origin.sql()`select order_id, status from orders where sale_id = ${sale}`
const intentsOf = (sale: string) => redis.hlen(`{${sale}}:unrecorded`)

test('killed between reserve and record: the key finds the order, paid once, and every unit is sold once', async () => {
  const sale = await origin.sale({ total: 3, hold_seconds: 3_600 })
  const buyer = { token: await origin.token(sale), key: 'cut' }
  const { asked } = await origin.sql().begin(async (tx) => {
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const asked = origin.checkout(sale, buyer).catch(() => 'no answer')
    await untilLocked(origin.sql())
    expect([await intentsOf(sale), await ordersOf(sale)]).toEqual([1, []])
    await origin.kill()
    // Postgres itself notices the end of a client only later.
    await tx`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return { asked }
  })
  expect(await asked).toBe('no answer')
  await origin.restart()

  await expect.poll(() => ordersOf(sale)).toMatchObject([{ status: 'reserved' }])
  const [order] = await ordersOf(sale)
  const again = await origin.checkout(sale, buyer)
  expect(again).toMatchObject({ status: 201, body: { status: 'reserved', order_id: order?.order_id } })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  await expect.poll(() => intentsOf(sale)).toBe(0)
  const pay = () =>
    origin.call('POST', `/orders/${order?.order_id}/payment`, { ...buyer, body: { payment_method: 'pm_ok' } })
  await pay()
  await expect.poll(() => ordersOf(sale)).toMatchObject([{ status: 'confirmed' }])
  const answers = await Promise.all(Array.from({ length: 4 }, () => origin.checkoutDecided(sale)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
  expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 2, sold: 1 })
})
