/** Orders: what is read of them, and the one way in which they change their status. */
import type { OrderStatus } from '../../shared/order-status.ts'
import type { Queryable, Sql } from './connection.ts'
import type { Reservation } from './record.ts'

export interface OrderRow {
  readonly order_id: string
  readonly sale_id: string
  readonly product_id: string
  readonly visitor: string
  readonly ticket_number: number
  readonly quantity: number
  readonly unit_price_minor: number
  readonly currency: string
  readonly status: Exclude<OrderStatus, 'processing'>
  readonly idempotency_key: string
  readonly request_hash: string
  readonly reserved_until: Date
  readonly payment_method: string | null
  readonly charge_id: string | null
  readonly reason: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export type OrderView = OrderRow & { readonly left_ms: number }

/** An order, with what is left of its hold by the ledger's clock (milliseconds). */
export async function findOrder(sql: Sql, order: string): Promise<OrderView | undefined> {
  const [row] = await sql<OrderView[]>`
    select *, extract(epoch from reserved_until - clock_timestamp())::float8 * 1000 as left_ms
    from orders where order_id = ${order}`
  return row
}

/** The order under each key, in the order asked; null where there is none. */
export async function findByKeys(
  sql: Sql,
  asked: readonly Pick<Reservation, 'sale' | 'visitor' | 'key'>[],
): Promise<(string | null)[]> {
  const rows = await sql<{ order_id: string | null }[]>`
    select (select o.order_id from orders o
            where o.sale_id = a.sale and o.visitor = a.visitor and o.idempotency_key = a.key) as order_id
    from unnest(${asked.map((a) => a.sale)}::text[], ${asked.map((a) => a.visitor)}::text[],
                ${asked.map((a) => a.key)}::text[]) with ordinality as a(sale, visitor, key, i)
    order by a.i`
  return rows.map((row) => row.order_id)
}

/** Everyone who has had an order of a sale, whatever has become of it, some thousands at a time. */
export async function* buyersOf(sql: Sql, sale: string): AsyncGenerator<string[]> {
  const rows = sql<{ visitor: string }[]>`select distinct visitor from orders where sale_id = ${sale}`
  for await (const some of rows.cursor(BUYERS_AT_ONCE)) yield some.map(({ visitor }) => visitor)
}
/** Few enough that reading them keeps nobody waiting. */
const BUYERS_AT_ONCE = 2_000

export interface Move {
  readonly from: readonly OrderRow['status'][]
  readonly to: OrderRow['status']
  readonly reason?: string
  /** For each order in the order of the ids: how it is to be paid, and what it was paid with. */
  readonly methods?: readonly string[]
  readonly charges?: readonly string[]
}

/** One transition of many orders; returns those that made it, which is once for each. */
export async function moveOrders(sql: Queryable, ids: readonly string[], move: Move): Promise<OrderRow[]> {
  if (ids.length === 0) return []
  return sql<OrderRow[]>`
    select * from move_orders(${ids as string[]}::uuid[], ${move.from as string[]}::text[], ${move.to},
      ${(move.methods as string[] | undefined) ?? null}::text[],
      ${(move.charges as string[] | undefined) ?? null}::text[], ${move.reason ?? null})`
}
