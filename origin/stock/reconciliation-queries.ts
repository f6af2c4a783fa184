/**
 * What reconciliation reads and repairs: the counters of a product, the sum of its orders, and its live orders, from
 * which the fast gate is rebuilt.
 */
import { HELD, LIVE, SOLD } from '../../shared/api/order-status.ts'
import type { Queryable } from '../ledger/connection.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'

/** One product of a sale, by their ids. */
export interface ProductRef {
  readonly sale: string
  readonly product: string
}

interface Counters {
  readonly total: number
  /** Units of the total that are withheld from sale. */
  readonly buffer: number
  readonly held: number
  readonly sold: number
}

export type ProductCounters = Counters & { readonly product: string; readonly version: number }

export const readCounters = (sql: Queryable, saleId: string) => sql<ProductCounters[]>`
  select product_id as product, version, total, buffer, held, sold from products where sale_id = ${saleId}
    order by place`

// -- Beside the gate ---------------------------------------------------------------------------------------------

/** What an order has of the stock. */
export interface OrderUnits {
  readonly order: string
  readonly product: string
  readonly quantity: number
  /** Null: units of one product. */
  readonly lines: readonly StoredLine[] | null
}

/** The ledger at one moment, beside a reading of the gate. */
export interface LedgerReading {
  readonly products: readonly ProductCounters[]
  /** Orders that hold units, and are none of the gate's holds. */
  readonly missing: readonly (OrderUnits & RestoredOrder & { readonly holdEndsAtMs: number })[]
  /** Holds of the gate whose orders have ended. */
  readonly ended: readonly (OrderUnits & { readonly isSold: boolean })[]
  /** Intents of the gate that are recorded. */
  readonly recorded: readonly string[]
  /** Seats that an order has or an operator blocks; null for a sale without a hall. */
  readonly seats: readonly number[] | null
}

