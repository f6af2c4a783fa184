/**
 * The ledger's host disappears without closing its connections, which hang until the driver's time limit. Orders that
 * were accepted meanwhile are recorded on new connections.
 */
import { expect, test } from 'vitest'
import { eventually } from '../lib/eventually.ts'
import { useFlakyProxy } from '../lib/flaky-proxy.ts'
import { useOwnOrigin } from '../lib/origin-process.ts'
import { useDatabase, useRedis } from '../lib/servers.ts'
import { POLL_WITHIN_MS } from '../run/patience.ts'

const database = useDatabase()
const redis = useRedis()
const way = useFlakyProxy(() => Number(new URL(database.url).port))
const origin = useOwnOrigin(() => ({ databaseUrl: way.through(database.url), redisUrl: redis.url }))

test('a ledger that vanishes takes no promised order with it', async () => {
  const sale = await origin.sale({ total: 40, hold_seconds: 3_600 })
  const buy = async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => origin.checkout(sale)))
    return {
      statuses: new Set(answers.map(({ status }) => status)),
      ids: answers.map(({ body }) => body.order_id ?? ''),
    }
  }
  expect((await buy()).statuses).toEqual(new Set([201]))
  way.vanish()
  const { statuses, ids } = await buy()
  expect(statuses).toEqual(new Set([202]))
  const recorded = async () => (await origin.sql()`select 1 from orders where order_id = any(${ids}::uuid[])`).length
  expect(await eventually(recorded, (orders) => orders === 10, 3 * POLL_WITHIN_MS)).toBe(10)
  expect((await buy()).statuses).toEqual(new Set([201]))
})
