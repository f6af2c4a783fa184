/**
 * Publishes the phases that a sale reaches by time or by stock: opened, sold out, restocked, ended. Operators'
 * changes are published by the statement that makes them.
 */
import type { Sql } from '../ledger/connection.ts'
import { publishPhase } from './sale-queries.ts'
import { phaseEvents, phaseOf } from './sale-state.ts'
import type { SaleWork } from './sale-work.ts'
import type { Sales } from './sales.ts'

/** Several workers may run this at the same time, because the ledger publishes each change once. */
export async function publishPhases({ sql, sales, work }: PhaseDeps): Promise<void> {
  const nowMs = sales.nowMs()
  const changed = sales.inUse().filter((sale) => {
    const { events, phase } = phaseEvents(sale.published_phase, phaseOf(sale, nowMs))
    return events.length > 0 || phase !== sale.published_phase
  })
  await work.each('sale events', changed, ({ sale_id }) => publishPhase(sql, sale_id))
}

interface PhaseDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'inUse' | 'nowMs'>
  /** A sale whose row is locked delays no other one. */
  readonly work: Pick<SaleWork, 'each'>
}
