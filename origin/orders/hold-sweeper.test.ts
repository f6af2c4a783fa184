import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { addHall } from '../../test/lib/hall.ts'
import { type TestOrigin, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { useDatabase, useRedis } from '../../test/lib/servers.ts'
import { Gate } from '../stock/gate/gate.ts'
import { defineScripts } from '../stock/scripts.ts'

const database = useDatabase()
const redis = useRedis()
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
const HOUR_MS = 3_600_000
const SKEWED_CLOCK = fileURLToPath(new URL('../../test/lib/skewed-clock.ts', import.meta.url))
const skewed = (ms: number) => ({ NODE_OPTIONS: `--import ${SKEWED_CLOCK}`, CLOCK_SKEW_MS: String(ms) })

const ahead = useOwnOrigin(stores, skewed(HOUR_MS))
const origin = useOwnOrigin(stores, skewed(-HOUR_MS))

let client: Redis
beforeAll(() => {
  client = new Redis(redis.url)
})
afterAll(() => client.disconnect())
const gateOf = (sale: string) => client.hgetall(`{${sale}}:stock`)
const becomes = (status: string, at: TestOrigin, id: string, token: string) =>
  eventuallyMatches(async () => (await at.call('GET', `/orders/${id}`, { token })).body, { status })

describe('with two sweepers, one an hour ahead and one an hour behind', () => {
  test.concurrent('returns thirty overdue units, each once', async () => {
    const sale = await origin.sale({ total: 30, hold_seconds: 1 })
    const responses = await Promise.all(Array.from({ length: 30 }, () => origin.checkoutDecided(sale)))
    expect(responses.every((a) => a.status === 201)).toBe(true)
    await eventuallyMatches(() => origin.stock(sale), { available: 30 })
    await eventuallyMatches(() => gateOf(sale), { 'available one': '30' })
    // The sweepers go on.
    const later = await origin.sale({ total: 1, hold_seconds: 1 })
    expect(await origin.checkoutDecided(later)).toMatchObject({ status: 201 })
    await eventuallyMatches(() => origin.stock(later), { available: 1 })
    expect(await origin.stock(sale)).toMatchObject({ available: 30, held: 0, sold: 0 })
    expect(await gateOf(sale)).toMatchObject({ 'available one': '30', 'held one': '0' })
    const [events] = await origin.sql()<{ orders: number; events: number }[]>`
      select count(distinct order_id)::int as orders, count(*)::int as events
      from events join orders using (order_id) where orders.sale_id = ${sale} and events.status = 'expired'`
    expect(events).toEqual({ orders: 30, events: 30 })
  })

  test.concurrent('returns everything of an overdue cart, with its seats', async () => {
    const sale = await origin.sale({ total: 10, hold_seconds: 1, limit_per_visitor: 9 })
    await addHall(origin.sql(), sale)
    await origin.admin('POST', `/sales/${sale}/reconcile`)
    const lines = [
      { product_id: 'one', quantity: 2 },
      { section_id: 'floor', quantity: 3 },
      { section_id: 'stalls', seats: ['S3', 'S4'] },
    ]
    expect(await origin.checkoutDecided(sale, { body: { lines } })).toMatchObject({ status: 201 })
    const left = { 'available one': '10', 'available floor': '5', 'available stalls': '12', 'held stalls': '0' }
    await eventuallyMatches(() => gateOf(sale), left)
    expect(await client.bitcount(`{${sale}}:seats`)).toBe(0)
    expect(await origin.sql()`select from seat_claims where sale_id = ${sale}`).toHaveLength(0)
    const { body } = await origin.admin('GET', `/sales/${sale}`)
    expect(body.products).toMatchObject([{ held: 0 }, { held: 0 }, { held: 0 }])
    expect(await origin.checkoutDecided(sale, { body: { lines } })).toMatchObject({ status: 201 })
  })

  test.concurrent('keeps a hold exactly until its deadline', async () => {
    const sale = await origin.sale({ total: 1, hold_seconds: 2 })
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    const id = body.order_id ?? ''
    const leftMs = Date.parse(String(body.reserved_until)) - Date.now()
    expect(leftMs).toBeLessThanOrEqual(2_000)
    expect(body.expires_in_seconds).toBeLessThanOrEqual(2)
    // This is how a Redis with a clock ahead sees the hold: the gate reports it as overdue from now on.
    await new Gate(defineScripts(client), sale).postpone([{ order: id, forMs: -HOUR_MS }])
    await becomes('expired', origin, id, token)
    const [ended] = await origin.sql()`
      select events.at >= orders.reserved_until as in_time from events join orders using (order_id)
      where order_id = ${id} and events.status = 'expired'`
    expect(ended).toEqual({ in_time: true })
  })

  test.concurrent('an origin an hour ahead accepts tokens, shows deadlines and takes payments correctly', async () => {
    const sale = await ahead.sale({ total: 1, hold_seconds: 3_600 })
    // Valid for five minutes: expired by the origin's clock, but not by the ledger's.
    const token = await ahead.token(sale)
    const { status, body } = await ahead.checkout(sale, { token })
    expect(status).toBe(201)
    // The start time in the process's own metrics shows that its clock is ahead.
    const metrics = String((await ahead.ops('/metrics')).body.text)
    const startedAtSeconds = Number(/^process_start_time_seconds (\d+)/m.exec(metrics)?.[1])
    expect(startedAtSeconds * 1000).toBeGreaterThan(Date.now() + HOUR_MS / 2)
    const leftMs = Date.parse(String(body.reserved_until)) - Date.now()
    expect(leftMs).toBeGreaterThan(HOUR_MS / 2)
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS)
    const id = body.order_id ?? ''
    await ahead.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_webhook_twice' } })
    await becomes('confirmed', ahead, id, token)
  })
})
