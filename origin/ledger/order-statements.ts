/** Orders: their transitions, look-ups, overdue holds, events and export. */
import type { PendingQuery, Row } from 'postgres'
import type { Address } from '../../shared/api/goods.ts'
import type { LedgerStatus } from '../../shared/api/order-status.ts'
import type { Order, Tax } from '../../shared/api/public.ts'
import type { Queryable, Sql } from './connection.ts'
import type { Reservation } from './record.ts'
import type { OrderSnapshot } from './schema/events.ts'
import type { orders, PaymentAction, StoredLine } from './schema/orders.ts'
import type { Move } from './transitions.ts'

export type OrderRow = Readonly<typeof orders.$inferSelect>

/**
 * What an order costs in all, with what was given back and without lines that were taken out before it was paid. An
 * order without a bill costs the sum of its lines. In SQL: order_total.
 */
export const totalOf = (order: Priced): number =>
  order.bill === null
    ? subtotalOf(order)
    : order.bill.reduce((sum, { amount_minor, included }) => (included ? sum : sum + amount_minor), subtotalOf(order))
export type Priced = Pick<OrderRow, 'unit_price_minor' | 'quantity' | 'cart' | 'bill'>

/** The cost of the order's lines, without fees, tax and delivery. */
export const subtotalOf = ({ unit_price_minor, quantity, cart }: Omit<Priced, 'bill'>): number =>
  cart === null ? unit_price_minor * quantity : cart.reduce((sum, line) => sum + costOf(line), 0)

/** A line that was taken out before the order was paid costs nothing. */
const costOf = ({ unit_price_minor, quantity, returned }: StoredLine) =>
  returned === 'unpaid' ? 0 : unit_price_minor * quantity

/** An order with the milliseconds left of its hold, by the ledger's clock. */
export type OrderView = OrderRow & {
  readonly left_ms: number
  readonly product_name?: string | null
  /** The tax settings of the order's sale. */
  readonly tax?: Tax | null
  /** What the buyer gave of themselves, as long as it is kept. */
  readonly contact?: OrderContact | null
}
export type OrderContact = NonNullable<Order['contact']>

// -- Transitions -------------------------------------------------------------------------------------------------

/** The changes to one order that come with its transition. */
export interface Advance {
  readonly order: string
  /** A payment begins with this method. */
  readonly method?: string
  /** The span of the traced call that begins the payment. */
  readonly trace?: string | undefined
  readonly charge?: string
  /** Applies only if this is the order's latest attempt. */
  readonly attempt?: number
  readonly declineCode?: string
  readonly action?: PaymentAction
  readonly refundedMinor?: number
}

/**
 * One transition of many orders, to select those from that made it, which happens once for each. A charge waits for
 * its buyer for `actionSeconds`.
 */
export function advancing(
  sql: Queryable,
  advances: readonly Advance[],
  { from, to, type, reason }: Move,
  actionSeconds = 0,
): PendingQuery<Row[]> {
  const column = <K extends keyof Advance>(key: K) =>
    advances.some((one) => one[key] !== undefined) ? advances.map((one) => one[key] ?? null) : null
  const actions = column('action')?.map((action) => action && JSON.stringify(action)) ?? null
  return sql`
    advance_orders(${advances.map(({ order }) => order)}::uuid[], ${from as string[]}::text[], ${to ?? null},
      ${type ?? null}, ${reason ?? null}, ${column('method')}::text[], ${column('charge')}::text[],
      ${column('attempt')}::int[], ${column('declineCode')}::text[], ${actions}::text[]::jsonb[], ${actionSeconds},
      ${column('refundedMinor')}::bigint[])`
}

/** One transition of many orders. Returns those that made it. */
export async function advanceOrders(sql: Queryable, ...args: Advancing): Promise<OrderRow[]> {
  if (args[0].length === 0) return []
  return sql<OrderRow[]>`select * from ${advancing(sql, ...args)}`
}
type Advancing = readonly [advances: readonly Advance[], move: Move, actionSeconds?: number]

/** Moves orders in the same way if the transition changes nothing else of them. */
export const moveOrders = (sql: Queryable, ids: readonly string[], move: Move) =>
  advanceOrders(
    sql,
    ids.map((order) => ({ order })),
    move,
  )

/** An event of its own for lines that are taken out, where no other change of the order tells of them. */
interface Returned {
  readonly how: NonNullable<StoredLine['returned']>
  readonly type: `order.${string}` | null
}

/**
 * Takes lines out of an order; their units and seats are for sale again. Undefined if the order does not allow it any
 * more.
 */
export async function returnLines(
  tx: Queryable,
  order: string,
  lines: readonly number[],
  { how, type }: Returned,
): Promise<OrderRow | undefined> {
  const [changed] = await tx<OrderRow[]>`
    select * from return_lines(${order}::uuid, ${lines as number[]}::int[], ${how}, ${type})`
  return changed
}

