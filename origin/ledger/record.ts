/**
 * Group commit: the reservations of one sale are recorded in one transaction, behind the exact gate. Whatever Redis believes,
 * live orders never exceed the total, because the product rows say so.
 */
import type { Queryable } from './connection.ts'
import type { ProductRow } from './sales.ts'

/** What is needed to record a reservation, and nothing that could change meanwhile: it also travels as an intent. */
export interface Reservation {
  readonly order: string
  readonly sale: string
  readonly product: string
  readonly visitor: string
  readonly number: number
  readonly quantity: number
  readonly key: string
  readonly hash: string
  readonly method: string | null
}

/** What was written for all that were recorded together. */
export interface Recorded {
  readonly verdict: 'recorded'
  readonly createdAt: Date
  readonly reservedUntil: Date
  readonly prices: Prices
}

/** By product. */
type Prices = Readonly<Record<string, Pick<ProductRow, 'unit_price_minor' | 'currency'>>>

export type RecordVerdict =
  | Recorded
  | { readonly verdict: 'replay'; readonly order: string }
  /** The visitor may not have so many more; the order is the one they have, null if they have none, with all their units. */
  | { readonly verdict: 'limit'; readonly order: string | null; readonly units: number }
  /** The visitor has had so many orders in this sale that came to nothing. */
  | { readonly verdict: 'too_many' }
  | { readonly verdict: 'no_stock' }

/**
 * Records reservations of one sale in one transaction. `noteRefusals` leaves a cancelled order for each refused one,
 * and for each whose key has another order, for those who were told to ask for it; it is refused so ever after.
 */
export async function record(
  sql: Queryable,
  sale: string,
  batch: readonly Reservation[],
  noteRefusals: boolean,
): Promise<RecordVerdict[]> {
  const column = <K extends keyof Reservation>(key: K) => batch.map((r) => r[key])
  const [told] = await sql<RecordRow[]>`
    select recorded, others, created_at, reserved_until, prices from record_batch(
      ${sale}, ${column('order')}::uuid[], ${column('product')}::text[], ${column('visitor')}::text[],
      ${column('number')}::bigint[], ${column('quantity')}::int[], ${column('key')}::text[], ${column('hash')}::text[],
      ${column('method')}::text[], ${noteRefusals})`
  const others = told?.others ?? []
  if (!told || told.recorded + others.length !== batch.length)
    throw new Error(`recorded ${told?.recorded}, and not ${others.length}, of ${batch.length} reservations`)
  const recorded: Recorded = {
    verdict: 'recorded',
    createdAt: told.created_at,
    reservedUntil: told.reserved_until,
    prices: told.prices,
  }
  const verdicts: RecordVerdict[] = batch.map(() => recorded)
  for (const { index, ...verdict } of others) verdicts[index - 1] = verdict
  return verdicts
}

interface RecordRow {
  readonly recorded: number
  readonly others: readonly (Exclude<RecordVerdict, Recorded> & { readonly index: number })[] | null
  readonly created_at: Date
  readonly reserved_until: Date
  readonly prices: Prices
}
