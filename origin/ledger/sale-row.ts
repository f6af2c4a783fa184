/** A sale as the ledger's queries return it. */
import type { Rule } from '../../shared/api/operators/answers.ts'
import type { Announcement } from '../../shared/api/public.ts'
import type { products, sales } from './schema/sales.ts'

/** A product of a sale. */
export type ProductRow = Readonly<Omit<typeof products.$inferSelect, 'sale_id' | 'place' | 'version' | 'is_promo_code'>>

/** A sale with all its parts, as readSales returns it. */
export interface SaleRow extends Readonly<typeof sales.$inferSelect> {
  /** True if the sale may still have holds, intents or gates. */
  readonly in_use: boolean
  /** The products include the sections of a hall. */
  readonly products: readonly ProductRow[]
  /** The sum of the versions of their rows: it grows whenever units are sold, come back, or change in number. */
  readonly products_version: number
  /**
   * The version of the goods, which are the content of its pages in addition to names and prices; null if there are
   * none.
   */
  readonly goods_version: number | null
  /** The version of the chart of its hall; null if it has none. */
  readonly chart_version: number | null
  /** The version of each section, which grows with each change of its row. Null if there are no sections. */
  readonly section_versions: Readonly<Record<string, number>> | null
  readonly rules: readonly Rule[]
  /** The announcement that visitors see now. */
  readonly announcement: Announcement | null
  /** The sum of the number of posts and the number of removed posts. */
  readonly feed_version: number
}
