/**
 * Readers of the event log: webhooks, mail and the search. Each has its own cursor in the ledger, which moves in the
 * transaction of the reader's work. Both commit or neither does, whichever worker reads and wherever it dies.
 */
import type { PendingQuery, Row, TransactionSql } from 'postgres'
import type { Sql } from '../ledger/connection.ts'
import type { EventRow } from '../ledger/schema/events.ts'

/** The number of events per transaction. */
const PAGE = 200
/**
 * The approximate number of orders that the events of a transaction may have. A single event can be a batch of up to
 * 500 new orders.
 */
const PAGE_ORDERS = 2_000

/**
 * Passes the next events to `handle`, in order of commit and each event once. Returns true if there may be more. Does
 * nothing while another worker runs the same reader. A new reader starts with the oldest event. `needed`, a condition
 * on `e`, selects the events to handle; data and order ids of other events are not read.
 */
export async function readEvents(
  sql: Sql,
  reader: string,
  handle: (tx: TransactionSql, events: readonly EventRow[]) => Promise<unknown>,
  limit = PAGE,
  needed: PendingQuery<Row[]> = sql`true`,
): Promise<boolean> {
  // If there are no new events, nothing is written and no transaction id is used.
  const [state] = await sql<{ known: boolean; waits: boolean }[]>`
    select r.reader is not null as known,
      ${isReaderBehind(sql)} as waits
    from (select 1) one left join readers r on reader = ${reader}`
  if (!state?.waits) return false
  // The row is inserted outside the transaction below, or another worker that inserts the same reader would wait for
  // the whole page.
  if (!state.known) await sql`insert into readers (reader) values (${reader}) on conflict do nothing`
  return sql.begin(async (tx) => {
    const [at] = await tx<{ xid: string; seq: number }[]>`
      select xid, seq from readers where reader = ${reader} for no key update skip locked`
    if (!at) return false
    const read = await tx<(EventRow & { needed: boolean })[]>`
      select e.xid, e.seq, e.type, e.order_id, e.status, e.sale_id, e.at, needed,
        case when needed then e.order_ids end as order_ids, case when needed then e.data end as data
      from read_events(${at.xid}::xid8, ${at.seq}, ${limit}) e, lateral (select ${needed} as needed) n
      order by e.xid, e.seq`
    const page = read.slice(0, atMostOrders(read))
    const last = page.at(-1)
    if (!last) return false
    const events = page.filter(({ needed }) => needed)
    if (events.length > 0) await handle(tx, events)
    await tx`update readers set xid = ${last.xid}::xid8, seq = ${last.seq} where reader = ${reader}`
    return read.length === limit || page.length < read.length
  })
}

/** The condition of a reader's row `r` that there may be events. Without a row it holds for a new reader. */
export const isReaderBehind = (sql: Sql) =>
  sql`exists (select from read_events(coalesce(r.xid, '0'), coalesce(r.seq, 0), 1))`

/** Returns how many of the events together have at most `PAGE_ORDERS` orders; at least one. */
function atMostOrders(read: readonly EventRow[]): number {
  let orders = 0
  const end = read.findIndex(({ order_ids }) => {
    orders += order_ids?.length ?? 1
    return orders > PAGE_ORDERS
  })
  return end === -1 ? read.length : Math.max(1, end)
}
