/**
 * The hold sweeper: who has not paid in time gives the unit back. It asks the fast gate which holds are over, by Redis's
 * clock, and now and then the ledger, for holds the gate does not know. The ledger decides, by its own clock, which is
 * the one that buyers were told; so however many sweepers there are, and whatever their clocks say, a unit returns once
 * and not before its time.
 */
import { isSold } from '../../shared/order-status.ts'
import type { Deps } from '../deps.ts'
import type { OrderRow } from '../ledger/orders.ts'
import { productsInUse } from '../sales/sales.ts'
import type { Gate } from '../stock/gate.ts'
import { holdEnd } from './orders.ts'

const BATCH = 500
/** A hold that the ledger sees over by so much, and the gate did not name, is one that the gate does not know. */
const LEDGER_GRACE_MS = 1_000

/** Ends holds that are over, of each product all there are: its next turn comes late when another's has failed. */
export async function sweepGate(deps: Deps): Promise<void> {
  await deps.work.each('hold sweeper', productsInUse(deps.sales), async ({ sale, product }) => {
    const gate = deps.gates.of(sale, product)
    for (let batch = BATCH; batch === BATCH; ) {
      const due = await gate.due(BATCH)
      batch = due.length
      if (batch > 0) await sweep(deps, gate, due)
    }
  })
}

/**
 * Holds that the gate says are over. Those of the ledger's opinion end. Of the others some have longer to go, some are
 * being paid or not recorded yet (asked again in a while), and some have ended without the gate having heard of it.
 */
async function sweep(deps: Deps, gate: Gate, due: readonly string[]): Promise<void> {
  const rows = await deps.sql<(OrderRow & { left_ms: number })[]>`
    select *, ceil(extract(epoch from reserved_until - clock_timestamp()) * 1000)::float8 as left_ms
    from orders where order_id = any(${due as string[]}::uuid[])`
  const over = rows.filter((o) => o.status === 'reserved' && o.left_ms <= 0).map((o) => o.order_id)
  await deps.orders.expire(over)
  const ended = rows.filter((o) => o.status !== 'reserved' && o.status !== 'paying')
  await gate.settle(ended.map((o) => holdEnd(o, isSold(o.status) ? 'sell' : 'release')))
  const gone = new Set([...over, ...ended.map((o) => o.order_id)])
  const leftMs = new Map(rows.filter((o) => o.left_ms > 0).map((o) => [o.order_id, o.left_ms]))
  await gate.postpone(
    due.filter((order) => !gone.has(order)).map((order) => ({ order, forMs: leftMs.get(order) })),
  )
}

/** Ends holds by the ledger's clock, of each product that has any all there are: none waits for the row of another. */
export async function sweepLedger({ sql, orders, work }: Deps): Promise<void> {
  // By now(), and not clock_timestamp(), which is no bound that an index is searched by: all that live would be read.
  const isOver = () =>
    sql`status = 'reserved' and reserved_until < now() - ${LEDGER_GRACE_MS} * interval '1 millisecond'`
  const products = await sql<{ sale: string; product: string }[]>`
    select distinct sale_id as sale, product_id as product from orders where ${isOver()}`
  await work.each('ledger sweeper', products, async ({ sale, product }) => {
    for (let batch = BATCH; batch === BATCH; ) {
      const due = await sql<{ order_id: string }[]>`
        select order_id from orders where sale_id = ${sale} and product_id = ${product} and ${isOver()}
        order by reserved_until limit ${BATCH}`
      batch = due.length
      await orders.expire(due.map((o) => o.order_id))
    }
  })
}
