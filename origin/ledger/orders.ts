/** Orders: their transitions, look-ups, overdue holds, events and export. */
import type { Queryable, Sql } from './connection.ts'
import type { ProductRef } from './reconciliation.ts'
import type { Reservation } from './record.ts'
import type { orders } from './schema.ts'

export type OrderRow = Readonly<typeof orders.$inferSelect>

/** An order with the milliseconds left of its hold, by the ledger's clock. */
export type OrderView = OrderRow & { readonly left_ms: number }

// -- Transitions -------------------------------------------------------------------------------------------------

export interface Move {
  readonly from: readonly OrderRow['status'][]
  readonly to: OrderRow['status']
  readonly reason?: string
  /** Payment methods and charges, parallel to the ids. */
  readonly methods?: readonly string[]
  readonly charges?: readonly string[]
}

/** One transition of many orders. Returns those that made it, which happens once for each. */
export async function moveOrders(sql: Queryable, ids: readonly string[], move: Move): Promise<OrderRow[]> {
  if (ids.length === 0) return []
  return sql<OrderRow[]>`
    select * from move_orders(${ids as string[]}::uuid[], ${move.from as string[]}::text[], ${move.to},
      ${(move.methods as string[] | undefined) ?? null}::text[],
      ${(move.charges as string[] | undefined) ?? null}::text[], ${move.reason ?? null})`
}

// -- Look-ups ----------------------------------------------------------------------------------------------------

export async function findOrders(sql: Queryable, ids: readonly string[]): Promise<OrderView[]> {
  if (ids.length === 0) return []
  return sql<OrderView[]>`
    select *, extract(epoch from reserved_until - clock_timestamp())::float8 * 1000 as left_ms
    from orders where order_id = any(${ids as string[]}::uuid[])`
}

export async function findOrder(sql: Queryable, id: string): Promise<OrderView | undefined> {
  const [order] = await findOrders(sql, [id])
  return order
}

/** The order id under each key, parallel to the keys; null where there is none. */
export async function findByKeys(
  sql: Sql,
  keys: readonly Pick<Reservation, 'sale' | 'visitor' | 'key'>[],
): Promise<(string | null)[]> {
  const rows = await sql<{ order_id: string | null }[]>`
    select (select o.order_id from orders o
            where o.sale_id = k.sale and o.visitor = k.visitor and o.idempotency_key = k.key) as order_id
    from unnest(${keys.map((k) => k.sale)}::text[], ${keys.map((k) => k.visitor)}::text[],
                ${keys.map((k) => k.key)}::text[]) with ordinality as k(sale, visitor, key, i)
    order by k.i`
  return rows.map((row) => row.order_id)
}

/** Every visitor with an order of a sale, whatever its status, in chunks. */
export async function* buyersOf(sql: Sql, saleId: string): AsyncGenerator<string[]> {
  const rows = sql<{ visitor: string }[]>`select distinct visitor from orders where sale_id = ${saleId}`
  for await (const chunk of rows.cursor(BUYERS_PER_CHUNK)) yield chunk.map(({ visitor }) => visitor)
}
/** Small enough not to block the event loop. */
const BUYERS_PER_CHUNK = 2_000

/** The orders that a visitor holds in these sales, not paid yet. */
export async function heldBy(sql: Queryable, visitor: string, saleIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from orders
    where sale_id = any(${saleIds as string[]}::text[]) and visitor = ${visitor} and status = 'reserved'`
  return rows.map((row) => row.order_id)
}

// -- Overdue holds -----------------------------------------------------------------------------------------------

/** A hold that the ledger sees overdue for this long is unknown to the fast gate. */
const LEDGER_GRACE_MS = 1_000

// now() instead of clock_timestamp(): only a stable function can bound an index scan.
const isOverdue = (sql: Sql) =>
  sql`status = 'reserved' and reserved_until < now() - ${LEDGER_GRACE_MS} * interval '1 millisecond'`

export const productsWithOverdueHolds = (sql: Sql) => sql<ProductRef[]>`
  select distinct sale_id as sale, product_id as product from orders where ${isOverdue(sql)}`

export async function overdueHolds(sql: Sql, { sale, product }: ProductRef, limit: number): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from orders where sale_id = ${sale} and product_id = ${product} and ${isOverdue(sql)}
    order by reserved_until limit ${limit}`
  return rows.map((row) => row.order_id)
}

// -- Events ------------------------------------------------------------------------------------------------------

export interface OrderUpdate {
  readonly events: readonly { readonly seq: number; readonly status: string; readonly at: string }[]
  /** The current order; undefined until it is recorded. */
  readonly order: OrderView | undefined
}

/** Events of one order per read; an order has five in its life. */
const MAX_EVENTS = 50

/** Calls `onChange` with the id of each changed order, and `onListen` whenever listening starts again. */
export function listenToOrders(sql: Sql, onChange: (orderId: string) => void, onListen: () => void) {
  return sql.listen('order_changed', onChange, onListen)
}

/**
 * The events of each order after `last`, parallel to `reads`. The first event, with sequence number 0, is how the order
 * began; the others are rows of order_events.
 */
export async function readOrderEvents(
  sql: Sql,
  reads: readonly { readonly order: string; readonly last: number }[],
): Promise<OrderUpdate[]> {
  const rows = await sql<(OrderView & Pick<OrderUpdate, 'events'>)[]>`
    select o.*, extract(epoch from o.reserved_until - clock_timestamp())::float8 * 1000 as left_ms,
      (select coalesce(json_agg(json_build_object('seq', e.seq, 'status', e.status, 'at', e.at) order by e.seq), '[]')
       from (select 0 as seq, case when o.reserved_until > o.created_at then 'reserved' else 'cancelled' end as status,
               o.created_at as at where o.order_id is not null and a.last < 0
             union all
             (select seq, status, at from order_events
              where order_id = a.id and seq > a.last order by seq limit ${MAX_EVENTS})) e) as events
    from unnest(${reads.map((r) => r.order)}::uuid[], ${reads.map((r) => r.last)}::bigint[])
      with ordinality as a(id, last, i)
    left join orders o on o.order_id = a.id
    order by a.i`
  return rows.map(({ events, ...order }) => ({ events, order: order.order_id ? order : undefined }))
}

// -- Export ------------------------------------------------------------------------------------------------------

export const EXPORT_PAGE = 1_000

/** An order with the times at which its money was taken and given back. */
export type ExportedOrder = OrderRow & {
  readonly captured_at: Date | null
  readonly refunded_at: Date | null
}

/** All orders of a sale in pages, each in a transaction of its own. */
export async function* exportPages(sql: Sql, saleId: string): AsyncGenerator<ExportedOrder[], undefined> {
  // This key never changes, and the index one_order_per_key has it in this order.
  let after: Pick<OrderRow, 'visitor' | 'idempotency_key'> = { visitor: '', idempotency_key: '' }
  for (;;) {
    const { visitor, idempotency_key } = after
    const rows = await sql.begin(async (tx) => {
      // Where Postgres believes that a sale is small, it would read and sort the whole rest for each page.
      await tx`select set_config('enable_sort', 'off', true)`
      return tx<ExportedOrder[]>`
        select *, (select captured_at from captures c where c.charge_id = o.charge_id),
          (select refunded_at from refunds r where r.charge_id = o.charge_id)
        from orders o
        where sale_id = ${saleId} and (visitor, idempotency_key) > (${visitor}, ${idempotency_key})
        order by visitor, idempotency_key limit ${EXPORT_PAGE}`
    })
    const last = rows.at(-1)
    if (last) yield rows
    if (!last || rows.length < EXPORT_PAGE) return
    after = last
  }
}
