import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger, useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { findOrder, productsWithOverdueHolds } from '../ledger/order-statements.ts'
import { beginPayments } from '../ledger/payment-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { defineScripts, type Store } from '../stock/scripts.ts'
import { holdPauses, noteReach } from './hold-pause.ts'

const sql = await useLedger()
const server = useRedis()
let redis: Store
beforeAll(() => {
  redis = defineScripts(new Redis(server.url))
})
afterAll(() => redis.disconnect())

/** A process that serves buyers, and has not heard of the ledger for so long. */
function serveBuyers(silentMs: number) {
  const sales = { isLedgerUnresponsive: () => silentMs > 2_000, ledgerSilentMs: () => silentMs }
  const actor = noteReach({ redis, sales, log: pino({ level: 'silent' }), metrics: createMetrics() })
  actor.start()
  onTestFinished(() => actor.stop())
}
const pauses = () =>
  sql<{ seconds: number }[]>`select extract(epoch from now() - began_at)::int as seconds from hold_pauses`

test('holds stand still while no process of buyers reaches the ledger, and end later by as much', async () => {
  const reservation = reservationOf('sale')
  await writeSale(sql, 'sale', saleOf(5))
  await record(sql, 'sale', [reservation, { ...reservationOf('sale'), visitor: 'w' }], false)
  const round = holdPauses({ sql, redis })
  await round()
  expect(await pauses()).toEqual([])

  serveBuyers(600_000)
  const isStopped = async () => {
    await round()
    return (await pauses()).length === 1
  }
  await expect.poll(isStopped).toBe(true)
  // They are over by any other clock, and were not when this one stopped.
  await sql`update orders set created_at = now() - interval '1 hour', reserved_until = now() - interval '5 minutes'`
  const [before] = await sql<{ reserved_until: Date }[]>`select reserved_until from orders`
  expect(await productsWithOverdueHolds(sql)).toEqual([])
  expect((await findOrder(sql, reservation.order))?.left_ms).toBeGreaterThan(0)
  // The first process that is back begins the payment before any worker knows of the pause.
  expect(await beginPayments(sql, [{ order: reservation.order, method: 'pm_ok' }])).toMatchObject([
    { status: 'paying' },
  ])

  serveBuyers(0)
  await expect.poll(isStopped).toBe(false)
  const stoodMs = 600_000
  const after = await sql<{ reserved_until: Date }[]>`select reserved_until from orders`
  expect(after).toHaveLength(2)
  for (const { reserved_until } of after)
    expect(reserved_until.getTime()).toBeGreaterThanOrEqual((before?.reserved_until.getTime() ?? 0) + stoodMs)
  // One process in two does not reach it: payment is taken by the other.
  await round()
  expect(await pauses()).toEqual([])
})