/** Writes anew what an order costs that is not paid and whose row is locked. */
export async function writeBill(tx: Queryable, { order_id, bill, cart }: Pick<OrderRow, 'order_id' | 'bill' | 'cart'>) {
  await tx`
    update orders set bill = ${JSON.stringify(bill)}::text::jsonb, cart = ${JSON.stringify(cart)}::text::jsonb
    where order_id = ${order_id}`
}

/** The country that an order goes to; undefined where it goes to none. */
export async function countryOf(sql: Queryable, orderId: string): Promise<string | undefined> {
  const [contact] = await sql<{ country: string | null }[]>`
    select delivery ->> 'country' as country from contacts where order_id = ${orderId}`
  return contact?.country ?? undefined
}

// -- Look-ups ----------------------------------------------------------------------------------------------------

export async function findOrders(sql: Queryable, ids: readonly string[]): Promise<OrderView[]> {
  if (ids.length === 0) return []
  return sql<OrderView[]>`
    select *, extract(epoch from reserved_until - (select hold_clock()))::float8 * 1000 as left_ms,
      (select name from products p where p.sale_id = o.sale_id and p.product_id = o.product_id) as product_name,
      (select tax from sales s where s.sale_id = o.sale_id) as tax,
      (select jsonb_strip_nulls(jsonb_build_object('email', email, 'delivery', delivery)) from contacts c
        where c.order_id = o.order_id) as contact
    from orders o where order_id = any(${ids as string[]}::uuid[])`
}

export async function findOrder(sql: Queryable, id: string): Promise<OrderView | undefined> {
  const [order] = await findOrders(sql, [id])
  return order
}

/**
 * True for an order that is sent to an address, of the sale `s` and with the contact `c`. Once its contact is deleted,
 * the sale says it.
 */
export const isParcel = (sql: Queryable) =>
  sql`(s.delivery ->> 'kind' = 'address' and (c.order_id is null or c.delivery is not null))`

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

/** A visitor's orders of a sale within so many days, the latest first. */
export const ordersOf = (
  sql: Queryable,
  saleId: string,
  visitor: string,
  { days, limit }: { readonly days: number; readonly limit: number },
) => sql<OrderView[]>`
  select *, extract(epoch from reserved_until - (select hold_clock()))::float8 * 1000 as left_ms,
    (select tax from sales s where s.sale_id = o.sale_id) as tax
  from orders o
  where sale_id = ${saleId} and visitor = ${visitor} and created_at > now() - ${days} * interval '1 day'
  order by created_at desc, order_id desc limit ${limit}`

/** The sales whose orders of the last days a visitor may have: those that open last, of all that are not long over. */
const MAX_SALES = 1_000

/**
 * A visitor's orders of all sales within so many days, the latest first. Each sale is looked up in the index of its
 * orders, because one of visitors alone would cost each reservation a write.
 */
export const ordersOfAllSales = (
  sql: Queryable,
  visitor: string,
  { days, limit }: { readonly days: number; readonly limit: number },
) => sql<OrderView[]>`
  select own.*, extract(epoch from own.reserved_until - (select hold_clock()))::float8 * 1000 as left_ms, s.tax
  from (
    select sale_id, tax from sales where coalesce(ended_at, ends_at, now()) > now() - ${days} * interval '1 day'
    order by opens_at desc limit ${MAX_SALES}) s
  cross join lateral (
    select o.* from orders o
    where o.sale_id = s.sale_id and o.visitor = ${visitor} and o.created_at > now() - ${days} * interval '1 day'
    order by o.created_at desc limit ${limit}) own
  order by own.created_at desc, own.order_id desc limit ${limit}`

/** Every visitor with an order of a sale, whatever its status, in chunks. */
export async function* buyersOf(sql: Sql, saleId: string): AsyncGenerator<string[]> {
  const rows = sql<{ visitor: string }[]>`select distinct visitor from orders where sale_id = ${saleId}`
  for await (const chunk of rows.cursor(BUYERS_PER_CHUNK)) yield chunk.map(({ visitor }) => visitor)
}
/** The limit of buyers per chunk, small enough not to block the event loop. */
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

/** The condition of such holds. The clock is read once, by a query of its own: so it can bound an index scan. */
export const isHoldOverdue = (sql: Sql) =>
  sql`status = 'reserved' and reserved_until < (select hold_clock()) - ${LEDGER_GRACE_MS} * interval '1 millisecond'`

type ProductOf = Pick<OrderRow, 'sale_id' | 'product_id'>

export const productsWithOverdueHolds = (sql: Sql) => sql<ProductOf[]>`
  select distinct sale_id, product_id from orders where ${isHoldOverdue(sql)}`

