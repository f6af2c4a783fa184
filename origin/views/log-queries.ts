/** Reading the raw log of views, in order and in pages. */
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import type { Queryable } from '../ledger/connection.ts'

export interface LoggedView extends ViewEvent {
  readonly seq: number
  readonly written_at: string
}

/** Where a reader is: after this row, which was written then. Later rows are in that hour's partition or later ones. */
export interface Place {
  readonly seq: number
  readonly read_to: string
}

export const PAGE = 5_000

const fields = (sql: Queryable) => sql`
  seq, written_at::text, nullif(sale_id, '') as sale, view, page, seen_seconds,
  (extract(epoch from at) * 1000)::float8 as at_ms, pseudonym, address, network, asn, country, device, language, source`

/** The next rows of a part after a place. */
export const readPart = (sql: Queryable, part: number, { seq, read_to }: Place, through: number | null = null) =>
  sql<LoggedView[]>`
    select ${fields(sql)} from view_log
    where seq > ${seq} and written_at >= ${read_to}::text::timestamptz and part = ${part}
      ${through === null ? sql`` : sql`and seq <= ${through}`}
    order by seq limit ${PAGE}`

interface Selection {
  /** Null: all sales and the front. */
  readonly saleId: string | null
  readonly from: Date
  readonly to: Date
}

/** The next rows of a sale that were written in a period. */
export const readPeriod = (sql: Queryable, { saleId, from, to }: Selection, after: number, limit = PAGE) =>
  sql<LoggedView[]>`
    select ${fields(sql)} from view_log
    where seq > ${after} and written_at >= ${from} and written_at < ${to}
      ${saleId === null ? sql`` : sql`and sale_id = ${saleId}`}
    order by seq limit ${limit}`

/** The latest rows, the latest last. */
export async function readLatest(sql: Queryable, rows: number): Promise<LoggedView[]> {
  const latest = await sql<LoggedView[]>`
    select ${fields(sql)} from view_log where written_at >= now() - interval '1 hour' order by seq desc limit ${rows}`
  return latest.toReversed()
}

/** For each part, the age of the oldest row that is not counted; 0 without one. */
export const readBehind = (sql: Queryable) => sql<{ part: number; seconds: number }[]>`
  select r.part, coalesce(extract(epoch from clock_timestamp() - first.written_at), 0)::float8 as seconds
  from view_readers r left join lateral (
    select written_at from view_log l
    where l.seq > r.seq and l.written_at >= r.read_to and l.part = r.part order by l.seq limit 1) first on true
  order by r.part`

/** Drops the hours that began a day ago. */
export const dropViewHours = (sql: Queryable) => sql`select drop_view_hours()`
