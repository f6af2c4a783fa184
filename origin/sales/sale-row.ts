/** A sale as the ledger's queries return it. */
import type { Rule } from '../../shared/api/operator.ts'
import type { Announcement } from '../../shared/api/public.ts'
import type { products, sales } from '../ledger/schema/sales.ts'

/** A product as a sale shows it. */
export type ProductRow = Readonly<Omit<typeof products.$inferSelect, 'sale_id' | 'place' | 'version' | 'is_promo_code'>>

/** A sale with all that belongs to it, as readSales returns it. */
export interface SaleRow extends Readonly<typeof sales.$inferSelect> {
  /** The sale may still have holds, intents or gates. */
  readonly in_use: boolean
  /** Sections of a hall are among them. */
  readonly products: readonly ProductRow[]
  /** Of what its pages show beside names and prices (goods); null where nothing was said. */
  readonly goods_version: number | null
  /** Of the chart of its hall; null where it has none. */
  readonly chart_version: number | null
  /** By section: grows with each change of its row. Null without sections. */
  readonly section_versions: Readonly<Record<string, number>> | null
  readonly rules: readonly Rule[]
  /** The announcement that visitors see now. */
  readonly announcement: Announcement | null
  /** How many posts there were, and how many of them were taken away, together. */
  readonly feed_version: number
}
