/** An origin whose provider takes few calls a second: payments are the limit of the sale. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { useDatabase, useRedis } from '../../test/lib/servers.ts'
import { record } from '../ledger/record.ts'

const PER_SECOND = 20
const BUYERS = 30
const HOLD_SECONDS = 2
const BUDGET = '{payments:sandbox}:budget'
const [database, server] = [useDatabase(), useRedis()]
const stores = () => ({ databaseUrl: database.url, redisUrl: server.url })
const rate = String(PER_SECOND)
const origin = useOwnOrigin(stores, { PAYMENTS_PER_SECOND: rate, SANDBOX_CALLS_PER_SECOND: rate })

test('no buyer with a submitted card loses their unit, and nobody is called whose charge would be late', async () => {
  const redis = new Redis(server.url)
  onTestFinished(() => redis.disconnect())
  const [sale, other] = [await origin.sale({ total: BUYERS }), await origin.sale({ hold_seconds: HOLD_SECONDS })]
  const room = async () => {
    const { body } = await origin.call('GET', `/internal/sales/${other}`, { token: origin.edgeToken })
    return (body as { admission: { max_inside: number } }).admission.max_inside
  }
  const IN_TIME = (PER_SECOND * HOLD_SECONDS) / 2
  expect(await room()).toBe(IN_TIME)
  const statuses = () =>
    origin.sql()`select status, count(*)::int as orders from orders where sale_id = ${sale} group by status`
  // No charge is made for now, and all holds end.
  await redis.hset(BUDGET, 'tokens', -1_000_000)
  const buyer = () => ({ ...reservationOf(sale), visitor: randomUUID(), method: 'pm_ok' })
  await record(origin.sql(), sale, Array.from({ length: BUYERS }, buyer), false)
  await expect.poll(statuses).toEqual([{ status: 'paying', orders: BUYERS }])
  await origin.sql()`update orders set reserved_until = now() where sale_id = ${sale}`
  await expect.poll(room).toBe(0)

  await redis.del(BUDGET)
  await expect.poll(statuses).toEqual([{ status: 'confirmed', orders: BUYERS }])
  await expect.poll(room).toBe(IN_TIME)
  const metrics = String((await origin.ops('/metrics')).body.text)
  expect(Number(/^provider_calls_total\{kind="charge"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(BUYERS)
})
