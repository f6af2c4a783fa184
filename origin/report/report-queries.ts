/** Queries for the charts and the report: what happened in each sale by the minute, and the ledger's figures. */

import type { Figures, Incident, Minute } from '../../shared/api/operators/report.ts'
import { HELD, SOLD } from '../../shared/api/order-status.ts'
import { READS } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { kindOf, type OrderRow } from '../ledger/order-statements.ts'
import type { EventRow, OrderSnapshot } from '../ledger/schema/events.ts'
import type { Gauges } from './figures.ts'

/** The orders of a sale by status and currency. */
export interface OrderFigures {
  readonly status: OrderRow['status']
  readonly currency: string
  readonly orders: number
  /** The number of reserved orders, without recorded refusals. */
  readonly reserved: number
  readonly amount_minor: number
  readonly refunded_orders: number
  /** The price of the orders that were refunded, in full or in part. */
  readonly refunded_of_minor: number
  readonly refunded_minor: number
}

export const orderFigures = (sql: Sql, saleId: string) => sql<OrderFigures[]>`
  select status, currency, count(*)::int as orders,
    count(*) filter (where reserved_until > created_at)::int as reserved,
    sum(order_total(unit_price_minor, quantity, cart, bill))::float8 as amount_minor,
      sum(refunded_minor)::float8 as refunded_minor,
    count(*) filter (where refunded_minor > 0)::int as refunded_orders,
    coalesce(sum(order_total(unit_price_minor, quantity, cart, bill)) filter (where refunded_minor > 0),
      0)::float8 as refunded_of_minor
  from orders where sale_id = ${saleId} group by status, currency`

/** The holds of one length, which an operator may have changed during the sale. */
export interface HoldFigures {
  readonly hold_seconds: number
  readonly reserved: number
  readonly paid: number
  /** Orders that ended without a payment. */
  readonly abandoned: number
  /** How long the orders that are over were held, in all. */
  readonly held_seconds: number
  readonly median_seconds_to_pay: number | null
}

/**
 * The holds of a sale by their length. An order is held until its capture was asked for, or otherwise until its last
 * change; the box office has no holds.
 */
export const holdFigures = (sql: Sql, saleId: string, limit: number) => sql<HoldFigures[]>`
  select hold_seconds, count(*)::int as reserved, count(*) filter (where was_paid)::int as paid,
    count(*) filter (where is_over and not was_paid)::int as abandoned,
    coalesce(sum(held) filter (where is_over), 0)::float8 as held_seconds,
    (percentile_cont(0.5) within group (order by held) filter (where was_paid))::float8 as median_seconds_to_pay
  from (
    select round(extract(epoch from o.reserved_until - o.created_at))::int as hold_seconds,
      o.status in ${sql([...SOLD, 'returned'])} or o.refunded_minor > 0 as was_paid,
      o.status not in ${sql(HELD)} as is_over,
      extract(epoch from coalesce(c.asked_at, o.updated_at) - o.created_at) as held
    from orders o left join captures c using (charge_id)
    where o.sale_id = ${saleId} and o.reserved_until > o.created_at
      and o.payment_method is distinct from 'box_office') h
  group by hold_seconds order by reserved desc, hold_seconds limit ${limit}`

/** The price of the sold units of each product and section. */
export const soldByProduct = (sql: Sql, saleId: string) => sql<{ product: string; minor: number }[]>`
  select product, sum(minor)::float8 as minor from (
    select product_id as product, unit_price_minor * quantity as minor
    from orders where sale_id = ${saleId} and cart is null and status in ${sql(SOLD)}
    union all
    select l ->> 'product', (l ->> 'unit_price_minor')::bigint * (l ->> 'quantity')::int
    from orders, jsonb_array_elements(cart) l
    where sale_id = ${saleId} and cart is not null and status in ${sql(SOLD)} and not l ? 'returned'
      and not starts_with(l ->> 'product', '%')) sold
  group by product`

/**
 * The time of the first order of each ticket number of a line, in that order. It reads one ticket number in `every`,
 * chosen by a hash of the number.
 */
export const firstOrders = (sql: Sql, saleId: string, line: string, every: number) => sql<
  { number: number; at_ms: number }[]
>`
  select ticket_number::float8 as number, extract(epoch from min(created_at))::float8 * 1000 as at_ms
  from orders
  where sale_id = ${saleId} and line = ${line} and reserved_until > created_at
    and (hashint8(ticket_number) & 2147483647) % ${every} = 0
  group by ticket_number order by at_ms`

