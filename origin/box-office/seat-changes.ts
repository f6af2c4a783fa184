/**
 * Seats that operators block, release, or give an order instead of another. Each change takes the locks of a batch of
 * orders, the sale's row and then those of its sections, so that nobody gets a seat meanwhile; the caller updates the
 * fast gate afterwards.
 */
import type { Logger } from 'pino'
import type { MoveRequest, PriceSeats, ReleaseSeats } from '../../shared/api/operators/hall-admin.ts'
import { HELD, isSold, statusOf } from '../../shared/api/order-status.ts'
import { chargeIssue } from '../../shared/api/stripe-amount.ts'
import { type FieldError, ProblemError, problem } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { findOrder, moveOrders, type OrderRow } from '../ledger/order-statements.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'
import { lockRunningSale, publishPhase } from '../sales/sale-queries.ts'
import type { Gates } from '../stock/gate/gate.ts'
import { blockChange, moveChange, type SeatChange } from '../stock/gate/seat-change.ts'
import { conflict, lockSections, nextVersion } from './section-queries.ts'

export interface SeatsChanged {
  /** The changes that the fast gate must apply. */
  readonly changes: readonly SeatChange[]
  readonly count: number
  readonly unchanged: number
}

/** A seat and who has it. */
interface FoundSeat {
  readonly seat_index: number
  readonly section_id: string
  readonly seat_id: string
  readonly order_id: string | null
  readonly reason: string | null
}

/** Errors named in one problem, and seats in an audit entry. */
const MAX_NAMED = 100

/**
 * Takes seats out of sale. Those that are blocked already stay as they are. Throws, and changes nothing, where an
 * order has one.
 */
export const blockSeats = (
  sql: Sql,
  saleId: string,
  request: ReleaseSeats & { reason: string; until: string | null },
  operator: string,
) =>
  changeSeats(sql, saleId, request, operator, 'seats blocked', async (tx, seats) => {
    const taken = seats.filter(({ order_id }) => order_id !== null).map(({ seat_id }) => seat_id)
    if (taken.length > 0) throw conflict(`Held or sold: ${taken.slice(0, MAX_NAMED).join(', ')}.`, { seats: taken })
    const free = seats.filter(({ reason }) => reason === null)
    await tx`
      insert into seat_claims (sale_id, seat_index, reason, operator, until, since)
      select ${saleId}::text, unnest(${free.map(({ seat_index }) => seat_index)}::int[]), ${request.reason}::text,
        ${operator}::text, ${request.until}::timestamptz, statement_timestamp()`
    return free
  })

/** Puts blocked seats back for sale; others stay as they are. */
export const releaseSeats = (sql: Sql, saleId: string, request: ReleaseSeats, operator: string) =>
  changeSeats(sql, saleId, request, operator, 'seats released', async (tx, seats) => {
    const blocked = seats.filter(({ reason }) => reason !== null)
    await tx`
      delete from seat_claims where sale_id = ${saleId} and reason is not null
        and seat_index = any(${blocked.map(({ seat_index }) => seat_index)}::int[])`
    return blocked
  })

/** Tells the gate of a change that the ledger has. A gate that misses it is healed by the reconciler. */
export async function tellGate(
  { gates, log }: { readonly gates: Pick<Gates, 'of'>; readonly log: Pick<Logger, 'warn'> },
  saleId: string,
  change: SeatChange,
): Promise<void> {
  await gates
    .of(saleId)
    .changeSeats(change)
    .catch((error) => log.warn({ sale: saleId, error: String(error) }, 'gate not updated; the reconciler heals it'))
}

/** The name in the audit log of who releases the seats whose time has come. */
const BY_THE_CLOCK = 'the clock'
/** Sections whose seats one round releases; the others follow in the next one. */
const MAX_OVERDUE = 50

/** A condition for blocks that end by themselves, and whose time has come. A sale that is over keeps its seats. */
export const isBlockOver = (sql: Queryable) => sql`
  until <= clock_timestamp() and exists (
    select from sales s where s.sale_id = seat_claims.sale_id and s.ended_at is null)`

