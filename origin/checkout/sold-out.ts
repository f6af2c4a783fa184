/**
 * Who is told "sold out" from memory. When every unit of a sale is sold nobody can come to an order of it any more: of those
 * who ask then, which may be nearly all there are, only they have anything to be found who have had an order by then. Their
 * names are read once; everyone else is answered without a question to either store.
 */
import type { Logger } from 'pino'
import type { Sql } from '../ledger/connection.ts'
import { buyersOf } from '../ledger/orders.ts'
import type { SaleRow } from '../ledger/sales.ts'
import { phaseOf, type Sales } from '../sales/sales.ts'

/** Names kept, of some 100 bytes each, of all sales; the buyers of a sale that has more are looked for in the stores. */
const MAX_NAMES = 250_000
/** Names that could not be read are read again after so long. */
const AGAIN_MS = 1_000

interface Closed {
  /** The row by which the stock was compared last, and the stock: with another, orders may be made again. */
  row: SaleRow
  readonly stock: string
  /** Products of which the fast gate has nothing either. */
  readonly emptied: Set<string>
  /** Who has had an order, whatever has become of it; null until that is known. */
  buyers: ReadonlySet<string> | null
}

interface SoldOutDeps {
  readonly sql: Sql
  readonly sales: Sales
  readonly log: Logger
}

export class SoldOut {
  readonly #deps: SoldOutDeps
  /** By sale, the one learnt first first. */
  readonly #closed = new Map<string, Closed>()

  constructor(deps: SoldOutDeps) {
    this.#deps = deps
  }

  /** True where a visitor can have no order of a sale, nor get one of this product. */
  isAllFor({ visitor, product }: { visitor: string; product: string }, sale: SaleRow): boolean {
    const closed = this.#closed.get(sale.sale_id)
    if (!closed || !this.#isSoldOut(sale)) return false
    if (closed.row !== sale) {
      if (closed.stock !== stockOf(sale)) {
        this.#closed.delete(sale.sale_id)
        return false
      }
      closed.row = sale
    }
    return closed.buyers !== null && closed.emptied.has(product) && !closed.buyers.has(visitor)
  }

  /** Notes what somebody has heard from the fast gate: of a product it has nothing, neither to sell nor promised. */
  emptied(product: string, sale: SaleRow): void {
    if (!this.#isSoldOut(sale)) return
    const known = this.#closed.get(sale.sale_id)
    if (known) return void known.emptied.add(product)
    const closed: Closed = { row: sale, stock: stockOf(sale), emptied: new Set([product]), buyers: null }
    this.#closed.set(sale.sale_id, closed)
    this.#learn(sale.sale_id, closed).catch((error) => {
      this.#deps.log.warn({ sale: sale.sale_id, error: String(error) }, 'who has bought cannot be read')
      setTimeout(() => {
        if (this.#closed.get(sale.sale_id) === closed) this.#closed.delete(sale.sale_id)
      }, AGAIN_MS).unref()
    })
  }

  async #learn(sale: string, closed: Closed): Promise<void> {
    const buyers = new Set<string>()
    for await (const some of buyersOf(this.#deps.sql, sale)) {
      for (const buyer of some) buyers.add(buyer)
      if (buyers.size > MAX_NAMES) return
    }
    closed.buyers = buyers
    let names = 0
    for (const [other, { buyers }] of [...this.#closed].reverse()) {
      names += buyers?.size ?? 0
      if (names > MAX_NAMES) this.#closed.delete(other)
    }
  }

  /** While the ledger is silent nobody here hears of a restock. */
  #isSoldOut(sale: SaleRow): boolean {
    const { sales } = this.#deps
    return !sales.isLedgerUnresponsive() && phaseOf(sale, sales.nowMs()) === 'sold_out'
  }
}

/**
 * Where both are as they were, nobody has come to a unit meanwhile: only who had an order that came to nothing, while a total
 * was higher that was lowered again, is told "sold out" instead of that.
 */
const stockOf = ({ products }: SaleRow) =>
  JSON.stringify(products.map(({ product_id, total, sold }) => [product_id, total, sold]))