/** Sums all counts of a sale's minutes, and returns the highest and the last value of each gauge. */
export async function minuteTotals(sql: Sql, saleId: string): Promise<{ counts: Figures } & Gauges> {
  const rows = await sql<{ of: 'counts' | keyof Gauges; name: string; value: number }[]>`
    select 'counts' as of, name, sum((value #>> '{}')::float8) as value
    from sale_minutes cross join lateral jsonb_each(counts) as one(name, value) where sale_id = ${saleId} group by name
    union all
    select 'most', name, max((value #>> '{}')::float8)
    from sale_minutes cross join lateral jsonb_each(gauges) as one(name, value) where sale_id = ${saleId} group by name
    union all
    select 'last', name, (array_agg((value #>> '{}')::float8 order by minute desc))[1]
    from sale_minutes cross join lateral jsonb_each(gauges) as one(name, value) where sale_id = ${saleId} group by name`
  const all = (of: string) =>
    Object.fromEntries(rows.filter((row) => row.of === of).map(({ name, value }) => [name, value]))
  return { counts: all('counts'), most: all('most'), last: all('last') }
}

type MinuteRow = Omit<Minute, 'minute'> & { readonly minute: Date }
const toMinute = ({ minute, ...figures }: MinuteRow): Minute => ({ minute: minute.toISOString(), ...figures })

/**
 * The minutes of a sale between two times, the oldest first. If there are more than `limit`, the first ones are
 * returned.
 */
export async function minutesBetween(sql: Sql, saleId: string, from: Date, to: Date, limit: number): Promise<Minute[]> {
  const rows = await sql<MinuteRow[]>`
    select minute, counts, gauges from sale_minutes
    where sale_id = ${saleId} and minute between ${from} and ${to} order by minute limit ${limit}`
  return rows.map(toMinute)
}

/** The protection rules of a sale that matched any visitor, and the blocks. */
export async function protection(sql: Sql, saleId: string, from: Date, to: Date) {
  const [rules, [blocks]] = await Promise.all([
    sql<{ note: string; action: string; met: number }[]>`
      select note, action, met::float8 as met from rules where sale_id = ${saleId} order by met desc, rule_id`,
    sql<[{ in_force: number; made_meanwhile: number }]>`
      select count(*)::int as in_force, count(*) filter (where blocked_at between
        ${from} and ${to})::int as made_meanwhile
      from blocks`,
  ])
  return { rules, blocks }
}

/** The incidents of a sale, the oldest first. */
export const incidents = (sql: Sql, saleId: string, limit: number) => sql<Incident[]>`
  select at, kind, what, by, until, detail from (
    (select at, 'action' as kind, action as what, actor as by, null::timestamptz as until,
       jsonb_strip_nulls(jsonb_build_object('product_id', product_id, 'before', before, 'after', after)) as detail
     from audit_log where sale_id = ${saleId} and order_id is null
       and action <> all(${[...READS]}) order by entry_id desc limit ${limit})
    union all
    (select first_seen_at, 'finding', kind, null, closed_at,
       jsonb_strip_nulls(jsonb_build_object('product_id', nullif(product_id, ''), 'subject', nullif(subject, ''),
         'units', units, 'seen', seen, 'outcome', outcome, 'detail', detail))
     from findings where sale_id = ${saleId} order by finding_id desc limit ${limit})
  ) i order by at, kind`

// -- Minutes -------------------------------------------------------------------------------------------------------

/** The figures of a sale since the last write. */
export interface SaleFigures {
  readonly sale: string
  /** The beginning of the minute; by default the current one. */
  readonly minute?: Date
  readonly counts: Figures
  readonly gauges: Figures
}

/**
 * Adds figures to minutes, all sales in one statement. Counts add up over all processes. A gauge takes its last
 * value, except `most_waiting`, which keeps the largest, and `wait_shown` and `wait_real`, which keep the pair that
 * differs most. A wait that the edge no longer reports is removed.
 */
export async function addFigures(sql: Sql, figures: readonly SaleFigures[]): Promise<void> {
  if (figures.length === 0) return
  // The rows are sorted, because several processes add at the same time and a different order would deadlock.
  const sorted = figures.toSorted((a, b) => (a.sale < b.sale ? -1 : 1))
  await sql`
    insert into sale_minutes as m (sale_id, minute, counts, gauges)
    select sale, coalesce(minute, date_trunc('minute', clock_timestamp())), counts::jsonb, gauges::jsonb
    from unnest(${sorted.map(({ sale }) => sale)}::text[],
      ${sorted.map(({ minute }) => minute?.toISOString() ?? null)}::timestamptz[],
                ${sorted.map(({ counts }) => JSON.stringify(counts))}::text[],
                ${sorted.map(({ gauges }) => JSON.stringify(gauges))}::text[]) as one(sale, minute, counts, gauges)
    on conflict (sale_id, minute) do update set
      counts = add_counts(m.counts, excluded.counts),
      gauges = case when excluded.gauges ? 'waiting' then m.gauges - 'wait_seconds' else m.gauges end || excluded.gauges
        || jsonb_strip_nulls(jsonb_build_object('most_waiting',
          greatest(m.gauges -> 'most_waiting', excluded.gauges -> 'most_waiting')))
        || case
          when abs((m.gauges -> 'wait_shown')::float8 - (m.gauges -> 'wait_real')::float8)
            > abs((excluded.gauges -> 'wait_shown')::float8 - (excluded.gauges -> 'wait_real')::float8)
          then jsonb_build_object('wait_shown', m.gauges -> 'wait_shown', 'wait_real', m.gauges -> 'wait_real')
          else '{}' end`
}

