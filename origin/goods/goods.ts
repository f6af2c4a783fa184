/** The goods of sales in memory. Each version is read once. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Versions } from '../lib/versions.ts'
import { readGoods } from '../sales/goods-queries.ts'
import type { SaleMemory } from '../sales/sale-memory.ts'

/**
 * The memory is limited to this many documents, which have some kilobytes each and are never larger than the request
 * that wrote them.
 */
const MAX_SALES = 500

export class Goods {
  readonly #goods: Versions<GoodsDocument | null>

  constructor(sql: Sql, memory: SaleMemory) {
    this.#goods = new Versions(memory.map('goods'), MAX_SALES, (saleId) => readGoods(sql, saleId))
  }

  /** Returns null if the sale has no goods. Fails as the ledger does. */
  async of({
    sale_id,
    goods_version: version,
  }: Pick<SaleRow, 'sale_id' | 'goods_version'>): Promise<GoodsDocument | null> {
    return version === null ? null : this.#goods.of(sale_id, version)
  }
}
