/** How an origin starts and stops on a ledger that is silent, locked or lost meanwhile, and with changed keys. */
import { expect, test } from 'vitest'
import { newKeySet } from '../shared/keys.ts'
import { useFlakyProxy } from '../test/lib/flaky-proxy.ts'
import { useOwnOrigin } from '../test/lib/origin-process.ts'
import { useDatabase, useRedis } from '../test/lib/servers.ts'
import { ORDER_KEYS } from '../test/run/one-origin.ts'

const ledger = useDatabase()
const redis = useRedis()
const way = useFlakyProxy(() => Number(new URL(ledger.url).port))
let isDirect = true
const env: Record<string, string> = {}
const stores = () => ({ databaseUrl: isDirect ? ledger.url : way.through(ledger.url), redisUrl: redis.url })
const origin = useOwnOrigin(stores, () => env)

test('the key of order tokens is changed without losing an order', async () => {
  const bought = async () => (await origin.checkout(await origin.sale())).body
  const read = async ({ order_id, order_token = '' }: Awaited<ReturnType<typeof bought>>) =>
    (await origin.call('GET', `/orders/${order_id}`, { token: order_token })).status
  const startWith = (...keys: object[]) => {
    env.ORDER_KEYS = JSON.stringify({ keys })
    return origin.restart()
  }
  const [next] = newKeySet().keys
  const before = await bought()
  await startWith(next ?? {}, ...ORDER_KEYS.keys)
  const after = await bought()
  expect([await read(before), await read(after)]).toEqual([200, 200])
  await startWith(next ?? {})
  expect([await read(before), await read(after)]).toEqual([429, 200])
})

test('an origin that loses its connections while starting starts again', async () => {
  await origin.stop()
  isDirect = false
  let started = Promise.resolve()
  await origin.sql().begin(async (tx) => {
    await tx`lock table sales in access exclusive mode`
    started = origin.restart()
    const waiting = () => origin.sql()`
      select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'flash-sale-origin' and wait_event_type = 'Lock'`
    await expect.poll(waiting).toHaveLength(1)
    way.cut()
    await expect.poll(() => origin.log()).toContain('waiting for Postgres')
  })
  await started
  expect(await origin.checkout(await origin.sale())).toMatchObject({ status: 201 })
})

test('exits with the reason if Postgres is silent or keeps the migration lock, and stops in time', async () => {
  await origin.sql().begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('flash-sale migrations'))`
    await expect(origin.restart()).rejects.toThrow('(exit code 1): cannot start: the lock of the migrations is held by')
  })
  await origin.restart()
  way.lose('all')
  await origin.stop()
  expect(origin.log()).toContain('stop took too long')
  await expect(origin.restart()).rejects.toThrow('(exit code 1): cannot start: Postgres does not answer')
  way.back()
})
