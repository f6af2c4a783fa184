/** Queries for a sale by the second: the rows that all processes write, and the actions that a chart marks. */
import type { Marker } from '../../../shared/api/operators/seconds.ts'
import type { Queryable, Sql } from '../../ledger/connection.ts'
import type { EventRow } from '../../ledger/schema/events.ts'
import { countsOf, type SaleFigures } from '../report-queries.ts'
import type { SecondRow } from './seconds.ts'

/** Seconds are stored this long, and those after the opening as long as the sale's minutes. */
export const KEPT_MINUTES = 15

/** The gauges that the charts show. */
const GAUGES = ['called', 'arrived', 'joined', 'waiting', 'held', 'sold', 'rate_target']

/** Adds figures to the current second, all sales in one statement. Counts add up, and a gauge takes its last value. */
export async function addSeconds(sql: Sql, figures: readonly SaleFigures[]): Promise<void> {
  if (figures.length === 0) return
  // The rows are sorted, because several processes add at the same time and a different order would deadlock.
  const sorted = figures.toSorted((a, b) => (a.sale < b.sale ? -1 : 1))
  const shown = sorted.map(({ gauges }) =>
    JSON.stringify(Object.fromEntries(Object.entries(gauges).filter(([name]) => GAUGES.includes(name)))),
  )
  await sql`
    insert into sale_seconds as s (sale_id, second, counts, gauges)
    select sale, date_trunc('second', clock_timestamp()), counts::jsonb, gauges::jsonb
    from unnest(${sorted.map(({ sale }) => sale)}::text[],
      ${sorted.map(({ counts: { joined } }) => JSON.stringify({ ...(joined !== undefined && { joined }) }))}::text[],
      ${shown}::text[]) as one(sale, counts, gauges)
    on conflict (sale_id, second) do update set
      counts = add_counts(s.counts, excluded.counts), gauges = s.gauges || excluded.gauges`
}

/** Adds recent order events to the seconds in which they happened. */
export async function addOrderSeconds(tx: Queryable, events: readonly EventRow[]): Promise<void> {
  await tx`
    insert into sale_seconds as s (sale_id, second, counts, gauges)
    select sale_id, second, jsonb_object_agg(name, orders), '{}'
    from (${countsOf(tx, events, 'second')}) each
    where name in ('reserved', 'confirmed', 'declined', 'paid_minor')
      and second > clock_timestamp() - make_interval(mins => ${KEPT_MINUTES})
    group by sale_id, second
    order by sale_id, second
    on conflict (sale_id, second) do update set counts = add_counts(s.counts, excluded.counts)`
}

/** Deletes the seconds that no chart shows any more. */
export async function deleteSeconds(sql: Sql): Promise<void> {
  await sql`
    delete from sale_seconds using sales
    where sales.sale_id = sale_seconds.sale_id
      and second < clock_timestamp() - make_interval(mins => ${KEPT_MINUTES + 1})
      and second not between opens_at and opens_at + make_interval(mins => ${KEPT_MINUTES})`
}

export const readSeconds = (sql: Sql, saleId: string, from: Date, to: Date) => sql<SecondRow[]>`
  select second, counts, gauges from sale_seconds
  where sale_id = ${saleId} and second between ${from} and ${to} order by second`

/** The actions that change what the charts show. */
const MARKED = ['opened', 'paused', 'resumed', 'ended', 'rate set', 'restocked', 'announced', 'rule added']
/** A chart with more markers is unreadable. */
const MARKERS = 100

export const readMarkers = (sql: Sql, saleId: string, from: Date, to: Date) => sql<Marker[]>`
  select at, action, actor as by, product_id, before, after from (
    select entry_id, at, action, actor, product_id, before, after from audit_log
    where sale_id = ${saleId} and order_id is null and action in ${sql(MARKED)} and at between ${from} and ${to}
    order by entry_id desc limit ${MARKERS}) latest
  order by entry_id`
