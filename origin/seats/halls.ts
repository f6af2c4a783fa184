/** The halls of sales in memory, each read once for each version of its chart. */
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { Chart } from './chart.ts'
import { type ChartRow, readChart } from './seat-queries.ts'

/** Halls kept, the one used last stays longest: the largest have some 20 MB. */
const MAX_HALLS = 20

export interface Hall extends ChartRow {
  readonly chart: Chart
}

export class Halls {
  readonly #sql: Sql
  readonly #halls = new Map<string, { readonly version: number; readonly hall: Promise<Hall | null> }>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** The hall of a sale; null if it has none. Fails as the ledger does. */
  async of({ sale_id, chart_version: version }: Pick<SaleRow, 'sale_id' | 'chart_version'>): Promise<Hall | null> {
    if (version === null) return null
    const known = this.#halls.get(sale_id)
    this.#halls.delete(sale_id)
    const hall = known?.version === version ? known.hall : this.#read(sale_id)
    this.#halls.set(sale_id, { version, hall })
    const [oldest] = this.#halls.keys()
    if (oldest !== undefined && this.#halls.size > MAX_HALLS) this.#halls.delete(oldest)
    try {
      return await hall
    } catch (error) {
      if (this.#halls.get(sale_id)?.hall === hall) this.#halls.delete(sale_id)
      throw error
    }
  }

  async #read(saleId: string): Promise<Hall | null> {
    const row = await readChart(this.#sql, saleId)
    return row ? { ...row, chart: new Chart(row.seats, row.focalPoint) } : null
  }
}