/** Puts the seats whose blocks are over back for sale. Returns the changes by sale. */
export async function releaseOverdue(sql: Sql): Promise<readonly (SeatsChanged & { readonly saleId: string })[]> {
  const overdue = await sql<{ sale_id: string; section_id: string; seats: string[]; reason: string }[]>`
    select s.sale_id, s.section_id, array_agg(s.seat_id) as seats, min(seat_claims.reason) as reason
    from seat_claims join seats s on (s.sale_id, s.seat_index) = (seat_claims.sale_id, seat_claims.seat_index)
    where ${isBlockOver(sql)} group by s.sale_id, s.section_id order by s.sale_id, s.section_id limit ${MAX_OVERDUE}`
  const released: (SeatsChanged & { readonly saleId: string })[] = []
  for (const { sale_id: saleId, section_id, seats, reason } of overdue) {
    const request = { section_id, seats, reason: `${reason}: its time is over` }
    const changed = await changeSeats(sql, saleId, request, BY_THE_CLOCK, 'seats released', async (tx, found) => {
      // An operator may have prolonged some of them meanwhile.
      const gone = await tx<{ seat_index: number }[]>`
        delete from seat_claims where sale_id = ${saleId} and ${isBlockOver(tx)}
          and seat_index = any(${found.map(({ seat_index }) => seat_index)}::int[]) returning seat_index`
      const indexes = new Set(gone.map(({ seat_index }) => seat_index))
      return found.filter(({ seat_index }) => indexes.has(seat_index))
    })
    released.push({ ...changed, saleId })
  }
  return released
}

/**
 * Sets the price or the category of seats. Those that an order has stay as they are: it keeps its price, and its ticket
 * may show the category.
 */
export function priceSeats(sql: Sql, saleId: string, request: PriceSeats, operator: string) {
  const { price_minor, category } = request
  return sql.begin(async (tx) => {
    await lockRunningSale(tx, saleId)
    const found = await findSeats(tx, saleId, request)
    const sections = await lockSections(tx, saleId, [...new Set(found.map(({ section_id }) => section_id))])
    for (const { currency } of sections) {
      const issue = price_minor === undefined ? undefined : chargeIssue(price_minor, currency)
      if (issue) throw invalid([{ field: 'price_minor', detail: issue }])
    }
    const free = found.filter(({ order_id }) => order_id === null)
    const changed = await tx<{ section_id: string; seat_id: string; price_minor: number; category: string }[]>`
      with before as (
        select seat_index, price_minor, category from seats where sale_id = ${saleId}
          and seat_index = any(${free.map(({ seat_index }) => seat_index)}::int[]))
      update seats s set price_minor = coalesce(${price_minor ?? null}::bigint, s.price_minor),
        category = coalesce(${category ?? null}::text, s.category)
      from before b where s.sale_id = ${saleId} and s.seat_index = b.seat_index
        and (s.price_minor, s.category) is distinct from
          (coalesce(${price_minor ?? null}::bigint, s.price_minor), coalesce(${category ?? null}::text, s.category))
      returning s.section_id, s.seat_id, b.price_minor::float8 as price_minor, b.category`
    if (changed.length > 0) await nextVersion(tx, saleId)
    for (const [section, seats] of Map.groupBy(changed, ({ section_id }) => section_id)) {
      const named = seats.slice(0, MAX_NAMED).map(({ seat_id }) => seat_id)
      const was = <T>(of: (seat: (typeof seats)[number]) => T) => [...new Set(seats.map(of))].slice(0, MAX_NAMED)
      await audit(tx, [
        {
          actor: operator,
          action: 'seats priced',
          sale: saleId,
          product: section,
          before: {
            ...(price_minor !== undefined && { price_minor: was((seat) => seat.price_minor) }),
            ...(category !== undefined && { category: was((seat) => seat.category) }),
          },
          after: {
            seats: seats.length,
            named,
            ...(price_minor !== undefined && { price_minor }),
            ...(category !== undefined && { category }),
          },
        },
      ])
    }
    return { changed: changed.length, unchanged: found.length - changed.length }
  })
}

type Change = (tx: Queryable, seats: readonly FoundSeat[]) => Promise<readonly FoundSeat[]>

