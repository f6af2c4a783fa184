/** Reads an order for support: its current state, its payment, and its whole history in one timeline. */
import type { FoundOrder, OrderTimeline } from '../../shared/api/operators/answers.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow } from '../ledger/order-statements.ts'
import { billOn, orderAt } from '../orders/order-json.ts'
import { lineCosts } from '../orders/order-lines.ts'
import { type About, readAbout, readBlockOf, readHistory } from './support-queries.ts'

/** The order in the form in which operators find it. */
export const foundOrder = (order: OrderRow, nowMs: number, about: About | undefined): FoundOrder => ({
  ...orderAt(order, nowMs),
  sale_name: about?.sale_name ?? order.sale_id,
  product_name: order.receipt?.name ?? about?.product_name ?? order.product_id,
  visitor: order.visitor,
  ticket_number: order.ticket_number,
  charge_id: order.charge_id,
  ...(about?.email && { email: about.email }),
  picture: about?.picture ?? null,
  is_parcel: about?.is_parcel ?? false,
  card: order.card,
  payment_method: order.payment_method,
  refunding_minor: about ? about.refunding_minor : 0,
})

/**
 * Returns undefined if the order is unknown. Order and history are read in one snapshot; otherwise one could show a
 * refund that the other lacks.
 */
export function orderHistory(sql: Sql, orderId: string, nowMs: number): Promise<OrderTimeline | undefined> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const order = await findOrder(tx, orderId)
    if (!order) return undefined
    const [{ entries, contact }, about, block] = await Promise.all([
      readHistory(tx, orderId),
      readAbout(tx, [orderId]),
      readBlockOf(tx, order.visitor),
    ])
    const { idempotency_key, updated_at, attempts } = order
    const found = foundOrder(order, nowMs, about.get(orderId))
    const costs = lineCosts(order)
    return {
      ...found,
      lines: found.lines.map((line, i) => ({ ...line, cost_minor: costs[i] ?? 0 })),
      bill: billOn(order),
      idempotency_key,
      attempts,
      reason_in_full: order.reason,
      updated_at,
      contact,
      block,
      history: entries,
    }
  })
}
