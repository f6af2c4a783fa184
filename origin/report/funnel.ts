/**
 * The funnel of a sale by where its visitors came from: views, joins, turns, and what became of the turns. Views are
 * counted elsewhere and given in.
 */
import type { FunnelRow } from '../../shared/api/operators/report.ts'
import { SOLD } from '../../shared/api/order-status.ts'
import { OTHER_SOURCE, TYPED } from '../../shared/api/views/source.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'

/** The counted views of a sale by the label of their source. */
export type ViewsBySource = (sql: Sql, saleId: string) => Promise<readonly Pick<FunnelRow, 'key' | 'views'>[]>

/** A funnel has at most this many rows; the smaller sources are one row, `other`. */
const MAX_ROWS = 100

const COUNTS = ['views', 'joined', 'turns', 'reserved', 'paid', 'paid_minor'] as const
const NOTHING: Omit<FunnelRow, 'key'> = { views: 0, joined: 0, turns: 0, reserved: 0, paid: 0, paid_minor: 0 }

/** The funnel with the largest sources first. Money is counted in the currency of the sale's first product. */
export async function funnelOf(
  { sql, views }: { readonly sql: Sql; readonly views?: ViewsBySource | undefined },
  { sale_id, products }: Pick<SaleRow, 'sale_id' | 'products'>,
): Promise<FunnelRow[]> {
  const currency = products[0]?.currency ?? ''
  const parts = await Promise.all([
    views?.(sql, sale_id) ?? [],
    sql<Pick<FunnelRow, 'key' | 'joined' | 'turns'>[]>`
      select source as key, joined::float8 as joined, turns::float8 as turns from sale_sources
      where sale_id = ${sale_id}`,
    sql<Pick<FunnelRow, 'key' | 'reserved' | 'paid' | 'paid_minor'>[]>`
      select coalesce(source, ${TYPED}) as key, count(*)::int as reserved,
        count(*) filter (where was_paid)::int as paid,
        coalesce(sum(order_total(unit_price_minor, quantity, cart, bill))
          filter (where was_paid and currency = ${currency}), 0)::float8 as paid_minor
      from orders cross join lateral (
        -- An order that was refunded had been paid.
        select status in ${sql([...SOLD, 'returned'])} or refunded_minor > 0 as was_paid) o
      where sale_id = ${sale_id} and reserved_until > created_at group by 1`,
  ])
  return addUp(parts.flat())
}

/** One row for each source, of the counts that are known of it. Pure. */
export function addUp(parts: readonly (Pick<FunnelRow, 'key'> & Partial<FunnelRow>)[]): FunnelRow[] {
  const rows = [...merge(parts, ({ key }) => key).values()].sort(
    (a, b) => b.paid_minor - a.paid_minor || b.joined - a.joined || b.views - a.views || (a.key < b.key ? -1 : 1),
  )
  // The rows of the two names that are no sources stand whatever their size.
  const named = rows.filter(({ key }) => key !== OTHER_SOURCE && key !== TYPED).slice(0, MAX_ROWS)
  const shown = new Set([TYPED, ...named.map(({ key }) => key)])
  return [...merge(rows, ({ key }) => (shown.has(key) ? key : OTHER_SOURCE)).values()]
}

function merge(
  parts: readonly (Pick<FunnelRow, 'key'> & Partial<FunnelRow>)[],
  keyOf: (part: { key: string }) => string,
) {
  const rows = new Map<string, { -readonly [K in keyof FunnelRow]: FunnelRow[K] }>()
  for (const part of parts) {
    const key = keyOf(part)
    const row = rows.get(key) ?? { key, ...NOTHING }
    for (const count of COUNTS) row[count] += part[count] ?? 0
    rows.set(key, row)
  }
  return rows
}
