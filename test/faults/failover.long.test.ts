/**
 * Redis fails over as managed services do: the old primary becomes a replica and closes no connection, and the
 * address leads to the new primary. The gate is used again, and every unit is sold once.
 */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import { useFlakyProxy } from '../lib/flaky-proxy.ts'
import { useOwnOrigin } from '../lib/origin-process.ts'
import { useDatabase, useRedis } from '../lib/servers.ts'

const old = useRedis({ args: ['--repl-diskless-sync-delay', '0'] })
const next = useRedis()
const database = useDatabase()
let primary = old
const way = useFlakyProxy(() => primary.port)
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: way.through(old.url) }))

let [before, after]: Redis[] = []
beforeAll(() => {
  before = new Redis(old.url)
  after = new Redis(next.url)
})
afterAll(() => {
  for (const client of [before, after]) client?.disconnect()
})

test('a failover that closes no connection: the gate is in use again, and every unit is sold once', async () => {
  const sale = await origin.sale({ total: 20, hold_seconds: 3_600 })
  const buy = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => origin.checkoutDecided(sale)))
    return answers.filter(({ status }) => status === 201).length
  }
  const stockOf = (server: Redis | undefined) => server?.hgetall(`{${sale}}:stock`)
  expect(await buy(4)).toBe(4)
  await after?.replicaof(LOOPBACK, old.port)
  await expect.poll(() => stockOf(after)).toMatchObject({ 'available one': '16' })

  await after?.replicaof('NO', 'ONE')
  await before?.replicaof(LOOPBACK, next.port)
  primary = next
  expect(await buy(4)).toBe(4)
  // The value names the run of a server. A gate of another run is not used until it is rebuilt.
  const run = /^run_id:(\w+)/m.exec((await after?.info('server')) ?? '')?.[1] ?? ''
  await expect.poll(() => stockOf(after)).toMatchObject({ 'available one': '12', run: expect.stringContaining(run) })
  await expect
    .poll(async () => String((await origin.ops('/metrics')).body.text))
    .toContain(`gate_open{sale="${sale}"} 1`)
  expect(await buy(4)).toBe(4)
  expect(await stockOf(after)).toMatchObject({ 'available one': '8' })
  expect(await buy(20)).toBe(8)
  expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 20 })
})
