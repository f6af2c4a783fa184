/**
 * Deletes data past their retention or makes them anonymous. Each step processes at most a batch and returns the
 * number of rows, so that it is short enough to run during a sale. A sale in use is left alone.
 */
import type { PendingQuery, Row } from 'postgres'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { deleteRequests, holdLane } from '../mail/mail-requests.ts'
import { isInUse } from '../sales/sale-queries.ts'

export const RETENTION_BATCH = 500

/** The name of the visitor in an order that was made anonymous. */
const FORGOTTEN = 'forgotten'

const ids = (rows: readonly { order_id: string }[]) => rows.map(({ order_id }) => order_id)
const before = (sql: Queryable, days: number) => sql`clock_timestamp() - ${days} * interval '1 day'`

/**
 * Deletes contacts with their mails. The retention is the sale's own, counted from its end, and may differ from the
 * one in force when the contacts were written.
 */
export async function deleteContacts(tx: Queryable): Promise<number> {
  const due = await tx<{ order_id: string }[]>`
    (select c.order_id from sales s cross join lateral (
       select order_id from contacts where sale_id = s.sale_id limit ${RETENTION_BATCH}) c
     where coalesce(s.ended_at, s.ends_at) + (s.contact ->> 'retention_days')::int * interval
       '1 day' < clock_timestamp()
       and not ${isInUse(tx)}
     limit ${RETENTION_BATCH})
    union all
    (select c.order_id from contacts c join sales s using (sale_id)
     where c.delete_after < clock_timestamp() and coalesce(s.ended_at, s.ends_at) is null
     limit ${RETENTION_BATCH})
    limit ${RETENTION_BATCH}`
  // A request's digest includes the address, which could be found by trying addresses against the digest.
  if (due.length > 0) await tx`update orders set request_hash = '' where order_id = any(${ids(due)}::uuid[])`
  return deleteContactsOf(tx, ids(due))
}

/**
 * Deletes requests for messages about a sale, with the messages: when the sale's contacts are deleted, or the same
 * number of days after the request.
 */
export async function deleteOldRequests(tx: Queryable): Promise<number> {
  const due = await tx<{ ask_id: string }[]>`
    select a.ask_id from mail_asks a join sales s using (sale_id)
    where coalesce(s.ended_at, s.ends_at, a.created_at) + (s.contact ->> 'retention_days')::int * interval
      '1 day' < clock_timestamp()
    limit ${RETENTION_BATCH}`
  return deleteRequests(tx, due)
}

async function deleteContactsOf(tx: Queryable, orders: readonly string[]): Promise<number> {
  if (orders.length === 0) return 0
  const lanes = orders.flatMap((order) => [order, holdLane(order)])
  await tx`delete from jobs where queue = 'mail' and lane = any(${lanes}::text[])`
  return (await tx`delete from contacts where order_id = any(${orders as string[]}::uuid[])`).count
}

/** Makes the orders of long-ended sales anonymous. The sold units and payments stay, without the buyer. */
export async function anonymizeOrders(tx: Queryable, days: number): Promise<number> {
  // The query uses two ranges of an index, so that a finished sale costs one probe of each.
  const due = await tx<{ order_id: string }[]>`
    select o.order_id from sales s cross join lateral (
      (select order_id from orders where sale_id = s.sale_id
        and visitor < ${FORGOTTEN} and status not in ('reserved', 'paying')
       limit ${RETENTION_BATCH})
      union all
      (select order_id from orders where sale_id = s.sale_id
        and visitor > ${FORGOTTEN} and status not in ('reserved', 'paying')
       limit ${RETENTION_BATCH})) o
    where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
    limit ${RETENTION_BATCH}`
  return anonymize(tx, ids(due))
}

/**
 * The key is replaced too, because it may be the shop's own name for its customer. The charge stays, for accounting.
 */
async function anonymize(tx: Queryable, orders: readonly string[]): Promise<number> {
  if (orders.length === 0) return 0
  await tx`delete from order_notes where order_id = any(${orders as string[]}::uuid[])`
  const changed = await tx`
    update orders set visitor = ${FORGOTTEN}, idempotency_key = order_id::text, request_hash = '',
      payment_method = null, card = null, action = null
    where order_id = any(${orders as string[]}::uuid[]) and status not in ('reserved', 'paying')`
  return changed.count
}

