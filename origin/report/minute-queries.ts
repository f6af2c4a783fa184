/** What happened in each sale by the minute, for the console's charts and the report. */
import type { Figures, Minute } from '../../shared/api/live.ts'
import type { Sql } from '../ledger/connection.ts'

/** Figures of a sale since the last write: counts add up over all processes, of a gauge the last value stays, of `most_waiting` the largest. */
export interface SaleFigures {
  readonly sale: string
  readonly counts: Figures
  readonly gauges: Figures
}

/** Adds figures to the present minute, all sales in one statement. */
export async function addFigures(sql: Sql, figures: readonly SaleFigures[]): Promise<void> {
  if (figures.length === 0) return
  // In one order, since several processes add at the same time.
  const sorted = figures.toSorted((a, b) => (a.sale < b.sale ? -1 : 1))
  await sql`
    insert into sale_minutes (sale_id, minute, counts, gauges)
    select sale, date_trunc('minute', clock_timestamp()), counts::jsonb, gauges::jsonb
    from unnest(${sorted.map((one) => one.sale)}::text[], ${sorted.map((one) => JSON.stringify(one.counts))}::text[],
                ${sorted.map((one) => JSON.stringify(one.gauges))}::text[]) as one(sale, counts, gauges)
    on conflict (sale_id, minute) do update set
      counts = add_counts(sale_minutes.counts, excluded.counts), gauges =
        sale_minutes.gauges || excluded.gauges || jsonb_strip_nulls(jsonb_build_object('most_waiting',
          greatest(sale_minutes.gauges -> 'most_waiting', excluded.gauges -> 'most_waiting')))`
}

/** The latest minutes of a sale in which anything happened, the oldest first. */
export async function readMinutes(sql: Sql, saleId: string, limit: number): Promise<Minute[]> {
  const rows = await sql<{ minute: Date; counts: Figures; gauges: Figures }[]>`
    select minute, counts, gauges from sale_minutes where sale_id = ${saleId} order by minute desc limit ${limit}`
  return rows.map(({ minute, counts, gauges }) => ({ minute: minute.toISOString(), counts, gauges })).reverse()
}

/** The counts of a sale's minutes before one, summed. */
export async function countsBefore(sql: Sql, saleId: string, minute: string): Promise<Figures> {
  const rows = await sql<{ name: string; value: number }[]>`
    select name, sum((value #>> '{}')::float8) as value
    from sale_minutes cross join lateral jsonb_each(counts) as one(name, value)
    where sale_id = ${saleId} and minute < ${minute}::timestamptz group by name`
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}
