/** What happened to one seat: the orders that had it, and what operators did with it. */
import type { SeatEvent } from '../../shared/api/operators/hall-admin.ts'
import { HELD, isSold, statusOf } from '../../shared/api/order-status.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OrderRow } from '../ledger/order-statements.ts'

const MOST = 50

interface OrderOfSeat {
  readonly order_id: string
  readonly status: OrderRow['status']
  readonly created_at: Date
  readonly updated_at: Date
  readonly price: number | null
  readonly returned: boolean
}

interface Entry {
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly order_id: string | null
  readonly after: Readonly<Record<string, unknown>>
}

const WHAT: Readonly<Record<string, SeatEvent['what']>> = {
  'seats blocked': 'blocked',
  'seats released': 'released',
  'seats priced': 'priced',
  'seat moved': 'moved',
}

/** The latest events of a seat, the newest first. An action on many seats is told of the first hundred. */
export async function seatHistory(
  sql: Sql,
  saleId: string,
  section: string,
  seat: { readonly seat_index: number; readonly seat_id: string },
): Promise<SeatEvent[]> {
  const [orders, entries] = await Promise.all([
    sql<OrderOfSeat[]>`
      select order_id, status, created_at, updated_at, (item ->> 'unit_price_minor')::float8 as price,
        item ? 'returned' as returned
      from orders cross join lateral (
        select each as item from jsonb_array_elements(cart) as items (each)
        where (each ->> 'seat')::int = ${seat.seat_index} limit 1) found
      where sale_id = ${saleId} and cart @> jsonb_build_array(jsonb_build_object('seat', ${seat.seat_index}::int))
      order by created_at desc limit ${MOST}`,
    sql<Entry[]>`
      select at, actor, action, order_id, after from audit_log
      where sale_id = ${saleId} and (
        (product_id = ${section} and action = any(${Object.keys(WHAT)}::text[]) and after -> 'named' ? ${seat.seat_id})
        or (action = 'seat moved' and (
          (after ->> 'section' = ${section} and after ->> 'seat' = ${seat.seat_id})
          or (before ->> 'section' = ${section} and before ->> 'seat' = ${seat.seat_id}))))
      order by entry_id desc limit ${MOST}`,
  ])
  return [...orders.flatMap(eventsOf), ...entries.map(eventOf)]
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, MOST)
}

function eventsOf({ order_id: order, status, created_at, updated_at, price, returned }: OrderOfSeat): SeatEvent[] {
  const of = { order, ...(price !== null && { price_minor: price }) }
  const reserved: SeatEvent = { at: created_at, what: 'reserved', ...of }
  if (HELD.some((one) => one === status)) return [reserved]
  if (isSold(status) && !returned) return [reserved, { at: updated_at, what: 'paid', ...of }]
  const reason = returned ? 'returned' : statusOf(status)
  return [reserved, { at: updated_at, what: 'returned', order, reason }]
}

function eventOf({ at, actor, action, order_id, after }: Entry): SeatEvent {
  return {
    at,
    what: WHAT[action] ?? 'moved',
    by: actor,
    ...(order_id !== null && { order: order_id }),
    ...(typeof after.reason === 'string' && { reason: after.reason }),
    ...(typeof after.price_minor === 'number' && { price_minor: after.price_minor }),
  }
}
