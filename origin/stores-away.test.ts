/** What the edge, operators and monitors read while the stores are away: first Redis, then Postgres, then both. */
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { startPostgres } from '../dev/postgres.ts'
import { startRedis } from '../dev/redis.ts'
import { eventually, useOrigin } from '../test/origin-process.ts'
import { useReturning } from '../test/servers.ts'

const [ledger, gate] = await Promise.all([useReturning(startPostgres), useReturning(startRedis)])
const origin = useOrigin(() => ({ databaseUrl: ledger.url, redisUrl: gate.url }))

const edge = (sale: string) => origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
const operator = (sale: string) => origin.admin('GET', `/sales/${sale}`)
const stores = async () => {
  const text = String((await origin.call('GET', '/metrics')).body.text)
  return [...text.matchAll(/^store_up\{store="(\w+)"\} 1$/gm)].map(([, store]) => store)
}

describe('a sale goes on, and its state says how well:', () => {
  test('without Redis, arrivals are not counted', async () => {
    const sale = await origin.sale()
    const counted = (is: boolean) =>
      eventually(
        () => edge(sale),
        ({ body }) => body.counted === is,
        8_000,
      )
    expect(await counted(true)).toMatchObject({ body: { arrivals: 0, counted: true, health: 'ok' } })
    await gate.kill()
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    expect(await counted(false)).toMatchObject({ body: { arrivals: 0, counted: false, health: 'ok' } })
    expect(await stores()).toEqual(['ledger'])
    await gate.start()
    expect(await counted(true)).toMatchObject({ body: { arrivals: 1, counted: true } })
    expect(await stores()).toEqual(['ledger', 'redis'])
  }, 40_000)

  test('without Postgres its health is slow; without both stores the edge gets try-again', async () => {
    const sale = await origin.sale()
    expect(await operator(sale)).toMatchObject({ body: { health: 'ok' } })
    await ledger.kill()
    const slow = await eventually(
      () => edge(sale),
      ({ body }) => body.health === 'slow',
    )
    expect(slow).toMatchObject({ status: 200, body: { health: 'slow', phase: 'open' } })
    // The state is of an earlier read.
    expect(slow.body.read_ago_ms).toBeGreaterThan(2_000)
    expect(await operator(sale)).toMatchObject({ status: 200, body: { health: 'slow' } })
    expect(await stores()).toEqual(['redis'])

    const status = (wanted: number) =>
      eventually(
        () => edge(sale),
        ({ status }) => status === wanted,
      )
    const neither = { status: 503, body: { type: '/problems/try-again' } }
    const client = new Redis(gate.url)
    await client.config('SET', 'maxmemory', '1')
    expect(await origin.checkout(sale)).toMatchObject({ status: 503 })
    expect(await status(503)).toMatchObject(neither)
    await client.config('SET', 'maxmemory', '0')
    expect(await status(200)).toMatchObject({ status: 200, body: { health: 'slow' } })
    client.disconnect()

    await gate.kill()
    expect(await status(503)).toMatchObject(neither)
    expect(await stores()).toEqual([])

    await gate.start()
    expect(await status(200)).toMatchObject({ status: 200, body: { health: 'slow' } })
    await ledger.start()
    expect(
      await eventually(
        () => edge(sale),
        ({ body }) => body.health === 'ok',
      ),
    ).toMatchObject({ status: 200, body: { health: 'ok' } })
  }, 60_000)
})
