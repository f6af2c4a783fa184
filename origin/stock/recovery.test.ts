/** A sale survives a lost Redis, a slow Postgres and a killed origin: nothing is sold twice, and no 201 is lost. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import { startRedis } from '../../dev/servers/redis.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { useDatabase, useReturning } from '../../test/lib/servers.ts'

const database = useDatabase()
const server = await useReturning(startRedis)
const redis = new Redis(server.url, { retryStrategy: () => 100, maxRetriesPerRequest: null })
redis.on('error', () => {})
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: server.url }))
afterAll(() => redis.disconnect())

const gateOf = (sale: string) => redis.hgetall(`{${sale}}:stock`)
const buyers = (sale: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => origin.checkoutDecided(sale)))
const sold = (answers: { status: number }[]) => answers.filter((a) => a.status === 201).length
const becomes = (read: () => Promise<unknown>, expected: object) => expect.poll(read).toMatchObject(expected)
const gateBecomes = (sale: string, gate: object) => becomes(() => gateOf(sale), gate)
const intentsOf = async (sale: string) => redis.hlen(`{${sale}}:unrecorded`)
const noIntents = (sale: string) => expect.poll(() => intentsOf(sale)).toBe(0)

describe('when Redis', () => {
  test('is flushed during a sale, no unit is sold twice', async () => {
    const sale = await origin.sale({ total: 30 })
    expect(sold(await buyers(sale, 10))).toBe(10)
    await redis.flushall()
    expect(sold(await buyers(sale, 10))).toBe(10)
    await gateBecomes(sale, { run: expect.anything() })
    expect(sold(await buyers(sale, 30))).toBe(10)
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 30 })
  })

  test('counts too many or too few units, the ledger decides and they are counted again', async () => {
    const [many, few] = [await origin.sale({ total: 5 }), await origin.sale({ total: 5 })]
    await redis.hset(`{${few}}:stock`, 'available one', 1)
    await redis.hset(`{${many}}:stock`, 'available one', 1_000)
    const answers = await buyers(many, 40)
    expect(sold(answers)).toBe(5)
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([201, 409]))
    await gateBecomes(many, { 'available one': '0', 'held one': '5' })
    await gateBecomes(few, { 'available one': '5' })
    expect(sold(await buyers(few, 10))).toBe(5)
  })

  test('is away, the sale goes on through the ledger with the same limits and keys', async () => {
    const sale = await origin.sale({ total: 8 })
    const token = await origin.token(sale)
    const before = await origin.checkout(sale, { token, key: 'before' })
    const overdue = await origin.sale({ total: 1 })
    await origin.checkout(overdue)
    await server.kill()
    await origin.sql()`update orders set reserved_until = now() - interval '2 seconds' where sale_id = ${overdue}`
    const replayed = await origin.checkout(sale, { token, key: 'before' })
    expect(replayed).toMatchObject({ status: 201, body: { order_id: before.body.order_id } })
    expect(replayed.headers.get('idempotency-replayed')).toBe('true')
    const live = await origin.checkout(sale, { token })
    expect(live).toMatchObject({ status: 200, body: { order_id: before.body.order_id } })
    expect(sold(await buyers(sale, 20))).toBe(7)
    const { status } = await origin.call('DELETE', `/orders/${before.body.order_id}`, { token })
    expect(status).toBe(200)
    expect(sold(await buyers(sale, 3))).toBe(1)
    // Holds end by the ledger.
    await becomes(() => origin.stock(overdue), { available: 1, held: 0 })
    // Redis may know of this order: it is not reported as unknown.
    expect(await origin.call('GET', `/orders/${randomUUID()}`, { token })).toMatchObject({ status: 503 })

    await server.start()
    await gateBecomes(sale, { 'available one': '0', 'held one': '8', run: expect.anything() })
    expect(sold(await buyers(sale, 5))).toBe(0)
  })

  test('comes back with an old snapshot, its counter is not used', async () => {
    const sale = await origin.sale({ total: 20 })
    const { run } = await gateOf(sale)
    await buyers(sale, 15)
    await server.kill()
    await server.start()
    // As in the snapshot: all units available, and loaded in an earlier run.
    await redis.hset(`{${sale}}:stock`, { 'available one': 20, 'held one': 0, run: run ?? '' })
    expect(sold(await buyers(sale, 20))).toBe(5)
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 20 })
  })
})

describe('when Postgres', () => {
  test('does not commit, the response is "processing" until it does', async () => {
    const sale = await origin.sale({ total: 5 })
    const { order_id, token } = await origin.sql().begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      // Where Redis does not say in time that the order is safe, it is in doubt: then somebody else asks.
      const ask = async () => {
        const token = await origin.token(sale)
        return { token, ...(await origin.checkout(sale, { token, key: 'slow' })) }
      }
      const { token, status, headers, body } = await eventually(ask, (answer) => answer.status === 202)
      expect(status).toBe(202)
      expect(body).toMatchObject({ status: 'processing', product_id: 'one', reserved_until: null })
      const path = `/orders/${body.order_id}`
      expect(headers.get('location')).toBe(path)
      const asked = await origin.call('GET', path, { token: body.order_token ?? '' })
      expect(asked).toMatchObject({ status: 200, body: { status: 'processing' } })
      const other = await origin.call('GET', path, { token: await origin.token(sale) })
      expect(other).toMatchObject({ status: 404 })
      return { order_id: body.order_id, token }
    })
    const order = () => origin.call('GET', `/orders/${order_id}`, { token })
    await becomes(order, { body: { status: 'reserved', order_id } })
    const replayed = await origin.checkout(sale, { token, key: 'slow' })
    expect(replayed).toMatchObject({ status: 201, body: { order_id } })
    await noIntents(sale)
  })
})

test('an order that was promised is recorded although the sale ended hours ago', async () => {
  const sale = await origin.sale()
  await origin.sql()`update sales set ended_at = now() - interval '12 hours' where sale_id = ${sale}`
  const { order } = reservationOf(sale)
  await redis.hset(`{${sale}}:unrecorded`, order, `${Date.now() - 10_000} 1 one key hash public 1  someone`)
  const recorded = () => origin.sql()`select status from orders where order_id = ${order}`
  await becomes(recorded, [{ status: 'reserved' }])
  await noIntents(sale)
})

describe('when the origin', () => {
  test('is killed between the script and the commit, another process records the order', async () => {
    const sale = await origin.sale({ total: 3 })
    const token = await origin.token(sale)
    await origin.sql().begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const asked = origin.checkout(sale, { token, key: 'cut' }).catch(() => {})
      await expect.poll(() => intentsOf(sale)).toBe(1)
      await origin.kill()
      await asked
      await tx`select pg_terminate_backend(pid) from pg_stat_activity
                 where application_name = 'flash-sale-origin' and datname = current_database()`
    })
    await origin.restart()
    const again = () => origin.checkout(sale, { token, key: 'cut' })
    await becomes(again, { status: 201, body: { status: 'reserved' } })
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 1 })
    await noIntents(sale)
  })

  test('is killed and restarted during a sale, every 201 is kept and no unit is sold twice', async () => {
    const sale = await origin.sale({ total: 60 })
    const confirmed: string[] = []
    const { promise: mayCome, resolve: come } = Promise.withResolvers<void>()
    const crowd = Array.from({ length: 40 }, async (_, i) => {
      const buyer = { token: await origin.token(sale), key: `k${i}` }
      // Some come before the origin is killed, and the others whenever it answers.
      if (i >= 20) await mayCome
      const answered = () =>
        origin.checkout(sale, buyer).catch(() => ({ status: 0, body: {} as { order_id?: string } }))
      const { body } = await eventually(answered, ({ status }) => status === 201)
      confirmed.push(body.order_id ?? '')
    })
    await expect.poll(() => confirmed.length).toBeGreaterThan(0)
    come()
    await origin.kill()
    await origin.restart()
    await Promise.all(crowd)
    expect(confirmed).toHaveLength(40)
    const rows = await origin.sql()`select order_id from orders where sale_id = ${sale} and status = 'reserved'`
    expect(new Set(rows.map((r) => r.order_id))).toEqual(new Set(confirmed))
    expect(await origin.stock(sale)).toMatchObject({ available: 20, held: 40 })
  })
})
