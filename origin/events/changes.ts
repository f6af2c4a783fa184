/**
 * Presents the log's events to consumers: one change for each order, sale or finding, with its order in the state of
 * that moment.
 */
import { statusOf } from '../../shared/api/order-status.ts'
import type { Queryable } from '../ledger/connection.ts'
import { findOrders, type OrderRow } from '../ledger/order-statements.ts'
import type { EventRow, OrderSnapshot } from '../ledger/schema/events.ts'
import { orderAt, orderThen } from '../orders/order-json.ts'

/** One event of one order, sale or finding. An event of a batch of new orders makes one change per order. */
export interface Change {
  readonly event: EventRow
  /** The position in the event's batch; 0 for an event of a single order. */
  readonly index: number
  /** The order that the change is about. */
  readonly order_id: string | null
}

interface Message {
  readonly type: string
  readonly timestamp: string
  readonly data: unknown
}

export const changesOf = (event: EventRow): Change[] =>
  (event.order_ids ?? [event.order_id]).map((order_id, index) => ({ event, index, order_id }))

/** The id of a change, which is the same each time the log is read. */
export const messageId = ({ event, index }: Change) =>
  `evt_${event.xid}_${event.seq}${event.order_ids === null ? '' : `_${index}`}`

/** The lane of a change's message. The messages of a lane are sent one after the other. */
export const laneOf = ({ event, order_id }: Change) => order_id ?? `sale:${event.sale_id ?? ''}`

export async function ordersOf(sql: Queryable, changes: readonly Change[]): Promise<ReadonlyMap<string, OrderRow>> {
  const ids = new Set(changes.flatMap(({ order_id }) => order_id ?? []))
  const orders = await findOrders(sql, [...ids])
  return new Map(orders.map(({ left_ms, ...order }) => [order.order_id, order]))
}

export function messageOf(change: Change, orders: ReadonlyMap<string, OrderRow>): Message {
  const { event, order_id } = change
  const about = order_id === null ? event.data : orderIn(event, order_id, orders.get(order_id))
  return { type: event.type, timestamp: event.at.toISOString(), data: about }
}

/**
 * The order as the API showed it at that moment. For an order that was deleted since, it has only what the event
 * contains.
 */
function orderIn({ status, data, at }: EventRow, order_id: string, order: OrderRow | undefined) {
  if (!order || !status) return { order_id, status: status && statusOf(status) }
  const atMs = at.getTime()
  return orderAt(orderThen(order, { status, data: data as OrderSnapshot | null }, atMs), atMs)
}
