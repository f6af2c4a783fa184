/**
 * The feed: every change of an order, in order of commit, for those who poll. It is read below the oldest transaction
 * in progress, so that a cursor never passes a change that is still to appear.
 */
import type { Context } from 'hono'
import * as v from 'valibot'
import { pageLimit, SaleId } from '../../shared/api/fields.ts'
import { preferred } from '../../shared/lib/accept.ts'
import { parse } from '../../shared/parse.ts'
import type { Sql } from '../ledger/connection.ts'
import type { EventRow } from '../ledger/schema/events.ts'
import { type Change, changesOf, messageOf, ordersOf } from './changes.ts'

const MAX_CHANGES = 1_000
/** Events read for one answer at most, where most are of other sales. */
const MAX_READS = 10

const NUMBER = String.raw`\d{1,19}`
const CURSOR = new RegExp(`^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})$`)
const START: Place = { xid: '0', seq: 0, index: 0 }

const FeedQuery = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.transform(placeIn),
      v.check((place) => place !== null, 'no such cursor'),
    ),
  ),
  limit: v.optional(pageLimit(MAX_CHANGES), '100'),
  sale: v.optional(SaleId),
})

/** A change's place in the log: the event's, and the one within its batch. */
interface Place {
  readonly xid: string
  readonly seq: number
  readonly index: number
}

/** `{ changes, next }`, or the changes as NDJSON with `next` in the header Next-Cursor. */
export async function feed(sql: Sql, c: Context): Promise<Response> {
  const { after, limit, sale } = parse(FeedQuery, c.req.query())
  const { changes, next } = await readFeed(sql, after ?? START, limit, sale)
  const type = preferred(c.req.header('accept'), ['application/json', 'application/x-ndjson'])
  if (type !== 'application/x-ndjson') return c.json({ changes, next })
  const lines = changes.map((change) => `${JSON.stringify(change)}\n`).join('')
  return c.body(lines, 200, { 'content-type': 'application/x-ndjson; charset=utf-8', 'next-cursor': next })
}

async function readFeed(sql: Sql, after: Place, limit: number, sale: string | undefined) {
  const changes: { cursor: string; type: string; timestamp: string; data: unknown }[] = []
  let place = after
  for (let reads = 0; reads < MAX_READS && changes.length < limit; reads++) {
    const wanted = limit - changes.length
    const read = await readChanges(sql, place, wanted)
    const orders = await ordersOf(sql, read)
    for (const change of read) {
      place = placeOf(change)
      if (change.order_id === null) continue
      if (sale !== undefined && orders.get(change.order_id)?.sale_id !== sale) continue
      changes.push({ cursor: cursorOf(place), ...messageOf(change, orders) })
    }
    if (read.length < wanted) break
  }
  return { changes, next: cursorOf(place) }
}

/** The changes after a place; of a batch that is read in parts, the remaining ones. */
async function readChanges(sql: Sql, { xid, seq, index }: Place, limit: number): Promise<Change[]> {
  const events = await sql<EventRow[]>`select * from read_events(${xid}::xid8, ${seq - 1}, ${limit + 1})`
  return events
    .flatMap(changesOf)
    .filter(({ event, index: i }) => event.xid !== xid || event.seq !== seq || i > index)
    .slice(0, limit)
}

const placeOf = ({ event, index }: Change): Place => ({ xid: event.xid, seq: event.seq, index })

const cursorOf = ({ xid, seq, index }: Place) => Buffer.from(`${xid}.${seq}.${index}`).toString('base64url')

function placeIn(cursor: string): Place | null {
  const [, xid, seq, index] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (xid === undefined || !Number.isSafeInteger(Number(seq)) || !Number.isSafeInteger(Number(index))) return null
  return { xid, seq: Number(seq), index: Number(index) }
}
