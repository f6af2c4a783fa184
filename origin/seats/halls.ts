/** The halls of sales in memory, each read once for each version of its chart. */
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Versions } from '../lib/versions.ts'
import type { SaleMemory } from '../sales/sale-memory.ts'
import { Chart } from './chart.ts'
import { type ChartRow, readChart } from './seat-queries.ts'

/** The largest have some 20 MB. */
const MAX_HALLS = 20

export interface Hall extends ChartRow {
  readonly chart: Chart
}

export class Halls {
  readonly #halls: Versions<Hall | null>

  constructor(sql: Sql, memory: SaleMemory) {
    this.#halls = new Versions(memory.map('halls'), MAX_HALLS, async (saleId) => {
      const row = await readChart(sql, saleId)
      return row ? { ...row, chart: new Chart(row.seats, row.focalPoint) } : null
    })
  }

  /** The hall of a sale; null if it has none. Fails as the ledger does. */
  async of({ sale_id, chart_version: version }: Pick<SaleRow, 'sale_id' | 'chart_version'>): Promise<Hall | null> {
    return version === null ? null : this.#halls.of(sale_id, version)
  }
}
