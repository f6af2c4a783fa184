/**
 * The ledger away for a while: Postgres is killed in mid-sale and comes back, or its host vanishes without a word.
 * Buyers hear "processing", with a place to ask, and every one of them has their order afterwards.
 */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { eventually } from '../lib/eventually.ts'
import { useFlakyProxy } from '../lib/flaky-proxy.ts'
import { useOwnOrigin } from '../lib/origin-process.ts'
import { useDatabase, useRedis, useReturning } from '../lib/servers.ts'

const postgres = await useReturning(startPostgres)
const redis = useRedis()
const origin = useOwnOrigin(() => ({ databaseUrl: postgres.url, redisUrl: redis.url }))

test('orders taken while Postgres is away are all there when it is back', async () => {
  const sale = await origin.sale({ total: 40, hold_seconds: 300 })
  const visitors = await Promise.all(
    Array.from({ length: 60 }, async () => ({ token: await origin.token(sale), key: randomUUID() })),
  )
  const buy = (some: typeof visitors) => Promise.all(some.map((who) => origin.checkout(sale, who)))
  const before = await buy(visitors.slice(0, 10))
  expect(before.map((a) => a.status)).toEqual(Array(10).fill(201))

  await postgres.kill()
  const away = await buy(visitors.slice(10, 40))
  expect(away.map((a) => [a.status, a.body.status])).toEqual(Array(30).fill([202, 'processing']))
  const late = await buy(visitors.slice(40))
  expect(new Set(late.map((a) => [a.status, a.body.type].join(' ')))).toEqual(new Set(['409 /problems/all-in-carts']))
  for (const { headers, body } of away.slice(0, 3)) {
    const token = String(body.order_token)
    const asked = await origin.call('GET', headers.get('location') ?? '', { token })
    expect([asked.status, asked.body.status]).toEqual([200, 'processing'])
    expect(asked.body.created_at).toBe(body.created_at)
  }
  expect((await origin.ops('/readyz')).status).toBe(200)

  // The workers have tried to record, and failed.
  await expect.poll(origin.log).toMatch(/"actor":"intent recorder".*"round failed"/)
  await postgres.start()
  for (const { body } of away) {
    const order = `/orders/${body.order_id}`
    const ask = () => origin.call('GET', order, { token: String(body.order_token) })
    expect((await eventually(ask, (a) => a.body.status === 'reserved')).body).toMatchObject({
      status: 'reserved',
      sale,
    })
  }
  const again = await buy(visitors.slice(0, 40))
  expect(again.map((a) => a.body.order_id)).toEqual([...before, ...away].map((a) => a.body.order_id))
  expect(again.every((a) => a.headers.get('idempotency-replayed') === 'true')).toBe(true)
  expect(await origin.stock(sale)).toEqual(expect.objectContaining({ total: 40, available: 0, held: 40, sold: 0 }))
  const client = new Redis(redis.url)
  const waiting = () => client.hlen(`{${sale}}:unrecorded`)
  expect(await eventually(waiting, (intents) => intents === 0)).toBe(0)
  client.disconnect()
})

describe('where the ledger is behind a way that can fail', () => {
  const database = useDatabase()
  // The workers of one Redis share the sales of one ledger.
  const redis = useRedis()
  const way = useFlakyProxy(() => Number(new URL(database.url).port))
  const behind = useOwnOrigin(() => ({ databaseUrl: way.through(database.url), redisUrl: redis.url }))

  test('its host vanishes without a word: what was taken meanwhile is recorded on new connections', async () => {
    const sale = await behind.sale({ total: 40, hold_seconds: 300 })
    const buy = () => Promise.all(Array.from({ length: 10 }, () => behind.checkout(sale)))
    expect((await buy()).map((a) => a.status)).toEqual(Array(10).fill(201))
    way.vanish()
    const away = await buy()
    expect(away.map((a) => a.status)).toEqual(Array(10).fill(202))
    const recorded = async () => {
      const ids = away.map((a) => String(a.body.order_id))
      return (await behind.sql()`select 1 from orders where order_id = any(${ids}::uuid[])`).length
    }
    expect(await eventually(recorded, (orders) => orders === 10, 120_000)).toBe(10)
    expect((await buy()).map((a) => a.status)).toEqual(Array(10).fill(201))
  })
})
