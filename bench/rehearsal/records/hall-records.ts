/** The records of ledger and gate about a hall after its sale is over, and the drawing of who bought when. */
import type postgres from 'postgres'
import type { DemoHall } from '../../../dev/demo/hall.ts'
import { differingSeats } from '../../../origin/seats/bits.ts'
import type { Gate } from '../../../origin/stock/gate/gate.ts'
import { HELD, isLive, LIVE } from '../../../shared/api/order-status.ts'
import type { HallLine, HallOrder, HallRecords } from '../../invariants/evidence.ts'

interface OrderRow {
  readonly order: string
  readonly status: string
  readonly product: string
  readonly quantity: number
  readonly price: number
  readonly cart: readonly (Omit<HallLine, 'seat' | 'returned'> & { seat?: number; returned?: true })[] | null
  readonly createdMs: number
  readonly updatedMs: number
}

export async function readHall(sql: postgres.Sql, gate: Gate, sale: string, hall: DemoHall): Promise<HallRecords> {
  const rows = await sql<OrderRow[]>`
    select order_id as "order", status, product_id as product, quantity, unit_price_minor::float8 as price, cart,
      extract(epoch from created_at)::float8 * 1000 as "createdMs",
        extract(epoch from updated_at)::float8 * 1000 as "updatedMs"
    from orders where sale_id = ${sale}`
  const claims = await sql<{ seat: number; order: string | null }[]>`
    select seat_index as seat, order_id as "order" from seat_claims where sale_id = ${sale}`
  const counters = await sql<{ product: string; total: number; buffer: number; held: number; sold: number }[]>`
    select product_id as product, total, buffer, held, sold from products where sale_id = ${sale}`
  const history = await sql<{ order: string; status: string }[]>`
    select "order", status from (
      select e.seq, o.order_id as "order", e.status from orders o join events e on e.order_id = o.order_id
      where o.sale_id = ${sale}
      union all
      select e.seq, o.order_id, e.status from events e, unnest(e.order_ids) i join orders o on o.order_id = i
      where o.sale_id = ${sale} and e.order_ids is not null
    ) h where status is not null order by seq`
  const stock = await gate.stock()
  return {
    hall,
    orders: new Map(rows.map((row) => [row.order, orderOf(row)])),
    claims: new Map(claims.map(({ seat, order }) => [seat, order])),
    counters: new Map(counters.map(({ product, ...of }) => [product, of])),
    gate: stock && { stock, seats: differingSeats(await gate.seats(), new Uint8Array()) },
    history: history.map(({ order, status }) => [order, isLive(status)]),
  }
}

function orderOf({ status, product, quantity, price, cart, createdMs, updatedMs }: OrderRow): HallOrder {
  const plain = { product, quantity, unit_price_minor: price }
  const isHeld = HELD.some((one) => one === status)
  const lines = (cart ?? [plain]).map((line): HallLine => {
    const { seat = null, returned = false } = line as { seat?: number; returned?: boolean }
    const { product, quantity, unit_price_minor } = line
    return { product, quantity, unit_price_minor, seat, returned }
  })
  return { isLive: isLive(status), isHeld, lines, createdMs, endedMs: isLive(status) ? null : updatedMs }
}

/**
 * Finds live units beyond the total of their product, and seats in two live orders, each of which is an oversell. It
 * is for polls during sales with and without a hall.
 */
export const oversoldIn = (sql: postgres.Sql, sale: string) => sql`
  with lines as (
    select coalesce(l ->> 'product', o.product_id) as product_id,
      coalesce((l ->> 'quantity')::int, o.quantity) as quantity,
      l ->> 'seat' as seat
    from orders o left join jsonb_array_elements(o.cart) l on true
    where o.sale_id = ${sale} and o.status in ${sql(LIVE)} and (l is null or not l ? 'returned'))
  select p.product_id from products p join lines using (product_id)
  where p.sale_id = ${sale} group by p.product_id, p.total having sum(lines.quantity) > p.total
  union all
  select seat from lines where seat is not null group by seat having count(*) > 1`

/**
 * A seat of the report's drawing: its place, and the time in the sale at which it was bought, from 0 to 1; null if it
 * was not.
 */
export type DrawnSeat = readonly [x: number, y: number, share: number | null]

/** The seats of sold orders are sorted by the time of their reservation. */
export function drawHall({ hall, orders }: HallRecords): DrawnSeat[] {
  const sold = [...orders.values()]
    .filter(({ isLive, isHeld }) => isLive && !isHeld)
    .sort((a, b) => a.createdMs - b.createdMs)
    .flatMap(({ lines }) => lines.flatMap(({ seat, returned }) => (returned ? [] : (seat ?? []))))
  const shareOf = new Map(sold.map((seat, i) => [seat, i / Math.max(1, sold.length - 1)]))
  return hall.seats.map(({ x, y, index }) => {
    const share = shareOf.get(index)
    return [x, y, share === undefined ? null : Math.round(share * 1_000) / 1_000]
  })
}