export async function overdueHolds(sql: Sql, { sale_id, product_id }: ProductOf, limit: number): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from orders where sale_id = ${sale_id} and product_id = ${product_id} and ${isHoldOverdue(sql)}
    order by reserved_until limit ${limit}`
  return rows.map((row) => row.order_id)
}

// -- Events ------------------------------------------------------------------------------------------------------

/** The state of an order as an event keeps it: its status since then, and other fields as they were. */
export interface PastState {
  readonly status: LedgerStatus
  readonly data: OrderSnapshot | null
}

export interface OrderUpdate {
  readonly events: readonly (PastState & { readonly seq: number; readonly at: string })[]
  /** The current order; undefined until it is recorded. */
  readonly order: OrderView | undefined
}

/** Events of one order per read; an order has five in its life. */
const MAX_EVENTS = 50

/** An event of an order that was recorded earlier, and its place in the log. */
export interface LoggedChange {
  readonly xid: string
  readonly seq: number
  readonly order_id: string | null
}
type Place = Pick<LoggedChange, 'xid' | 'seq'>

/** Where the log ends now: what it does not hold yet comes after. */
export async function endOfEvents(sql: Sql): Promise<Place> {
  const [end] = await sql<{ xid: string }[]>`select events_end()::text as xid`
  if (!end) throw new Error('the ledger returned no end of its events')
  return { ...end, seq: 0 }
}

/** What the log holds after a place, without what it says. */
export const changesAfter = (sql: Sql, { xid, seq }: Place, limit: number) => sql<LoggedChange[]>`
  select xid, seq, order_id from read_events(${xid}::xid8, ${seq}, ${limit}) order by xid, seq`

/**
 * The events of each order after `last`, parallel to `reads`. The first event, with sequence number 0, is how the order
 * began; the others are rows of events.
 */
export async function readOrderEvents(
  sql: Sql,
  reads: readonly { readonly order: string; readonly last: number }[],
): Promise<OrderUpdate[]> {
  const rows = await sql<(OrderView & Pick<OrderUpdate, 'events'>)[]>`
    select o.*, extract(epoch from o.reserved_until - (select hold_clock()))::float8 * 1000 as left_ms,
      (select coalesce(json_agg(
         json_build_object('seq', e.seq, 'status', e.status, 'at', e.at, 'data', e.data) order by e.seq), '[]')
       from (select 0 as seq, case when o.reserved_until > o.created_at then 'reserved' else 'cancelled' end as status,
               o.created_at as at, null::jsonb as data where o.order_id is not null and a.last < 0
             union all
             (select seq, status, at, data from events
              where order_id = a.id and seq > a.last order by seq limit ${MAX_EVENTS})) e) as events
    from unnest(${reads.map((r) => r.order)}::uuid[], ${reads.map((r) => r.last)}::bigint[])
      with ordinality as a(id, last, i)
    left join orders o on o.order_id = a.id
    order by a.i`
  return rows.map(({ events, ...order }) => ({ events, order: order.order_id ? order : undefined }))
}

// -- Export ------------------------------------------------------------------------------------------------------

export const EXPORT_PAGE = 1_000

/**
 * An order with the times at which its money was taken and given back, the name of its product, and where it goes to.
 */
export type ExportedOrder = OrderRow & {
  readonly product_name: string | null
  readonly tax: Tax | null
  readonly delivery: Address | null
  readonly captured_at: Date | null
  readonly refunded_at: Date | null
}

const exported = (sql: Queryable) => sql`
  select *, (select name from products p where p.sale_id = o.sale_id and p.product_id = o.product_id) as product_name,
    (select tax from sales s where s.sale_id = o.sale_id) as tax,
    (select delivery from contacts c where c.order_id = o.order_id) as delivery,
    (select captured_at from captures c where c.charge_id = o.charge_id),
    (select max(refunded_at) from refunds r where r.charge_id = o.charge_id) as refunded_at
  from orders o`

/** These orders for an export, the newest first. */
export const exportedOrders = (sql: Queryable, ids: readonly string[]) =>
  sql<ExportedOrder[]>`${exported(sql)} where order_id = any(${ids as string[]}::uuid[]) order by order_id desc`

/** All orders of a sale in pages, each in a transaction of its own. */
export async function* exportPages(sql: Sql, saleId: string): AsyncGenerator<ExportedOrder[], undefined> {
  // This key never changes, and the index one_order_per_key has it in this order.
  let after: Pick<OrderRow, 'visitor' | 'idempotency_key'> = { visitor: '', idempotency_key: '' }
  for (;;) {
    const { visitor, idempotency_key } = after
    const rows = await sql.begin(async (tx) => {
      // Where Postgres believes that a sale is small, it would read and sort all remaining orders for each page.
      await tx`select set_config('enable_sort', 'off', true)`
      return tx<ExportedOrder[]>`
        ${exported(tx)}
        where sale_id = ${saleId} and (visitor, idempotency_key) > (${visitor}, ${idempotency_key})
        order by visitor, idempotency_key limit ${EXPORT_PAGE}`
    })
    const last = rows.at(-1)
    if (last) yield rows
    if (!last || rows.length < EXPORT_PAGE) return
    after = last
  }
}

/** A reason such as `declined: card_expired` without its detail, of which there may be very many. */
export const kindOf = (reason: string) => reason.split(':', 1)[0]
