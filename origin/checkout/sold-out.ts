/**
 * Answers "sold out" from memory. Once every unit of a sale is sold, only visitors with an earlier order have
 * anything to find. Their names are read once; everyone else is answered without asking either store.
 */
import type { Logger } from 'pino'
import type { Sql } from '../ledger/connection.ts'
import { buyersOf } from '../ledger/order-statements.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import { phaseOf } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'

/** Names in memory, of about 100 bytes each, of all sales. A sale with more buyers asks the stores. */
const MAX_NAMES = 250_000
const RETRY_MS = 1_000

interface ClosedSale {
  /** The row compared last, and its stock: whenever that has changed, there may be new orders. */
  row: SaleRow
  readonly stock: string
  /** Products of which the fast gate has nothing left either. */
  readonly empty: Set<string>
  /** Everyone who had an order, whatever its status; null until they are read. */
  buyers: ReadonlySet<string> | null
}

export class SoldOut {
  readonly #sql: Sql
  readonly #sales: Sales
  readonly #log: Logger
  readonly #runtime: Runtime
  /** The closed sales by id; the oldest entry is dropped first. */
  readonly #closed: PerSale<ClosedSale>

  constructor(sql: Sql, sales: Sales, memory: SaleMemory, log: Logger, runtime = machine) {
    this.#sql = sql
    this.#sales = sales
    this.#closed = memory.map('sold out')
    this.#log = log
    this.#runtime = runtime
  }

  /** True if the visitor has no order of the sale and cannot get one of this product. */
  isFor(sale: SaleRow, productId: string, visitor: string): boolean {
    if (!this.#closed.has(sale.sale_id) || !this.#isSoldOut(sale)) return false
    const closed = this.#known(sale)
    return closed?.buyers ? closed.empty.has(productId) && !closed.buyers.has(visitor) : false
  }

  /** Notes that the fast gate has nothing of a product, neither to sell nor held. */
  noteEmpty(sale: SaleRow, productId: string): void {
    if (!this.#isSoldOut(sale)) return
    const known = this.#known(sale)
    if (known) return void known.empty.add(productId)
    const closed: ClosedSale = { row: sale, stock: stockOf(sale), empty: new Set([productId]), buyers: null }
    this.#closed.set(sale.sale_id, closed)
    this.#loadBuyers(sale.sale_id, closed).catch((error) => {
      this.#log.warn({ sale: sale.sale_id, error: String(error) }, 'failed to load buyers')
      this.#runtime.after(RETRY_MS, () => {
        if (this.#closed.get(sale.sale_id) === closed) this.#closed.delete(sale.sale_id)
      })
    })
  }

  /** What is known of the sale as it is now; what was known of another stock is forgotten. */
  #known(sale: SaleRow): ClosedSale | undefined {
    const closed = this.#closed.get(sale.sale_id)
    if (!closed || closed.row === sale) return closed
    if (closed.stock !== stockOf(sale)) {
      this.#closed.delete(sale.sale_id)
      return undefined
    }
    closed.row = sale
    return closed
  }

  async #loadBuyers(saleId: string, closed: ClosedSale): Promise<void> {
    const buyers = new Set<string>()
    for await (const some of buyersOf(this.#sql, saleId)) {
      for (const buyer of some) buyers.add(buyer)
      if (buyers.size > MAX_NAMES) return
    }
    closed.buyers = buyers
    let names = 0
    for (const [other, { buyers }] of [...this.#closed].reverse()) {
      if (buyers) names += buyers.size
      if (names > MAX_NAMES) this.#closed.delete(other)
    }
  }

  /** While the ledger is unresponsive, this process would miss a restock. */
  #isSoldOut(sale: SaleRow): boolean {
    return !this.#sales.isLedgerUnresponsive() && phaseOf(sale, this.#sales.nowMs()) === 'sold_out'
  }
}

/**
 * While no row of a product has changed, nobody got a unit. The counts alone do not say so: a unit that came back and
 * was sold again makes them equal.
 */
const stockOf = ({ products, products_version }: SaleRow) =>
  JSON.stringify([products_version, ...products.map((p) => p.product_id)])
