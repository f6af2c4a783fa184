/** What the payment of an order changes in the ledger, and the lock that each change of an order takes. */
import type { Queryable } from './connection.ts'
import { type Advance, advancing, type OrderRow } from './order-statements.ts'
import { TRANSITIONS } from './transitions.ts'

export interface Refund extends ChargeOf {
  readonly reason: string
}

/** Locks an order after its product, as every transition does. */
export async function lockOrders(tx: Queryable, ids: readonly string[]): Promise<OrderRow[]> {
  await tx`
    select 1 from products
    where (sale_id, product_id) in (
      select sale_id, product_id from orders where order_id = any(${ids as string[]}::uuid[])
      union all
      select sale_id, l ->> 'product' from orders, jsonb_array_elements(cart) l
      where order_id = any(${ids as string[]}::uuid[]) and cart is not null)
    order by sale_id, product_id for no key update`
  return tx<OrderRow[]>`
    select * from orders where order_id = any(${ids as string[]}::uuid[]) order by order_id for no key update`
}

/** The group of charges of nothing, for which no provider is called. */
export const FREE = 'free'

/** The traces of payments, for the jobs of their charges. A batch without any has the statement without them. */
const tracesIn = (sql: Queryable, payments: readonly Advance[]) => {
  const noted = payments.flatMap(({ order, trace }) => (trace === undefined ? [] : [[order, { trace }] as const]))
  return noted.length === 0
    ? sql``
    : sql`|| coalesce(${JSON.stringify(Object.fromEntries(noted))}::text::jsonb -> order_id::text, '{}')`
}

/**
 * Moves reserved orders to `paying` and queues their charges, in one statement. Returns those whose hold has not
 * ended.
 */
export const beginPayments = (sql: Queryable, payments: readonly Advance[]) => sql<OrderRow[]>`
  with paying as materialized (select * from ${advancing(sql, payments, TRANSITIONS.beginPayment)}),
    queued as (
      insert into jobs (queue, group_id, data)
      select 'charge', case order_total(unit_price_minor, quantity, cart, bill) when 0 then ${FREE} else '' end,
        jsonb_build_object('order', order_id) ${tracesIn(sql, payments)}
      from paying)
  select * from paying`

/** Confirms orders that still wait for it, and queues the captures of their charges, in one statement. Returns them. */
export const confirmPaid = (sql: Queryable, paid: readonly ChargeOf[]) => sql<OrderRow[]>`
  with confirmed as materialized (
      select * from ${advancing(sql, paid, TRANSITIONS.confirm)}),
    owed as (insert into captures (charge_id, order_id) select charge_id, order_id from confirmed
      on conflict do nothing),
    -- A second job for a charge finds no open row.
    queued as (
      insert into jobs (queue, data)
      select 'capture', jsonb_build_object('charge', charge_id, 'order', order_id) from confirmed)
  select * from confirmed`

/** Notes by what payment of the shop's own checkout an order was confirmed. */
export async function insertShopPayment(tx: Queryable, order: string, reference: string): Promise<void> {
  await tx`insert into shop_payments (order_id, reference) values (${order}, ${reference})`
}

/** The shop's name of the payment that confirmed an order; undefined if none did. */
export async function findShopPayment(sql: Queryable, order: string): Promise<string | undefined> {
  const [row] = await sql<{ reference: string }[]>`select reference from shop_payments where order_id = ${order}`
  return row?.reference
}

/** A charge, and the order that it was made for. */
export interface ChargeOf {
  readonly charge: string
  readonly order: string
}
