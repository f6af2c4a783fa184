/**
 * The hold sweeper expires orders that were not paid in time and returns their units. The fast gate names overdue
 * holds, by Redis's clock, and the ledger those that the gate does not know. The ledger decides by its own clock,
 * from which buyers got their deadline: a unit returns once, and not early, with any number of sweepers and clocks.
 */
import type { Sql } from '../ledger/connection.ts'
import { findOrders, overdueHolds, productsWithOverdueHolds } from '../ledger/order-statements.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import type { SaleMemory } from '../sales/sale-memory.ts'
import type { SaleWork } from '../sales/sale-work.ts'
import type { Sales } from '../sales/sales.ts'
import type { Gate, Gates } from '../stock/gate/gate.ts'
import { holdEnd } from '../stock/gate/hold-ends.ts'
import type { Orders } from './orders.ts'

const BATCH = 500
/** A gate without a hold that ends sooner is asked again after this. No hold is shorter. */
const QUIET_MS = 800

interface SweeperDeps {
  readonly sql: Sql
  readonly orders: Pick<Orders, 'expire'>
  readonly work: Pick<SaleWork, 'each'>
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

/**
 * Rounds that end the holds that the gates name, all of them in one round: a failure elsewhere may delay a sale's
 * next round. A gate is asked when its next hold may end.
 */
export function gateSweeps(
  deps: SweeperDeps & { readonly sales: Pick<Sales, 'inUse'>; readonly gates: Gates; readonly memory: SaleMemory },
) {
  const { work, sales, gates, runtime = machine } = deps
  /** Until when no hold of a sale ends. */
  const quietUntilMs = deps.memory.map<number>('quiet gates')
  return async () => {
    for (const [saleId, untilMs] of quietUntilMs) if (runtime.monotonicMs() >= untilMs) quietUntilMs.delete(saleId)
    const due = sales.inUse().filter(({ sale_id }) => !quietUntilMs.has(sale_id))
    await work.each('hold sweeper', due, async ({ sale_id }) => {
      const gate = gates.of(sale_id)
      for (;;) {
        const { orders, nextInMs } = await gate.due(BATCH)
        if (orders.length > 0) await sweep(deps, gate, orders)
        if (orders.length === BATCH) continue
        quietUntilMs.set(sale_id, runtime.monotonicMs() + Math.min(nextInMs ?? QUIET_MS, QUIET_MS))
        return
      }
    })
  }
}

/**
 * Ends those holds that the ledger sees overdue too. The gate releases holds whose order has already ended, and asks
 * again later about the remaining ones: they have time left, are being paid, or are not recorded yet.
 */
async function sweep({ sql, orders }: SweeperDeps, gate: Gate, due: readonly string[]): Promise<void> {
  const rows = await findOrders(sql, due)
  const overdue = rows.filter((o) => o.status === 'reserved' && o.left_ms <= 0).map((o) => o.order_id)
  await orders.expire(overdue)
  const ended = rows.filter((o) => o.status !== 'reserved' && o.status !== 'paying')
  await gate.settle(ended.map(holdEnd))
  const gone = new Set([...overdue, ...ended.map((o) => o.order_id)])
  const leftMs = new Map(rows.filter((o) => o.left_ms > 0).map((o) => [o.order_id, Math.ceil(o.left_ms)]))
  const remaining = due.filter((order) => !gone.has(order))
  await gate.postpone(remaining.map((order) => ({ order, forMs: leftMs.get(order) })))
}

/** Ends holds by the ledger's clock, product by product, so that none waits for the row lock of another. */
export async function sweepLedger({ sql, orders, work }: SweeperDeps): Promise<void> {
  await work.each('ledger sweeper', await productsWithOverdueHolds(sql), async (product) => {
    for (let batch = BATCH; batch === BATCH; ) {
      const overdue = await overdueHolds(sql, product, BATCH)
      batch = overdue.length
      await orders.expire(overdue)
    }
  })
}
