import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, type TestOrigin, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { Gate } from '../stock/gate.ts'
import { defineScripts } from '../stock/scripts.ts'

const database = useDatabase()
const redis = useRedis()
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
const HOUR_MS = 3_600_000
const SKEWED_CLOCK = fileURLToPath(new URL('../../test/skewed-clock.ts', import.meta.url))
const skewed = (ms: number) => ({ NODE_OPTIONS: `--import ${SKEWED_CLOCK}`, CLOCK_SKEW_MS: String(ms) })

const origin = useOwnOrigin(stores)
const ahead = useOwnOrigin(stores, skewed(HOUR_MS))
useOwnOrigin(stores, { ...skewed(-HOUR_MS), ROLE: 'worker' })

let client: Redis
beforeAll(() => {
  client = new Redis(redis.url)
})
afterAll(() => client.disconnect())
const gateOf = (sale: string) => client.hgetall(`{${sale}}:stock`)
const statusOf = async (at: TestOrigin, id: string, token: string) =>
  (await at.call('GET', `/orders/${id}`, { token })).body.status
const becomes = (wanted: string, ...order: Parameters<typeof statusOf>) =>
  eventually(
    () => statusOf(...order),
    (status) => status === wanted,
  )

describe('with three sweepers, one an hour ahead and one an hour behind', () => {
  test.concurrent('returns a hundred overdue units, each once', async () => {
    const sale = await origin.sale({ total: 100, hold_seconds: 1 })
    const responses = await Promise.all(Array.from({ length: 100 }, () => origin.checkoutDecided(sale)))
    expect(responses.every((a) => a.status === 201)).toBe(true)
    await eventually(
      () => origin.stock(sale),
      (stock) => stock.available === 100,
    )
    await eventually(
      () => gateOf(sale),
      (gate) => gate['available one'] === '100',
    )
    // The sweepers go on.
    const later = await origin.sale({ total: 1, hold_seconds: 1 })
    expect(await origin.checkoutDecided(later)).toMatchObject({ status: 201 })
    await eventually(
      () => origin.stock(later),
      (stock) => stock.available === 1,
    )
    expect(await origin.stock(sale)).toMatchObject({ available: 100, held: 0, sold: 0 })
    expect(await gateOf(sale)).toMatchObject({ 'available one': '100', 'held one': '0' })
    const [events] = await origin.sql()<{ orders: number; events: number }[]>`
      select count(distinct order_id)::int as orders, count(*)::int as events
      from events join orders using (order_id) where orders.sale_id = ${sale} and events.status = 'expired'`
    expect(events).toEqual({ orders: 100, events: 100 })
  })

  test.concurrent('keeps a hold exactly until its deadline', async () => {
    const sale = await origin.sale({ total: 1, hold_seconds: 5 })
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    const id = body.order_id ?? ''
    const leftMs = Date.parse(String(body.reserved_until)) - Date.now()
    expect(leftMs).toBeLessThanOrEqual(5_000)
    expect(body.expires_in_seconds).toBeLessThanOrEqual(5)
    expect(body.expires_in_seconds).toBeGreaterThan(0)
    // As a Redis has it whose clock is ahead: the gate names the hold as overdue from now on.
    await new Gate(defineScripts(client), sale).postpone([{ order: id, forMs: -HOUR_MS }])
    expect(await becomes('expired', origin, id, token)).toBe('expired')
    const [ended] = await origin.sql()`
      select events.at >= orders.reserved_until as in_time from events join orders using (order_id)
      where order_id = ${id} and events.status = 'expired'`
    expect(ended).toEqual({ in_time: true })
  })

  test.concurrent('an origin an hour ahead accepts tokens, shows deadlines and takes payments correctly', async () => {
    const sale = await ahead.sale({ total: 1, hold_seconds: 60 })
    // Valid for five minutes: expired by the origin's clock, but not by the ledger's.
    const token = await ahead.token(sale)
    const response = await ahead.checkout(sale, { token })
    expect(response.status).toBe(201)
    // Its own metric shows that its clock is ahead.
    const metrics = String((await ahead.ops('/metrics')).body.text)
    const startedAtSeconds = Number(/^process_start_time_seconds (\d+)/m.exec(metrics)?.[1])
    expect(startedAtSeconds * 1000 - Date.now()).toBeGreaterThan(HOUR_MS - 120_000)
    const leftMs = Date.parse(String(response.body.reserved_until)) - Date.now()
    expect(leftMs).toBeGreaterThan(30_000)
    expect(leftMs).toBeLessThanOrEqual(60_000)
    const id = response.body.order_id ?? ''
    await ahead.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_webhook_twice' } })
    expect(await becomes('confirmed', ahead, id, token)).toBe('confirmed')
  })
})

describe('without Redis', () => {
  // Stores of its own, since the other sweepers would end its holds.
  const own = useDatabase()
  const lost = useRedis()
  const alone = useOwnOrigin(() => ({ databaseUrl: own.url, redisUrl: lost.url }))

  test('ends holds by the ledger', async () => {
    const sale = await alone.sale({ total: 1, hold_seconds: 1 })
    expect(await alone.checkout(sale)).toMatchObject({ status: 201 })
    await lost.kill()
    await expect.poll(() => alone.stock(sale)).toMatchObject({ available: 1, held: 0 })
  })
})
