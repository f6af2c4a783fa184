/**
 * The hold sweeper: who has not paid in time gives the unit back. It asks the fast gate which holds are over, by Redis's
 * clock, and now and then the ledger, for holds the gate does not know; the ledger decides, so that however many
 * sweepers there are, a unit returns once.
 */
import type { Deps } from './deps.ts'

const BATCH = 500
/** A hold that the ledger sees over by so much, and the gate did not name, is one that the gate does not know. */
const LEDGER_GRACE_MS = 1_000

/** Ends holds that are over; true if there may be more. */
export async function sweepGate(deps: Deps): Promise<boolean> {
  let more = false
  for (const { sale_id, products } of deps.sales.all()) {
    for (const { product_id } of products) {
      const gate = deps.checkout.gate(sale_id, product_id)
      const due = await gate.due(BATCH)
      if (due.length === 0) continue
      const expired = new Set((await deps.orders.expire(due)).map((order) => order.order_id))
      more ||= due.length === BATCH
      await forget(
        deps,
        sale_id,
        product_id,
        due.filter((order) => !expired.has(order)),
      )
    }
  }
  return more
}

/**
 * Holds that are over at the gate and not expired in the ledger: being paid (asked again in a while), ended without the
 * gate having heard of it (ended now), or not recorded yet (their intent is dealt with first).
 */
async function forget(deps: Deps, sale: string, product: string, orders: readonly string[]): Promise<void> {
  if (orders.length === 0) return
  const gate = deps.checkout.gate(sale, product)
  const rows = await deps.sql<
    { order_id: string; visitor: string; quantity: number; idempotency_key: string; status: string }[]
  >`
    select order_id, visitor, quantity, idempotency_key, status from orders where order_id = any(${orders as string[]}::uuid[])`
  const ended = rows.filter((o) => o.status !== 'reserved' && o.status !== 'paying')
  await gate.settle(
    ended.map((o) => ({
      order: o.order_id,
      visitor: o.visitor,
      quantity: o.quantity,
      key: o.idempotency_key,
      how: o.status === 'confirmed' || o.status === 'fulfilled' ? ('sell' as const) : ('release' as const),
    })),
  )
  const endedIds = new Set(ended.map((o) => o.order_id))
  await gate.postpone(orders.filter((order) => !endedIds.has(order)))
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