/** Writes a forecast into the current minute, if the sale has one: a sale to which nothing happens has no minutes. */
export const noteForecast = (
  sql: Sql,
  saleId: string,
  forecast: Readonly<Record<'forecast_joins' | 'forecast_checkouts', number>>,
) => sql`
  update sale_minutes set gauges = gauges || ${sql.json(forecast)}
  where sale_id = ${saleId} and minute = date_trunc('minute', clock_timestamp())`

/** The counts to which an event adds: its name, and for an order that was not paid also why. */
function namesOf({ type, data }: EventRow): string[] {
  const name = type.replace('order.', '')
  const { reason: text, decline_code } = (data ?? {}) as OrderSnapshot
  const reason = text ? kindOf(text) : null
  const isDeclined = name === 'declined' || reason === 'declined'
  return [
    name,
    ...(name === 'cancelled' && reason !== null ? [`cancelled.${reason}`] : []),
    // The last declined attempt cancels its order, and has no other event.
    ...(name === 'cancelled' && isDeclined ? ['declined'] : []),
    ...(isDeclined ? [`declined.${decline_code ?? 'declined'}`] : []),
  ]
}

/**
 * The order events by sale, time and name, each with the number of its orders. `paid_minor` is the price of those that
 * were confirmed.
 */
export function countsOf(tx: Queryable, events: readonly EventRow[], unit: 'minute' | 'second') {
  const orders = events.flatMap((event) =>
    (event.order_ids ?? [event.order_id]).flatMap((id) =>
      namesOf(event).map((name) => ({ id, name, at: event.at.toISOString() })),
    ),
  )
  return tx`
    select o.sale_id, date_trunc(${unit}, e.at) as ${tx(unit)}, each_name.name, sum(each_name.value) as orders
    from unnest(${orders.map(({ id }) => id)}::uuid[], ${orders.map(({ name }) => name)}::text[],
                ${orders.map(({ at }) => at)}::timestamptz[]) as e(order_id, name, at)
    join orders o using (order_id)
    cross join lateral (values (e.name, 1::bigint), ('paid_minor', case when e.name = 'confirmed'
      then order_total(o.unit_price_minor, o.quantity, o.cart, o.bill) end)) as each_name(name, value)
    where each_name.value is not null group by 1, 2, 3`
}

/**
 * Adds the order events to the minutes in which they happened. A minute without figures starts with the gauges of the
 * minute before, except those that hold for one minute only.
 */
export async function addOrderCounts(tx: Queryable, events: readonly EventRow[]): Promise<void> {
  await tx`
    insert into sale_minutes as m (sale_id, minute, counts, gauges)
    select sale_id, minute, jsonb_object_agg(name, orders), coalesce((
      select b.gauges - '{most_waiting,wait_seconds,wait_shown,wait_real,forecast_joins,forecast_checkouts}'::text[]
      from sale_minutes b
      where b.sale_id = each.sale_id and b.minute < each.minute order by b.minute desc limit 1), '{}')
    from (${countsOf(tx, events, 'minute')}) each
    group by sale_id, minute
    -- The rows are sorted, because several processes add at the same time and a different order would deadlock.
    order by sale_id, minute
    on conflict (sale_id, minute) do update set counts = add_counts(m.counts, excluded.counts)`
}

/** The latest minutes of a sale in which anything happened, the oldest first. */
export async function readMinutes(sql: Sql, saleId: string, limit: number): Promise<Minute[]> {
  const rows = await sql<MinuteRow[]>`
    select minute, counts, gauges from sale_minutes where sale_id = ${saleId} order by minute desc limit ${limit}`
  return rows.map(toMinute).reverse()
}

/** Sums the counts of a sale's minutes before the given one. */
export async function countsBefore(sql: Sql, saleId: string, minute: string): Promise<Figures> {
  const rows = await sql<{ name: string; value: number }[]>`
    select name, sum((value #>> '{}')::float8) as value
    from sale_minutes cross join lateral jsonb_each(counts) as one(name, value)
    where sale_id = ${saleId} and minute < ${minute}::timestamptz group by name`
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}
