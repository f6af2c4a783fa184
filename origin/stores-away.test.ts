/** What the edge, operators and monitors read while the stores are away: first Redis, then Postgres, then both. */
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { startPostgres } from '../dev/servers/postgres.ts'
import { startRedis } from '../dev/servers/redis.ts'
import type { LiveReading } from '../shared/api/live.ts'
import { ADMIN_TOKEN, useOwnOrigin } from '../test/origin-process.ts'
import { useReturning } from '../test/servers.ts'

const [ledger, gate] = await Promise.all([useReturning(startPostgres), useReturning(startRedis)])
const origin = useOwnOrigin(() => ({ databaseUrl: ledger.url, redisUrl: gate.url }))

const edge = (sale: string) => origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
const operator = (sale: string) => origin.admin('GET', `/sales/${sale}`)
const edgeReads = (sale: string, answer: object) => expect.poll(() => edge(sale)).toMatchObject(answer)
const stores = async () => {
  const text = String((await origin.ops('/metrics')).body.text)
  return [...text.matchAll(/^store_up\{store="(\w+)"\} 1$/gm)].map(([, store]) => store)
}

describe('a sale goes on, and its state says how well:', () => {
  test('the console says which store is away, shows what was known, and lets operators in', async () => {
    const sale = await origin.sale({ total: 7 })
    await origin.checkout(sale)
    const signedIn = await fetch(`${origin.url()}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: ADMIN_TOKEN }),
    })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const read = async () => {
      const response = await fetch(`${origin.url()}/admin/sales/${sale}/live`, { headers: { cookie } })
      const reading = (await response.json()) as LiveReading & { state: object }
      return { ...reading, reserved: reading.minutes.reduce((sum, { counts }) => sum + (counts.reserved ?? 0), 0) }
    }
    const reads = (answer: object) => expect.poll(read).toMatchObject(answer)
    await reads({ health: { ledger: true, redis: true, workers: 1 }, reserved: 1 })
    await ledger.kill()
    await reads({
      health: { ledger: false, redis: true },
      reserved: 1,
      summary: { level: 'bad', text: expect.stringContaining('Postgres') },
      state: { products: [{ total: 7 }] },
    })
    expect(await origin.checkout(sale)).toMatchObject({ status: 202 })
    await ledger.start()
    await reads({ health: { ledger: true, redis: true } })
    // What was promised meanwhile counts as reserved.
    await reads({ reserved: 2 })
    await gate.kill()
    await reads({
      health: { ledger: true, redis: false, workers: null },
      backlogs: { intents: null },
      summary: { text: expect.stringContaining('Redis') },
    })
    await gate.start()
    await reads({ health: { ledger: true, redis: true, workers: 1 } })
  })

  test('without Redis, arrivals are not counted', async () => {
    const sale = await origin.sale()
    await edgeReads(sale, { body: { arrivals: 0, counted: true, health: 'ok' } })
    await gate.kill()
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    await edgeReads(sale, { body: { arrivals: 0, counted: false, health: 'ok' } })
    await expect.poll(stores).toEqual(['ledger'])
    await gate.start()
    await edgeReads(sale, { body: { arrivals: 1, counted: true } })
    await expect.poll(stores).toEqual(['ledger', 'redis'])
  })

  test('without Postgres its health is slow; without both stores the edge gets try-again', async () => {
    const sale = await origin.sale()
    const slow = { status: 200, body: { health: 'slow' } }
    const neither = { status: 503, body: { type: '/problems/try-again' } }
    await expect.poll(() => operator(sale)).toMatchObject({ body: { health: 'ok' } })
    await ledger.kill()
    await edgeReads(sale, { ...slow, body: { health: 'slow', phase: 'open' } })
    // The state is of an earlier read.
    expect((await edge(sale)).body.read_ago_ms).toBeGreaterThan(2_000)
    expect(await operator(sale)).toMatchObject(slow)
    await expect.poll(stores).toEqual(['redis'])

    const client = new Redis(gate.url)
    await client.config('SET', 'maxmemory', '1')
    expect(await origin.checkout(sale)).toMatchObject({ status: 503 })
    await edgeReads(sale, neither)
    await client.config('SET', 'maxmemory', '0')
    await edgeReads(sale, slow)
    client.disconnect()

    await gate.kill()
    await edgeReads(sale, neither)
    await expect.poll(stores).toEqual([])
    await gate.start()
    await edgeReads(sale, slow)
    await ledger.start()
    await edgeReads(sale, { status: 200, body: { health: 'ok' } })
  })
})
