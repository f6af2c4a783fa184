/** What the edge, operators and monitors read while the stores are away: first Redis, then Postgres, then both. */
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { startPostgres } from '../dev/servers/postgres.ts'
import { startRedis } from '../dev/servers/redis.ts'
import type { LiveReading } from '../shared/api/live.ts'
import { ADMIN_TOKEN, useOwnOrigin } from '../test/lib/origin-process.ts'
import { saleOf } from '../test/lib/samples.ts'
import { useReturning } from '../test/lib/servers.ts'

const [ledger, gate] = await Promise.all([useReturning(startPostgres), useReturning(startRedis)])
const origin = useOwnOrigin(() => ({ databaseUrl: ledger.url, redisUrl: gate.url }))

const edge = (sale: string) => origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
const operator = (sale: string) => origin.admin('GET', `/sales/${sale}`)
const edgeReads = (sale: string, answer: object) => expect.poll(() => edge(sale)).toMatchObject(answer)
const metrics = async () => String((await origin.ops('/metrics')).body.text)
const storesUp = async () =>
  [...(await metrics()).matchAll(/^store_up\{store="(\w+)"\} 1$/gm)].map(([, store]) => store)

/** A reader of a sale as the console of a signed-in operator shows it. */
async function consoleOf(sale: string) {
  const signedIn = await origin.call('POST', '/console/session', { body: { key: ADMIN_TOKEN } })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  return async () => {
    const { body } = await origin.call('GET', `/admin/sales/${sale}/live`, { headers: { cookie } })
    const { minutes, ...reading } = body as never as LiveReading
    return { ...reading, reserved: minutes.reduce((sum, { counts }) => sum + (counts.reserved ?? 0), 0) }
  }
}

test('a sale goes on without a store, and each reader learns which one is away', async () => {
  const sale = await origin.sale({ total: 7 })
  await origin.checkout(sale)
  const read = await consoleOf(sale)
  const reads = (answer: object) => expect.poll(read).toMatchObject(answer)
  await reads({ health: { ledger: true, redis: true, workers: 1 }, reserved: 1 })
  await edgeReads(sale, { body: { arrivals: 1, counted: true, health: 'ok' } })
  await expect.poll(() => operator(sale)).toMatchObject({ body: { health: 'ok' } })

  // Without Redis arrivals are not counted, and an operator's change is made once.
  await gate.kill()
  await reads({
    health: { ledger: true, redis: false, workers: null },
    backlogs: { intents: null },
    summary: {
      level: 'bad',
      needs: expect.arrayContaining([expect.objectContaining({ what: 'Redis does not answer.' })]),
    },
  })
  expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
  expect(await metrics()).toMatch(/^degraded_total\{without="gate"\} [1-9]/m)
  await edgeReads(sale, { body: { arrivals: 1, counted: false, health: 'ok' } })
  await expect.poll(storesUp).toEqual(['ledger'])
  const restocked = await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 5 })
  expect(restocked).toMatchObject({ status: 200, body: { products: [{ total: 12 }] } })
  expect(await origin.stock(sale)).toMatchObject({ total: 12, available: 10 })
  for (const status of [201, 200])
    expect(await origin.admin('PUT', '/sales/created-meanwhile', saleOf(10))).toMatchObject({ status })
  await gate.start()
  await edgeReads(sale, { body: { arrivals: 2, counted: true } })
  await expect.poll(storesUp).toEqual(['ledger', 'redis'])
  await reads({ health: { ledger: true, redis: true, workers: 1 }, reserved: 2 })

  // Without Postgres what was known is shown, and orders are promised.
  await ledger.kill()
  await reads({
    health: { ledger: false, redis: true },
    reserved: 2,
    summary: {
      level: 'bad',
      needs: expect.arrayContaining([expect.objectContaining({ what: 'Postgres does not answer.' })]),
    },
    state: { products: [{ total: 12 }] },
  })
  const slow = { status: 200, body: { health: 'slow' } }
  await edgeReads(sale, { ...slow, body: { health: 'slow', phase: 'open' } })
  // The state is of an earlier read.
  expect((await edge(sale)).body.read_ago_ms).toBeGreaterThan(2_000)
  expect(await operator(sale)).toMatchObject(slow)
  await expect.poll(storesUp).toEqual(['redis'])
  expect(await origin.checkout(sale)).toMatchObject({ status: 202 })

  // Without both, since Redis is full or away, the edge gets try-again.
  const neither = { status: 503, body: { type: '/problems/try-again' } }
  const client = new Redis(gate.url)
  await client.config('SET', 'maxmemory', '1')
  expect(await origin.checkout(sale)).toMatchObject({ status: 503 })
  await edgeReads(sale, neither)
  await client.config('SET', 'maxmemory', '0')
  await edgeReads(sale, slow)
  client.disconnect()
  await gate.kill()
  await edgeReads(sale, neither)
  await expect.poll(storesUp).toEqual([])
  await gate.start()
  await edgeReads(sale, slow)
  await ledger.start()
  await edgeReads(sale, { status: 200, body: { health: 'ok' } })
  // What was promised meanwhile counts as reserved.
  await reads({ health: { ledger: true, redis: true }, reserved: 3 })
})
