/**
 * Data past its retention. Each step deletes, or makes anonymous, no more than a batch, and returns how many rows: it is short
 * beside a sale. A sale in use is left alone.
 */
import type { PendingQuery, Row } from 'postgres'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { deleteAsks, holdLane } from '../mail/asks.ts'
import { ALL_SALES, audit } from '../operators/audit.ts'
import { isInUse } from '../sales/sale-queries.ts'

export const RETENTION_BATCH = 500

/** The visitor of an order that was made anonymous. */
const FORGOTTEN = 'forgotten'

const ids = (rows: readonly { order_id: string }[]) => rows.map(({ order_id }) => order_id)
const before = (sql: Queryable, days: number) => sql`clock_timestamp() - ${days} * interval '1 day'`

/** Contacts, and the mails to them: after the sale's own days since its end, which may be another than when they were written. */
export async function deleteContacts(tx: Queryable): Promise<number> {
  const due = await tx<{ order_id: string }[]>`
    (select c.order_id from sales s cross join lateral (
       select order_id from contacts where sale_id = s.sale_id limit ${RETENTION_BATCH}) c
     where coalesce(s.ended_at, s.ends_at) + (s.contact ->> 'retention_days')::int * interval '1 day' < clock_timestamp()
       and not ${isInUse(tx)}
     limit ${RETENTION_BATCH})
    union all
    (select c.order_id from contacts c join sales s using (sale_id)
     where c.delete_after < clock_timestamp() and coalesce(s.ended_at, s.ends_at) is null
     limit ${RETENTION_BATCH})
    limit ${RETENTION_BATCH}`
  // A request's digest covers the address, which could be guessed by it.
  if (due.length > 0) await tx`update orders set request_hash = '' where order_id = any(${ids(due)}::uuid[])`
  return deleteContactsOf(tx, ids(due))
}

/** Who asked for messages about a sale, and the messages to them: when its contacts go, or that many days after they asked. */
export async function deleteOldAsks(tx: Queryable): Promise<number> {
  const due = await tx<{ ask_id: string }[]>`
    select a.ask_id from mail_asks a join sales s using (sale_id)
    where coalesce(s.ended_at, s.ends_at, a.created_at) + (s.contact ->> 'retention_days')::int * interval '1 day' < clock_timestamp()
    limit ${RETENTION_BATCH}`
  return deleteAsks(tx, due)
}

async function deleteContactsOf(tx: Queryable, orders: readonly string[]): Promise<number> {
  if (orders.length === 0) return 0
  const lanes = orders.flatMap((order) => [order, holdLane(order)])
  await tx`delete from jobs where queue = 'mail' and lane = any(${lanes}::text[])`
  return (await tx`delete from contacts where order_id = any(${orders as string[]}::uuid[])`).count
}

/** Makes orders anonymous whose sale ended so long ago: what was sold and paid stays, without its buyer. */
export async function anonymizeOrders(tx: Queryable, days: number): Promise<number> {
  // Two ranges of an index: a sale that is done with costs a look at each.
  const due = await tx<{ order_id: string }[]>`
    select o.order_id from sales s cross join lateral (
      (select order_id from orders where sale_id = s.sale_id and visitor < ${FORGOTTEN} and status not in ('reserved', 'paying')
       limit ${RETENTION_BATCH})
      union all
      (select order_id from orders where sale_id = s.sale_id and visitor > ${FORGOTTEN} and status not in ('reserved', 'paying')
       limit ${RETENTION_BATCH})) o
    where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
    limit ${RETENTION_BATCH}`
  return anonymize(tx, ids(due))
}

/** The key is replaced too: it may be the shop's own name for its customer. The charge stays, for the books. */
async function anonymize(tx: Queryable, orders: readonly string[]): Promise<number> {
  if (orders.length === 0) return 0
  await tx`delete from order_notes where order_id = any(${orders as string[]}::uuid[])`
  const changed = await tx`
    update orders set visitor = ${FORGOTTEN}, idempotency_key = order_id::text, request_hash = '', payment_method = null, card = null, action = null
    where order_id = any(${orders as string[]}::uuid[]) and status not in ('reserved', 'paying')`
  return changed.count
}

