/**
 * Publishes the phases that a sale reaches by time or by stock: opened, sold out, restocked, ended. Operators'
 * changes are published by the statement that makes them.
 */
import type { Sql } from '../ledger/connection.ts'
import { publishPhase } from './sale-queries.ts'
import { phaseEvents, phaseOf } from './sale-state.ts'
import type { Sales } from './sales.ts'

/** Several workers may run this at the same time, because the ledger publishes each change once. */
export async function publishPhases(sql: Sql, sales: Sales): Promise<void> {
  const nowMs = sales.nowMs()
  for (const sale of sales.inUse()) {
    const { events, phase } = phaseEvents(sale.published_phase, phaseOf(sale, nowMs))
    if (events.length > 0 || phase !== sale.published_phase) await publishPhase(sql, sale.sale_id)
  }
}
