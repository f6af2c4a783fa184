/**
 * Refunds: one row each, open until the provider has confirmed it. A row without an amount gives back whatever is left of its
 * charge. An order's `refunded_minor` is always the sum of its made refunds.
 */
import { isSold } from '../../shared/order-status.ts'
import type { Queryable } from '../ledger/connection.ts'
import { advanceOrders, type Move, type OrderRow, totalOf } from '../ledger/orders.ts'
import type { refunds } from '../ledger/schema/payments.ts'
import type { ChargeOf, Refund } from './payment-queries.ts'

export type RefundRow = Readonly<typeof refunds.$inferSelect>

/** The reason of refunds made at the provider, which nobody asked for here. */
export const OUTSIDE = 'refunded_outside'

// -- Sums --------------------------------------------------------------------------------------------------------

type Priced = Pick<OrderRow, 'unit_price_minor' | 'quantity'>

const sumOf = (total: number, rows: readonly RefundRow[]) =>
  rows.some((row) => row.amount_minor === null)
    ? total
    : Math.min(
        total,
        rows.reduce((sum, row) => sum + (row.amount_minor ?? 0), 0),
      )

/** What may still be asked for: a refund that is asked for counts before it is made. */
export const restOf = (order: Priced, rows: readonly RefundRow[]) => totalOf(order) - sumOf(totalOf(order), rows)

/** What a row gives back. */
export function amountOf(order: Priced, row: RefundRow, rows: readonly RefundRow[]): number {
  if (row.amount_minor !== null) return row.amount_minor
  const others = rows.filter((one) => one.refund_id !== row.refund_id)
  return totalOf(order) - sumOf(totalOf(order), others)
}

/** What an order shows once these of its refunds are made: a part, or all of it, with its units back for sale or not. */
function refundMove(order: OrderRow, rows: readonly RefundRow[]): { refundedMinor: number; move: Move } {
  const refundedMinor = sumOf(
    totalOf(order),
    rows.filter((row) => row.refunded_at !== null),
  )
  const isWhole = refundedMinor === totalOf(order)
  const canBeWhole = order.status === 'confirmed' || order.status === 'fulfilled'
  if (!isWhole || !canBeWhole) return { refundedMinor, move: { from: [order.status], type: 'order.refunded' } }
  const to = rows.some((row) => row.restock) ? 'returned' : 'refunded'
  return { refundedMinor, move: { from: [order.status], to } }
}

// -- Asking ------------------------------------------------------------------------------------------------------

/** Locks an order after its product, as every transition does. */
export async function lockOrders(tx: Queryable, ids: readonly string[]): Promise<OrderRow[]> {
  await tx`
    select 1 from products
    where (sale_id, product_id) in (select sale_id, product_id from orders where order_id = any(${ids as string[]}::uuid[]))
    order by sale_id, product_id for no key update`
  return tx<OrderRow[]>`
    select * from orders where order_id = any(${ids as string[]}::uuid[]) order by order_id for no key update`
}

/** The refunds of these orders' own charges. */
export async function refundsOf(tx: Queryable, orders: readonly OrderRow[]): Promise<RefundRow[]> {
  const charges = orders.flatMap(({ charge_id }) => charge_id ?? [])
  if (charges.length === 0) return []
  return tx<RefundRow[]>`select * from refunds where charge_id = any(${charges}::text[]) order by asked_at, refund_id`
}

/** Open captures of these charges are deleted, unless a part of their money is given back, which must be taken first. */
async function deleteOpenCaptures(tx: Queryable, charges: readonly string[]): Promise<void> {
  await tx`
    delete from captures c where charge_id = any(${charges as string[]}::text[]) and captured_at is null
      and not exists (select from refunds r where r.charge_id = c.charge_id and r.amount_minor is not null)`
}

/** A refund as its job carries it. */
export type RefundOf = ChargeOf & { readonly refund: string }

/** Inserts refunds of whole charges, once for each charge. Returns those that are new. */
export async function insertRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<RefundOf[]> {
  const charges = refunds.map((r) => r.charge)
  await deleteOpenCaptures(tx, charges)
  return tx<RefundOf[]>`
    insert into refunds (charge_id, order_id, reason)
    select * from unnest(${charges}::text[], ${refunds.map((r) => r.order)}::uuid[],
                         ${refunds.map((r) => r.reason)}::text[])
    on conflict do nothing returning charge_id as charge, order_id as "order", refund_id as refund`
}

interface NewRefund extends Refund {
  /** Null: all that is left. */
  readonly amountMinor: number | null
  readonly restock: boolean
  readonly operator: string
  readonly key: string
}