/** Who came in by which invitation, as long as orders name their visitors. */
export async function deleteInvited(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from invited_visitors where (sale_id, code_hash, visitor) in (
      select s.sale_id, i.code_hash, i.visitor from sales s cross join lateral (
        select code_hash, visitor from invited_visitors where sale_id = s.sale_id limit ${RETENTION_BATCH}) i
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  return count
}

/** The oldest first, and none since the oldest sale in use was created. */
export async function deleteEvents(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from events where (xid, seq) in (
      select xid, seq from (select xid, seq, at from events order by xid, seq limit ${RETENTION_BATCH}) oldest
      where at < least(${before(tx, days)}, (select min(created_at) from sales s where ${isInUse(tx)})))`
  return count
}

/** The figures of sales that ended so long ago, by the minute. */
export async function deleteMinutes(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from sale_minutes where (sale_id, minute) in (
      select m.sale_id, m.minute from sales s cross join lateral (
        select sale_id, minute from sale_minutes where sale_id = s.sale_id limit ${RETENTION_BATCH}) m
      where coalesce(s.ended_at, s.ends_at) < ${before(tx, days)} and not ${isInUse(tx)}
      limit ${RETENTION_BATCH})`
  return count
}

/** Pictures deleted at once: each is some files in storage. */
const PICTURES_BATCH = 20

/** Pictures that no sale, no post and no scheduled action names, so long after they were uploaded or named. */
export async function deletePictures(
  tx: Queryable,
  days: number,
  images: { remove(image: string): Promise<void> },
): Promise<number> {
  const due = await tx<{ image: string }[]>`
    with texts as materialized (
      select g::text as text from goods g union all select p::text from posts p union all select a::text from scheduled_actions a),
    named as materialized (select distinct found[1] as image from texts, regexp_matches(text, '/images/([0-9a-f]{32})', 'g') found)
    delete from pictures where image in (
      select image from pictures p where used_at < ${before(tx, days)} and not exists (select from named n where n.image = p.image)
      order by used_at limit ${PICTURES_BATCH})
    and used_at < ${before(tx, days)} returning image`
  // Before the end of the transaction: who uploads or names one waits for it, and finds the files gone.
  await Promise.all(due.map(({ image }) => images.remove(image)))
  return due.length
}

/** The posts of sales that ended so long ago. */
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

/** Whether an action is due is in its own row, so a run that is gone is not made again. */
export async function deleteRuns(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from scheduled_runs where (action_id, due_at) in (
      select action_id, due_at from scheduled_runs where due_at < ${before(tx, days)} limit ${RETENTION_BATCH})`
  return count
}

/** Messages to each endpoint that were delivered or given up, the oldest first. */
export async function deleteDeliveries(tx: Queryable, days: number): Promise<number> {
  const { count } = await tx`
    delete from jobs where job_id in (
      select j.job_id from webhook_endpoints e cross join lateral (
        select * from jobs where group_id = e.endpoint_id::text order by job_id limit ${RETENTION_BATCH}) j
      where j.created_at < ${before(tx, days)} and j.state <> 'pending')`
  return count
}

/** How long an operator has to look at dead jobs; a mail stays as long as its contact, a webhook as a delivered one. */
const DEAD_DAYS = 30

export async function deleteDead(tx: Queryable): Promise<number> {
  const { count } = await tx`
    delete from jobs where job_id in (
      select job_id from jobs
      where state = 'dead' and queue in ('charge', 'capture', 'refund', 'scheduled') and finished_at < ${before(tx, DEAD_DAYS)}
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

/** A visitor's orders in the sale `s`. By the index: `offset` keeps the planner from reading all orders of all sales. */
const ordersOf = (sql: Queryable, visitor: string | PendingQuery<Row[]>) => sql`
  select order_id, created_at, status from orders where sale_id = s.sale_id and visitor = ${visitor} offset 0`

/** Makes visitors anonymous who asked for it, in sales that are not in use any more. */
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
    where not exists (select from sales s cross join lateral (${ordersOf(tx, tx`f.visitor`)}) o where o.created_at <= f.asked_at)
      and not exists (select from invited_visitors i where i.visitor = f.visitor)`
  return done
}

interface Forgotten {
  readonly contacts: number
  readonly notes: number
  /** Orders made anonymous now .. */
  readonly orders: number
  /** .. and those of sales in use, which will be. */
  readonly orders_later: number
}

/** Forgets a visitor, as far as no sale in use needs to know them; in those sales once they are over. */
export function forgetVisitor(sql: Sql, visitor: string, operator: string): Promise<Forgotten> {
  return sql.begin(async (tx) => {
    const orders = ids(
      await tx<{ order_id: string }[]>`
        select o.order_id from sales s cross join lateral (${ordersOf(tx, visitor)}) o`,
    )
    const contacts = await deleteContactsOf(tx, orders)
    await deleteAsks(tx, await tx<{ ask_id: string }[]>`select ask_id from mail_asks where visitor = ${visitor}`)
    const { count: notes } = await tx`delete from order_notes where order_id = any(${orders}::uuid[])`
    await tx`
      insert into forgotten_visitors (visitor, asked_at) values (${visitor}, clock_timestamp())
      on conflict (visitor) do update set asked_at = excluded.asked_at`
    for (let done = RETENTION_BATCH; done === RETENTION_BATCH; ) done = await finishForgetting(tx)
    const [left] = await tx<{ orders: number }[]>`
      select count(*)::int as orders from sales s cross join lateral (${ordersOf(tx, visitor)}) o`
    const later = left?.orders ?? 0
    const forgotten = { contacts, notes, orders: orders.length - later, orders_later: later }
    // Not the name: it would be what is left of them.
    await audit(tx, [{ actor: operator, action: 'visitor_forgotten', sale: ALL_SALES, after: forgotten }])
    return forgotten
  })
}
