/** The counts of views in the ledger: added to by those who count, and read by operators. */
import type { ViewKey } from '../../shared/api/operators/views.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { Place } from './log-queries.ts'
import type { CountRow } from './tally.ts'

/** Adds to counts in one statement. All writers take the rows in one order, so that none waits for another forever. */
async function addCounts(tx: Queryable, kind: 'live' | 'recount', rows: readonly CountRow[]): Promise<void> {
  if (rows.length === 0) return
  const column = <Name extends keyof CountRow>(name: Name) => rows.map((row) => row[name])
  await tx`
    insert into view_counts (sale_id, minute, kind, by, key, counted, dropped, seconds)
    select sale_id, minute, ${kind}, by, key, counted, dropped, seconds from unnest(
      ${column('sale_id')}::text[], ${column('minute')}::text[]::timestamptz[], ${column('by')}::text[],
      ${column('key')}::text[], ${column('counted')}::int[], ${column('dropped')}::int[], ${column('seconds')}::int[])
      as added (sale_id, minute, by, key, counted, dropped, seconds)
    order by sale_id, by, minute, key
    on conflict (sale_id, by, minute, kind, key) do update set counted = view_counts.counted + excluded.counted,
      dropped = view_counts.dropped + excluded.dropped, seconds = view_counts.seconds + excluded.seconds`
}

/** The place of a part's reader. A new one begins with the oldest row. */
export async function placeOf(sql: Sql, part: number): Promise<Place> {
  const read = () => sql<Place[]>`select seq, read_to::text from view_readers where part = ${part}`
  const [known] = await read()
  if (known) return known
  await sql`insert into view_readers (part, seq, read_to) values (${part}, 0, now() - interval '1 day')
    on conflict do nothing`
  const [added] = await read()
  if (!added) throw new Error('a reader of views was removed')
  return added
}

/** Moves a reader and adds what it has counted, both or neither. False: another worker has moved it meanwhile. */
export const moveReader = (sql: Sql, part: number, from: Place, to: Place, rows: readonly CountRow[]) =>
  sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`
    const moved = await tx`
      update view_readers set seq = ${to.seq}, read_to = ${to.read_to}::text::timestamptz
      where part = ${part} and seq = ${from.seq}`
    if (moved.count === 0) return false
    await addCounts(tx, 'live', rows)
    return true
  })

interface Period {
  readonly saleId: string
  readonly from: Date
  readonly to: Date
}

/** The counts of a period that are in force: those of a minute that was counted again take the place of the first. */
const inForce = (sql: Queryable, { saleId, from, to }: Period) => sql`
  c.sale_id = ${saleId} and c.minute >= ${from} and c.minute < ${to} and (c.kind = 'recount' or not exists (
    select from view_counts again where again.sale_id = c.sale_id and again.by = 'total' and again.minute = c.minute
      and again.kind = 'recount'))`

export interface Sums {
  readonly key: string
  readonly counted: number
  readonly dropped: number
  readonly seconds: number
}

/** The sums of a kind of counts by key, the largest first; minutes in their order. */
export const sumCounts = (sql: Queryable, period: Period, by: ViewKey | 'total' | 'rule') => {
  const isMinute = by === 'minute'
  const key = isMinute ? sql`to_char(c.minute at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"')` : sql`c.key`
  return sql<Sums[]>`
    select ${key} as key, sum(c.counted)::float8 as counted, sum(c.dropped)::float8 as dropped,
      sum(c.seconds)::float8 as seconds
    from view_counts c where ${inForce(sql, period)} and c.by = ${isMinute ? 'total' : by}
    group by 1 order by ${isMinute ? sql`1` : sql`2 desc, 3 desc, 1`}`
}

/** The first and the last minute with counts of a sale. */
export async function countedPeriod(sql: Queryable, saleId: string): Promise<{ from: Date; to: Date } | null> {
  const [row] = await sql<{ from: Date | null; to: Date | null }[]>`
    select min(minute) as from, max(minute) + interval '1 minute' as to from view_counts
    where sale_id = ${saleId} and by = 'total'`
  return row?.from && row.to ? { from: row.from, to: row.to } : null
}

/** The views that each rule dropped in the last 24 hours, in all sales. */
export const droppedByRules = (sql: Queryable) => sql<{ rule: string; dropped: number }[]>`
  select c.key as rule, sum(c.dropped)::float8 as dropped from view_counts c
  where c.by = 'rule' and c.kind = 'live' and c.minute > now() - interval '24 hours' group by c.key`

/** The sums of all sales as they were counted live. */
export const liveSums = (sql: Queryable, from: Date, to: Date) => sql<
  { sale_id: string; counted: number; dropped: number }[]
>`
  select sale_id, sum(counted)::float8 as counted, sum(dropped)::float8 as dropped from view_counts
  where by = 'total' and kind = 'live' and minute >= ${from} and minute < ${to} group by sale_id`

/** Replaces the recounted rows of a period, in one transaction. Each minute gets a row, which marks it as recounted. */
export const replaceRecount = (sql: Sql, { saleId, from, to }: Period, rows: readonly CountRow[]) =>
  sql.begin(async (tx) => {
    await tx`delete from view_counts
      where sale_id = ${saleId} and minute >= ${from} and minute < ${to} and kind = 'recount'`
    await tx`
      insert into view_counts (sale_id, minute, kind, by, key)
      select ${saleId}, minute, 'recount', 'total', ''
      from generate_series(${from}::timestamptz, ${to}::timestamptz - interval '1 minute', interval '1 minute') minute`
    await addCounts(tx, 'recount', rows)
  })

/** The counted views of a sale by source or by network, all in all. */
export const countedBy = (by: 'source' | 'network') => async (sql: Sql, saleId: string) => {
  const period = await countedPeriod(sql, saleId)
  if (!period) return []
  const sums = await sumCounts(sql, { saleId, ...period }, by)
  return sums.map(({ key, counted }) => ({ key, views: counted }))
}