export async function insertRefund(tx: Queryable, refund: NewRefund): Promise<RefundRow> {
  const { charge, order, reason, amountMinor, restock, operator, key } = refund
  if (amountMinor === null) await deleteOpenCaptures(tx, [charge])
  const [row] = await tx<RefundRow[]>`
    insert into refunds (charge_id, order_id, reason, amount_minor, restock, operator, idempotency_key)
    values (${charge}, ${order}, ${reason}, ${amountMinor}, ${restock}, ${operator}, ${key}) returning *`
  if (!row) throw new Error('no refund was inserted')
  return row
}

// -- Orders after their refunds ----------------------------------------------------------------------------------

/** Marks refunds as made. Returns the orders that show it now. */
export async function finishRefunds(tx: Queryable, ids: readonly string[]): Promise<OrderRow[]> {
  const found = await tx<{ order_id: string }[]>`
    select distinct order_id from refunds where refund_id = any(${ids as string[]}::uuid[]) and refunded_at is null`
  if (found.length === 0) return []
  const orders = await lockOrders(
    tx,
    found.map((row) => row.order_id),
  )
  await tx`
    update refunds set refunded_at = clock_timestamp()
    where refund_id in (
      select refund_id from refunds where refund_id = any(${ids as string[]}::uuid[]) and refunded_at is null
      order by refund_id for update)`
  return tellRefunds(tx, orders)
}

/** Updates `refunded_minor` of locked orders from their refunds. */
async function tellRefunds(tx: Queryable, orders: readonly OrderRow[]): Promise<OrderRow[]> {
  const rows = await refundsOf(tx, orders)
  const taken = await tx<{ charge_id: string }[]>`
    select charge_id from captures where captured_at is not null and charge_id = any(${rows.map((r) => r.charge_id)}::text[])`
  const isTaken = new Set(taken.map((row) => row.charge_id))
  const changed: OrderRow[] = []
  for (const order of orders) {
    const own = rows.filter((row) => row.charge_id === order.charge_id)
    // Of an order that was cancelled before its money was taken, nothing is given back.
    const wasPaid = isSold(order.status) || order.status === 'returned'
    if (!wasPaid && !(order.status === 'cancelled' && isTaken.has(order.charge_id ?? ''))) continue
    const { refundedMinor, move } = refundMove(order, own)
    if (move.to === undefined && refundedMinor === order.refunded_minor) continue
    changed.push(...(await advanceOrders(tx, [{ order: order.order_id, refundedMinor }], move)))
  }
  return changed
}

/** What the provider says was given back of a charge. */
export interface GivenBack extends ChargeOf {
  /** Undefined: all of it. */
  readonly refundedMinor?: number | undefined
}

/**
 * Inserts refunds made at the provider beyond those requested here, and updates their orders. Returns these
 * orders. What is asked for here counts, made or not: the provider's last report has the sum of all.
 */
export async function insertOutsideRefunds(tx: Queryable, reports: readonly GivenBack[]) {
  const locked = await lockOrders(
    tx,
    reports.map((report) => report.order),
  )
  const orders = locked.filter(({ status }) => isSold(status) || status === 'returned')
  const rows = await refundsOf(tx, orders)
  const outside: OrderRow[] = []
  for (const order of orders) {
    const given = reports.filter((report) => report.charge === order.charge_id && report.order === order.order_id)
    if (given.length === 0) continue
    const total = totalOf(order)
    const reported = Math.max(...given.map(({ refundedMinor = total }) => Math.min(refundedMinor, total)))
    const own = rows.filter((row) => row.charge_id === order.charge_id)
    const excess = reported - (total - restOf(order, own))
    if (excess <= 0) continue
    await tx`
      insert into refunds (charge_id, order_id, reason, amount_minor, refunded_at)
      values (${order.charge_id}, ${order.order_id}, ${OUTSIDE}, ${excess}, clock_timestamp())`
    outside.push(order)
  }
  await tellRefunds(tx, outside)
  return outside
}

/**
 * Opens the latest refund of a charge that the provider has undone, and lowers its order's `refunded_minor`. An order
 * that was refunded is paid again; units that are back for sale stay there.
 */
export async function reopenRefund(tx: Queryable, { charge, order }: ChargeOf): Promise<RefundOf | undefined> {
  const [locked] = await lockOrders(tx, [order])
  const [row] = await tx<RefundOf[]>`
    update refunds set refunded_at = null, asked_at = clock_timestamp()
    where refund_id = (
      select refund_id from refunds where charge_id = ${charge} and refunded_at is not null and reason <> ${OUTSIDE}
      order by refunded_at desc, refund_id desc limit 1)
    returning charge_id as charge, order_id as "order", refund_id as refund`
  if (!row || locked?.charge_id !== charge || locked.refunded_minor === 0) return row
  const { refundedMinor } = refundMove(locked, await refundsOf(tx, [locked]))
  const type = 'order.refund_failed'
  const to = locked.status === 'refunded' ? ({ to: 'confirmed' } as const) : {}
  await advanceOrders(tx, [{ order, refundedMinor }], { from: [locked.status], type, ...to })
  return row
}
