/**
 * The hold sweeper: who has not paid in time gives the unit back. It asks the fast gate which holds are over, by Redis's
 * clock, and now and then the ledger, for holds the gate does not know. The ledger decides, by its own clock, which is
 * the one that buyers were told; so however many sweepers there are, and whatever their clocks say, a unit returns once
 * and not before its time.
 */
import type { Deps } from './deps.ts'
import type { Bucket } from './gate/bucket.ts'
import type { OrderRow } from './ledger/ledger.ts'
import { holdEnd } from './orders.ts'
import { productsInUse } from './sales.ts'

const BATCH = 500
/** A hold that the ledger sees over by so much, and the gate did not name, is one that the gate does not know. */
const LEDGER_GRACE_MS = 1_000

/** Ends holds that are over; true if there may be more. */
export async function sweepGate(deps: Deps): Promise<boolean> {
  let more = false
  for (const { sale, product } of productsInUse(deps.sales)) {
    for (const bucket of deps.checkout.gate(sale, product).buckets) {
      const due = await bucket.due(BATCH)
      if (due.length === 0) continue
      more ||= due.length === BATCH
      await sweep(deps, bucket, due)
    }
  }
  return more
}

/**
 * Holds that the gate says are over. Those of the ledger's opinion end. Of the others some have longer to go, some are
 * being paid or not recorded yet (asked again in a while), and some have ended without the gate having heard of it.
 */
async function sweep(deps: Deps, bucket: Bucket, due: readonly string[]): Promise<void> {
  const rows = await deps.sql<(OrderRow & { left_ms: number })[]>`
    select *, ceil(extract(epoch from reserved_until - clock_timestamp()) * 1000)::float8 as left_ms
    from orders where order_id = any(${due as string[]}::uuid[])`
  const over = rows.filter((o) => o.status === 'reserved' && o.left_ms <= 0).map((o) => o.order_id)
  await deps.orders.expire(over)
  const ended = rows.filter((o) => o.status !== 'reserved' && o.status !== 'paying')
  await bucket.settle(
    ended.map((o) => holdEnd(o, o.status === 'confirmed' || o.status === 'fulfilled' ? 'sell' : 'release')),
  )
  const gone = new Set([...over, ...ended.map((o) => o.order_id)])
  const leftMs = new Map(rows.filter((o) => o.left_ms > 0).map((o) => [o.order_id, o.left_ms]))
  await bucket.postpone(
    due.filter((order) => !gone.has(order)).map((order) => ({ order, forMs: leftMs.get(order) })),
  )
}

/** Ends holds by the ledger's clock; true if there may be more. */
export async function sweepLedger(deps: Deps): Promise<boolean> {
  const due = await deps.sql<{ order_id: string }[]>`
    select order_id from orders
    where status = 'reserved' and reserved_until < clock_timestamp() - ${LEDGER_GRACE_MS} * interval '1 millisecond'
    order by reserved_until limit ${BATCH}`
  await deps.orders.expire(due.map((row) => row.order_id))
  return due.length === BATCH
}