function changeSeats(
  sql: Sql,
  saleId: string,
  request: ReleaseSeats & { readonly until?: string | null },
  operator: string,
  action: 'seats blocked' | 'seats released',
  change: Change,
): Promise<SeatsChanged> {
  return sql.begin(async (tx) => {
    await lockRunningSale(tx, saleId)
    const found = await findSeats(tx, saleId, request)
    await lockSections(tx, saleId, [...new Set(found.map(({ section_id }) => section_id))])
    const changed = await change(tx, found)
    const bySection = Map.groupBy(changed, ({ section_id }) => section_id)
    const sign = action === 'seats blocked' ? 1 : -1
    const changes: SeatChange[] = []
    for (const [section, seats] of bySection) {
      const [row] = await tx<{ version: number }[]>`
        update products set buffer = buffer + ${sign * seats.length}::int where sale_id = ${saleId}
          and product_id = ${section}
        returning version`
      const indexes = seats.map(({ seat_index }) => seat_index)
      changes.push(blockChange(section, row?.version ?? 0, indexes, sign > 0))
      const ids = seats.map(({ seat_id }) => seat_id)
      const after = {
        seats: ids.length,
        named: ids.slice(0, MAX_NAMED),
        ...(request.reason && { reason: request.reason }),
        ...(request.until && { until: request.until }),
      }
      await audit(tx, [{ actor: operator, action, sale: saleId, product: section, after }])
    }
    await publishPhase(tx, saleId)
    return {
      changes,
      count: changed.length,
      unchanged: found.length - changed.length,
    }
  })
}

/**
 * The named seats of a locked sale with who has them. Throws `invalid-fields`, naming those that are none or several.
 */
async function findSeats(
  tx: Queryable,
  saleId: string,
  { section_id, seats }: Pick<ReleaseSeats, 'section_id' | 'seats'>,
): Promise<FoundSeat[]> {
  const rows = await tx<FoundSeat[]>`
    select s.seat_index, s.section_id, s.seat_id, c.order_id, c.reason
    from seats s left join seat_claims c on (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
    where s.sale_id = ${saleId} and (${section_id ?? null}::text is null or s.section_id = ${section_id ?? null}::text)
      and s.seat_id = any(${seats}::text[])
    order by s.seat_index`
  const byName = Map.groupBy(rows, ({ seat_id }) => seat_id)
  const errors = seats.flatMap((seat, i): FieldError[] => {
    const count = byName.get(seat)?.length ?? 0
    if (count === 1) return []
    const detail = count === 0 ? `there is no seat ${seat}` : `${seat} is in ${count} sections: name its section_id`
    return [{ field: `seats.${i}`, detail }]
  })
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_NAMED))
  return rows
}

const invalid = (errors: readonly FieldError[]) =>
  new ProblemError(
    problem('invalid-fields', { detail: errors.map(({ field, detail }) => `${field}: ${detail}`).join('; '), errors }),
  )

// -- Another seat for an order ---------------------------------------------------------------------------------------

export interface Moved {
  readonly order: OrderRow
  /** The value is null if the order already has this seat. */
  readonly move: SeatChange | null
}

/** While a charge is in progress the order stays as it is, as a buyer at their bank sees it. */
const MOVABLE: readonly OrderRow['status'][] = ['reserved', 'confirmed', 'fulfilled']

/**
 * Gives a line of an order another free seat; it keeps what it cost. The event `order.moved` is for the order's
 * stream, the feed and the search: its status stays, so that no webhook or mail goes out.
 */
export function moveSeat(sql: Sql, order: OrderRow, request: MoveRequest, operator: string): Promise<Moved> {
  const { sale_id: saleId, order_id: orderId } = order
  return sql.begin(async (tx) => {
    // Seats may move after the end of the sale too, because the event takes place later.
    await tx`select from sales where sale_id = ${saleId} for no key update`
    const target = request.section_id ?? order.cart?.[request.line - 1]?.product ?? ''
    const lines = (order.cart ?? []).map(({ product }) => product)
    const sections = await lockSections(tx, saleId, [...new Set([...lines, target])])
    await tx`select from orders where order_id = ${orderId} for no key update`
    // The order is read again under the lock, because it may have changed since.
    const row = await findOrder(tx, orderId)
    if (!row) throw new ProblemError(problem('unknown-order'))
    if (row.status === 'paying') throw conflict('The order is being paid: try again once it is.')
    if (!MOVABLE.includes(row.status))
      throw conflict(`The order is ${statusOf(row.status)}: only one that is held or paid can get another seat.`)
    const line = row.cart?.[request.line - 1]
    if (line?.seat === undefined || line.returned) throw invalid([{ field: 'line', detail: 'no line of a seat' }])
    const to = await findTarget(tx, saleId, target, request.seat_id)
    if (to.order_id === orderId && to.seat_index === line.seat) return { order: row, move: null }
    if (to.order_id !== null || to.reason !== null)
      throw new ProblemError(problem('seat-taken', { seats: [to.seat_id], offer: [] }))
    const section = sections.find(({ product_id }) => product_id === target)
    if (!section || section.currency !== row.currency)
      throw conflict(`${target} is sold in another currency than the order.`)
    const { count } = await tx`
      update seat_claims set seat_index = ${to.seat_index}
      where sale_id = ${saleId} and seat_index = ${line.seat} and order_id = ${orderId}`
    if (count !== 1) throw new Error(`order ${orderId} does not have the seat of its line ${request.line}`)
    const { seat_index: seat, seat_id, row: rowName, number } = to
    const after: StoredLine = { ...line, product: target, name: section.name, seat, seat_id, row: rowName, number }
    const cart = (row.cart ?? []).with(request.line - 1, after)
    await tx`
      update orders set cart = ${JSON.stringify(cart)}::text::jsonb, product_id = ${cart[0]?.product ?? row.product_id}
      where order_id = ${orderId}`
    const version = await moveUnit(tx, saleId, line.product, target, isSold(row.status))
    const [moved] = await moveOrders(tx, [orderId], { from: [row.status], type: 'order.moved' })
    if (!moved) throw new Error(`order ${orderId} was not moved`)
    await audit(tx, [
      {
        actor: operator,
        action: 'seat moved',
        sale: saleId,
        order: orderId,
        before: { line: request.line, section: line.product, seat: line.seat_id },
        after: { line: request.line, section: target, seat: seat_id },
      },
    ])
    const buyer = { visitor: row.visitor, isSold: isSold(row.status) }
    const from = { section: line.product, seat: line.seat }
    return { order: moved, move: moveChange(buyer, version, from, { section: target, seat }) }
  })
}