/** Deletes who used which invitation. The data are retained as long as orders name their visitors. */
export async function deleteInvited(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from invited_visitors where (sale_id, code_hash, visitor) in (
      select s.sale_id, i.code_hash, i.visitor from sales s cross join lateral (
        select code_hash, visitor from invited_visitors where sale_id = s.sale_id limit ${RETENTION_BATCH}) i
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  return count
}

/** Deletes the oldest events first, but none since the creation of the oldest sale in use. */
export async function deleteEvents(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from events where (xid, seq) in (
      select xid, seq from (select xid, seq, at from events order by xid, seq limit ${RETENTION_BATCH}) oldest
      where at < least(${before(tx, days)}, (select min(created_at) from sales s where ${isInUse(tx)})))`
  return count
}

/** Deletes the figures by minute, and those by second, of sales that ended that long ago. */
export async function deleteMinutes(tx: Queryable, days: number): Promise<number> {
  await tx`
    delete from sale_seconds where (sale_id, second) in (
      select m.sale_id, m.second from sales s cross join lateral (
        select sale_id, second from sale_seconds where sale_id = s.sale_id limit ${RETENTION_BATCH}) m
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  const { count } = await tx`
    delete from sale_minutes where (sale_id, minute) in (
      select m.sale_id, m.minute from sales s cross join lateral (
        select sale_id, minute from sale_minutes where sale_id = s.sale_id limit ${RETENTION_BATCH}) m
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  return count
}

/** Deletes the counts by source, or by network, of a sale that ended that long ago. */
export async function deleteSaleCounts(
  tx: Queryable,
  table: 'sale_sources' | 'sale_networks',
  days: number,
): Promise<number> {
  const { count } = await tx`
    delete from ${tx(table)} where sale_id in (
      select sale_id from sales s where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
        and exists (select from ${tx(table)} o where o.sale_id = s.sale_id) limit 1)`
  return count
}

/** The counts of sales that are long over, and old ones of the front, which belongs to no sale. */
export async function deleteViewCounts(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from view_counts where (sale_id, by, minute, kind, key) in (
      select c.sale_id, c.by, c.minute, c.kind, c.key from (
        select s.sale_id from sales s
        where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
        union all select '') s
      cross join lateral (
        select sale_id, by, minute, kind, key from view_counts
        where sale_id = s.sale_id and minute < ${before(tx, days)} limit ${RETENTION_BATCH}) c
      limit ${RETENTION_BATCH})`
  return count
}

/** One step deletes this many pictures, because each has some files in storage. */
const PICTURES_BATCH = 20

/**
 * Deletes pictures that were uploaded or last named that long ago and that no sale, post or scheduled action names.
 */
export async function deletePictures(
  tx: Queryable,
  days: number,
  images: { remove(image: string): Promise<void> },
): Promise<number> {
  const due = await tx<{ image: string }[]>`
    with texts as materialized (
      select g::text as text from goods g union all select p::text from posts p union all select a::text
        from scheduled_actions a),
    named as materialized (select distinct found[1] as image
      from texts, regexp_matches(text, '/images/([0-9a-f]{32})', 'g') found)
    delete from pictures where image in (
      select image from pictures p where
        used_at < ${before(tx, days)} and not exists (select from named n where n.image = p.image)
      order by used_at limit ${PICTURES_BATCH})
    and used_at < ${before(tx, days)} returning image`
  // The files are deleted before the transaction ends. A concurrent upload or naming of the picture waits for that,
  // and finds the files gone.
  await Promise.all(due.map(({ image }) => images.remove(image)))
  return due.length
}

/** Deletes the posts of sales that ended that long ago. */
export async function deletePosts(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from posts where (sale_id, n) in (
      select p.sale_id, p.n from sales s cross join lateral (
        select sale_id, n from posts where sale_id = s.sale_id limit ${RETENTION_BATCH}) p
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  return count
}

export async function deleteFindings(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from findings where finding_id in (
      select finding_id from findings f
      where closed_at < ${before(tx, days)}
        and not exists (select from sales s where s.sale_id = f.sale_id and ${isInUse(tx)})
      limit ${RETENTION_BATCH})`
  return count
}

/** Deletes old runs. Each action's own row says whether it is due, so a deleted run is not repeated. */
export async function deleteRuns(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from scheduled_runs where (action_id, due_at) in (
      select action_id, due_at from scheduled_runs where due_at < ${before(tx, days)} limit ${RETENTION_BATCH})`
  return count
}

/** Deletes the delivered and given-up messages of each endpoint, the oldest first. */
export async function deleteDeliveries(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from jobs where job_id in (
      select j.job_id from webhook_endpoints e cross join lateral (
        select * from jobs where group_id = e.endpoint_id::text order by job_id limit ${RETENTION_BATCH}) j
      where j.created_at < ${before(tx, days)} and j.state <> 'pending')`
  return count
}

/**
 * Operators have this many days to handle dead jobs. A mail stays as long as its contact, and a webhook as long as a
 * delivered one.
 */
const DEAD_DAYS = 30

export async function deleteDead(tx: Queryable): Promise<number> {
  const { count } = await tx`
    delete from jobs where job_id in (
      select job_id from jobs
      where state = 'dead' and queue in ('charge', 'capture', 'refund', 'scheduled')
        and finished_at < ${before(tx, DEAD_DAYS)}
      limit ${RETENTION_BATCH})`
  return count
}

export async function deleteAudit(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from audit_log where entry_id in (
      select entry_id from (select * from audit_log order by entry_id limit ${RETENTION_BATCH}) oldest
      where at < ${before(tx, days)})`
  return count
}

// -- Who asks to be forgotten ------------------------------------------------------------------------------------

/**
 * An SQL query of a visitor's orders in the sale `s`. `offset` makes the planner use the index instead of reading all
 * orders of all sales.
 */
const ordersOf = (sql: Queryable, visitor: string | PendingQuery<Row[]>) => sql`
  select order_id, created_at, status from orders where sale_id = s.sale_id and visitor = ${visitor} offset 0`

/** Makes visitors anonymous who requested it, in sales that are no longer in use. */
export async function finishForgetting(tx: Queryable): Promise<number> {
  const due = await tx<{ order_id: string }[]>`
    select o.order_id from forgotten_visitors f cross join sales s cross join lateral (${ordersOf(tx, tx`f.visitor`)}) o
    where not ${isInUse(tx)} and o.created_at <= f.asked_at and o.status not in ('reserved', 'paying')
    limit ${RETENTION_BATCH}`
  const done = await anonymize(tx, ids(due))
  await tx`
    delete from invited_visitors i using forgotten_visitors f, sales s
    where i.visitor = f.visitor and s.sale_id = i.sale_id and not ${isInUse(tx)}`
  await tx`
    delete from forgotten_visitors f
    where not exists (select from sales s
      cross join lateral (${ordersOf(tx, tx`f.visitor`)}) o where o.created_at <= f.asked_at)
      and not exists (select from invited_visitors i where i.visitor = f.visitor)`
  return done
}

interface Forgotten {
  readonly contacts: number
  readonly notes: number
  /** The number of orders that were made anonymous now. */
  readonly orders: number
  /** The number of orders of sales in use, which will be made anonymous later. */
  readonly orders_later: number
}

/** Forgets a visitor at once where no sale in use needs them, and in the other sales once these are over. */
export function forgetVisitor(sql: Sql, visitor: string, operator: string): Promise<Forgotten> {
  return sql.begin(async (tx) => {
    const orders = ids(
      await tx<{ order_id: string }[]>`
        select o.order_id from sales s cross join lateral (${ordersOf(tx, visitor)}) o`,
    )
    const contacts = await deleteContactsOf(tx, orders)
    await deleteRequests(tx, await tx<{ ask_id: string }[]>`select ask_id from mail_asks where visitor = ${visitor}`)
    const { count: notes } = await tx`delete from order_notes where order_id = any(${orders}::uuid[])`
    await tx`
      insert into forgotten_visitors (visitor, asked_at) values (${visitor}, clock_timestamp())
      on conflict (visitor) do update set asked_at = excluded.asked_at`
    for (let done = RETENTION_BATCH; done === RETENTION_BATCH; ) done = await finishForgetting(tx)
    const [left] = await tx<{ orders: number }[]>`
      select count(*)::int as orders from sales s cross join lateral (${ordersOf(tx, visitor)}) o`
    const later = left?.orders ?? 0
    const forgotten = { contacts, notes, orders: orders.length - later, orders_later: later }
    // The entry does not contain the name, because it would be the last trace of the visitor.
    await audit(tx, [{ actor: operator, action: 'visitor_forgotten', sale: ALL_SALES, after: forgotten }])
    return forgotten
  })
}