/** One statement is one snapshot. The partial indexes find what is held, whatever the sale has sold. */
export async function readBeside(
  sql: Queryable,
  saleId: string,
  holds: readonly string[],
  intents: readonly string[],
): Promise<LedgerReading> {
  const held = uuidsIn(holds)
  const [row] = await sql<LedgerReading[]>`
    select (
      select coalesce(json_agg(json_build_object('product', product_id, 'version', version, 'total', total,
          'buffer', buffer, 'held', held, 'sold', sold) order by place), '[]')
      from products where sale_id = ${saleId}) as products, (
      select coalesce(json_agg(json_build_object('order', order_id, 'visitor', visitor, 'key', idempotency_key,
          'hash', request_hash, 'product', product_id, 'quantity', quantity, 'lines', cart,
          'holdEndsAtMs', extract(epoch from reserved_until)::float8 * 1000)), '[]')
      from (select * from orders where status = 'reserved' and sale_id = ${saleId}
            union all select * from orders where status = 'paying' and sale_id = ${saleId}) o
      where order_id <> all(${held}::uuid[])) as missing, (
      select coalesce(json_agg(json_build_object('order', order_id, 'product', product_id, 'quantity', quantity,
          'lines', cart, 'isSold', status in ${sql(SOLD)})), '[]')
      from orders where order_id = any(${held}::uuid[]) and status not in ${sql(HELD)}) as ended, (
      select coalesce(array_agg(order_id::text), '{}') from orders
        where order_id = any(${uuidsIn(intents)}::uuid[])) as recorded, (
      select coalesce((select array_agg(seat_index) from seat_claims where sale_id = ${saleId}), '{}')
      from charts where sale_id = ${saleId}) as seats`
  if (!row) throw new Error('the ledger returned no reading')
  return row
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const uuidsIn = (orders: readonly string[]) => orders.filter((order) => UUID.test(order))

// -- Rebuilding the gate -----------------------------------------------------------------------------------------

/** An order as a rebuild gives it to the gate. */
export interface RestoredOrder {
  readonly order: string
  readonly visitor: string
  readonly key: string
  readonly hash: string
  readonly quantity: number
  /** Null, or left out: units of one product. */
  readonly lines?: readonly StoredLine[] | null
  /** End of its hold, milliseconds since the epoch; null if it is sold, or has ended. */
  readonly holdEndsAtMs: number | null
  /** True if only its key matters any more. Left out: it is live. */
  readonly hasEnded?: boolean
}

/** A rebuild may wait this long between its statements: for the gate, and for other transactions. */
const REBUILD_TIMEOUT = '10min'
/** Orders read at once. */
const ORDERS_CHUNK = 5_000

/**
 * True if this transaction may rebuild the gate: one at a time per sale, until the transaction or its connection
 * ends.
 */
export async function lockRebuild(tx: Queryable, saleId: string): Promise<boolean> {
  await allowPauses(tx)
  const [lock] = await tx<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`rebuild ${saleId}`}, 0)) as taken`
  return lock?.taken === true
}

/** Lets a transaction of a rebuild wait between its statements. */
export const allowPauses = (tx: Queryable) =>
  tx`select set_config('idle_in_transaction_session_timeout', ${REBUILD_TIMEOUT}, true)`

/**
 * The orders of a sale at one moment, each read once, within a transaction; noted refusals, whose keys have a space,
 * are none. A cursor, not pages: with the wrong plan each page reads all orders of the sale, or of other sales.
 */
export async function* ordersOf(tx: Queryable, saleId: string): AsyncGenerator<RestoredOrder[]> {
  // The setting plans the cursor for all rows. By default Postgres plans it for a reader who stops after the first
  // rows.
  await tx`select set_config('cursor_tuple_fraction', '1', true)`
  await tx`
    declare restored no scroll cursor for
    select order_id as "order", visitor, idempotency_key as key, request_hash as hash, quantity, cart as lines,
      case when status in ${tx(HELD)} then extract(epoch from reserved_until)::float8 * 1000 end as "holdEndsAtMs",
      status not in ${tx(LIVE)} as "hasEnded"
    from orders
    where sale_id = ${saleId} and position(' ' in idempotency_key) = 0`
  for (;;) {
    const orders = await tx.unsafe<RestoredOrder[]>(`fetch ${ORDERS_CHUNK} from restored`)
    if (orders.length === 0) return
    yield orders
  }
}

// -- Recounting the orders ---------------------------------------------------------------------------------------

export interface OrderCount extends Counters {
  readonly version: number
  /** The sum of the orders. */
  readonly orders: { readonly held: number; readonly sold: number }
}

/**
 * One statement is one snapshot: orders and counters change in the same transactions. Undefined for a product that
 * was removed.
 */
export async function findOrderCount(sql: Queryable, { sale, product }: ProductRef): Promise<OrderCount | undefined> {
  const [row] = await sql<OrderCount[]>`
    select version, total, buffer, held, sold, (
      select json_build_object('held', coalesce(sum(units) filter (where status in ${sql(HELD)}), 0),
                               'sold', coalesce(sum(units) filter (where status in ${sql(SOLD)}), 0))
      from (
        select status, quantity as units from orders o
        where o.sale_id = p.sale_id and o.product_id = p.product_id and o.cart is null
        union all
        select status, units_in(p.product_id, o.product_id, o.quantity, o.cart) from orders o
        where o.sale_id = p.sale_id and o.cart is not null) o) as orders
    from products p where sale_id = ${sale} and product_id = ${product}`
  return row
}

/** The same of a product that has orders, and so cannot be removed. */
export async function countOrders(sql: Queryable, ref: ProductRef): Promise<OrderCount> {
  const count = await findOrderCount(sql, ref)
  if (!count) throw new Error(`no product ${ref.product} in sale ${ref.sale}`)
  return count
}

/**
 * The promo codes of a sale that are not used as often as its orders say; those of more uses than there are count as
 * used up. One statement for all of them: there may be thousands.
 */
export const miscountedCodes = (sql: Queryable, saleId: string) => sql<(OrderCount & { readonly product: string })[]>`
  select p.product_id as product, p.version, p.total, p.buffer, p.held, p.sold,
    json_build_object('held', uses.held, 'sold', uses.sold) as orders
  from products p left join (
    select l ->> 'product' as code, count(*) filter (where status in ${sql(HELD)})::int as held,
      count(*) filter (where status in ${sql(SOLD)})::int as sold
    from orders, jsonb_array_elements(cart) l
    where sale_id = ${saleId} and cart is not null and status in ${sql(LIVE)} and starts_with(l ->> 'product', '%')
      and not l ? 'returned'
    group by 1) used on used.code = p.product_id
  cross join lateral (select least(coalesce(used.sold, 0), p.total) as sold) s
  cross join lateral (select s.sold, least(coalesce(used.held, 0), p.total - s.sold) as held) uses
  where p.sale_id = ${saleId} and p.is_promo_code and (p.held, p.sold) <> (uses.held, uses.sold)`

/** The same with the product locked, in the order in which everyone takes locks. */
export async function lockAndCount(tx: Queryable, { sale, product }: ProductRef): Promise<OrderCount> {
  await tx`select 1 from sales where sale_id = ${sale} for no key update`
  await tx`select 1 from products where sale_id = ${sale} and product_id = ${product} for no key update`
  return countOrders(tx, { sale, product })
}

/** Sets the counters; with a version only if the row still has it. Returns whether it was set. */
export async function setCounters(
  tx: Queryable,
  { sale, product }: ProductRef,
  { total, buffer, held, sold }: Counters,
  version?: number,
): Promise<boolean> {
  const { count } = await tx`
    update products set total = ${total}, buffer = ${buffer}, held = ${held}, sold = ${sold}
    where sale_id = ${sale} and product_id = ${product} and version = coalesce(${version ?? null}::bigint, version)`
  return count > 0
}

/** What is fulfilled stays fulfilled. */
const CANCELLABLE = TRANSITIONS.cancelOversold.from

/** Locks the latest orders that together have these units, and returns their status by id. */
export async function lockLatestOrders(
  tx: Queryable,
  { sale, product }: ProductRef,
  units: number,
): Promise<Map<string, string>> {
  const rows = await tx<{ order_id: string; status: string }[]>`
    with latest as (
      select order_id, sum(units) over (order by created_at desc, order_id desc) - units as before
      from (select order_id, created_at, units_in(${product}, product_id, quantity, cart) as units from orders
            where sale_id = ${sale} and status in ${tx(CANCELLABLE)}) o
      where units > 0
    )
    select order_id, status from orders
    where order_id in (select order_id from latest where before < ${units}) and status in ${tx(CANCELLABLE)}
    order by order_id for no key update`
  return new Map(rows.map(({ order_id, status }) => [order_id, status]))
}

/** True if the last count of the sale's orders found a difference that is not repaired. */
export async function isMiscounted(sql: Queryable, saleId: string): Promise<boolean> {
  const [row] = await sql<{ open: boolean }[]>`
    select exists (select from findings where sale_id = ${saleId} and kind in ('miscounted', 'oversold')
                   and closed_at is null) as open`
  return row?.open === true
}