type Target = FoundSeat & { readonly row: string; readonly number: string }

async function findTarget(tx: Queryable, saleId: string, section: string, seat: string): Promise<Target> {
  const [found] = await tx<Target[]>`
    select s.seat_index, s.section_id, s.seat_id, s.row, s.number, c.order_id, c.reason
    from seats s left join seat_claims c on (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
    where s.sale_id = ${saleId} and s.section_id = ${section} and s.seat_id = ${seat}`
  if (!found) throw invalid([{ field: 'seat_id', detail: `there is no seat ${seat} in ${section || 'this section'}` }])
  return found
}

/**
 * Counts a unit of one section as one of another. Returns the latter's version, which is new also where they are the
 * same.
 */
async function moveUnit(tx: Queryable, saleId: string, from: string, to: string, sold: boolean): Promise<number> {
  const counts = async (section: string, units: number) => {
    const [row] = await tx<{ version: number }[]>`
      update products set held = held + ${sold ? 0 : units}::int, sold = sold + ${sold ? units : 0}::int
      where sale_id = ${saleId} and product_id = ${section} returning version`
    return row?.version ?? 0
  }
  await counts(from, -1)
  return counts(to, 1)
}

// -- Who has a seat --------------------------------------------------------------------------------------------------

/** Claimed seats and what has each: 1 held, 2 sold, 3 blocked. */
export const claimStates = (sql: Sql, saleId: string) => sql<{ seat: number; state: number }[]>`
  select c.seat_index as seat,
    case when c.reason is not null then 3 when o.status in ${sql(HELD)} then 1 else 2 end as state
  from seat_claims c left join orders o on o.order_id = c.order_id where c.sale_id = ${saleId}`

/** Blocked seats, the latest first. */
export const blocksOf = (sql: Sql, saleId: string, limit: number) => sql<
  { section_id: string; seat_id: string; reason: string; operator: string | null; since: Date; until: Date | null }[]
>`
  select s.section_id, s.seat_id, c.reason, c.operator, c.since, c.until
  from seat_claims c join seats s on (s.sale_id, s.seat_index) = (c.sale_id, c.seat_index)
  where c.sale_id = ${saleId} and c.reason is not null
  order by c.since desc, c.seat_index limit ${limit}`

/** A seat with who has it; undefined if there is none. */
export async function ownerOf(sql: Sql, saleId: string, section: string, seat: string) {
  const [row] = await sql<
    (FoundSeat & {
      operator: string | null
      since: Date | null
      until: Date | null
      status: OrderRow['status'] | null
    })[]
  >`
    select s.seat_index, s.section_id, s.seat_id, c.order_id, c.reason, c.operator, c.since, c.until, o.status
    from seats s left join seat_claims c on (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
    left join orders o on o.order_id = c.order_id
    where s.sale_id = ${saleId} and s.section_id = ${section} and s.seat_id = ${seat}`
  return row
}
