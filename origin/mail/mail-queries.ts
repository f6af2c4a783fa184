/**
 * Selects the events that need a mail to the buyer, and reads the content of a mail about an order or a requested
 * notice.
 */
import type { TransactionSql } from 'postgres'
import type { Address, EventTime } from '../../shared/api/goods.ts'
import type { MailKind, PushSubscription } from '../../shared/api/mails.ts'
import { MAILED_REASONS } from '../../shared/api/order-status.ts'
import { readEvents } from '../events/reader.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { AskedMail, Job, OrderMail } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { EventRow, OrderSnapshot } from '../ledger/schema/events.ts'
import type { contacts, orders } from '../ledger/schema/orders.ts'
import type { sales } from '../ledger/schema/sales.ts'
import { emailHash, holdLane, queueRestock } from './mail-requests.ts'
import { hasPaid, limitMessages } from './recipient-limit.ts'

/** An older event is not mailed. This happens if the sender was set up after the sale, or was away for a day. */
const MAX_AGE_HOURS = 24
/** The mail about the end of a hold is sent this long before it. */
const BEFORE_END_MS = 30_000

/** The data of an order that a mail needs. */
export interface MailOrder
  extends Readonly<
      Pick<
        typeof orders.$inferSelect,
        | 'order_id'
        | 'sale_id'
        | 'number'
        | 'status'
        | 'quantity'
        | 'unit_price_minor'
        | 'currency'
        | 'cart'
        | 'bill'
        | 'receipt'
      >
    >,
    Readonly<Pick<typeof sales.$inferSelect, 'tax' | 'delivery'>>,
    Readonly<Pick<typeof contacts.$inferSelect, 'language'>> {
  /** Null if the contact was deleted, or if the message is for a browser. */
  readonly email: string | null
  readonly push: PushSubscription | null
  /** The address to which the order is sent. */
  readonly recipient: Address | null
  /** Names are in the recipient's language, if the shop has translated them. */
  readonly sale: string
  readonly product: string
  /** The names of products and variants by id; null if there are none. */
  readonly own_names: Readonly<Record<string, string>> | null
  /** When and where it takes place. */
  readonly date: EventTime | null
  readonly venue: string | null
}
export type Mail = Omit<OrderMail, 'push'> & Omit<MailOrder, 'email' | 'push' | 'status'>

/** The data of a requested notice that a mail needs. */
export interface MailRequestRow extends Readonly<Pick<typeof contacts.$inferSelect, 'language'>> {
  readonly ask_id: string
  readonly sale_id: string
  readonly sale: string
  readonly email: string | null
  readonly push: PushSubscription | null
}
export type Notice = AskedMail & Omit<MailRequestRow, 'email' | 'push'>

/** The channels that are configured. */
export type Channels = Readonly<Record<'mail' | 'push', boolean>>

/** The kind of mail that an event of an order needs; null for none. */
export function kindOf({ type, data }: Pick<EventRow, 'type' | 'data'>): MailKind | null {
  switch (type) {
    case 'order.reserved':
      return 'hold_ends'
    case 'order.expired':
      return 'hold_ended'
    case 'order.confirmed':
      return 'confirmed'
    case 'order.refunded':
      return 'refunded'
    case 'order.fulfilled':
      return 'sent'
    case 'order.cancelled':
      // A final decline is mailed. After any other decline the order waits for its buyer, who has the page open.
      return reasonIn(data) === 'declined' ? 'declined' : mailedReason(data) === undefined ? null : 'cancelled'
    default:
      return null
  }
}

const reasonIn = (data: unknown) => (data as OrderSnapshot | null)?.reason?.split(':', 1)[0]
/** The reason for which an order ended, if neither its buyer nor the shop ended it. */
export const mailedReason = (data: unknown) => MAILED_REASONS.find((one) => one === reasonIn(data))

export const MAIL_READER = 'mail'

/** Queues the mails of the next events; true if there may be more. */
export const readMails = (sql: Sql, channels: Channels, perAddress: number) =>
  readEvents(sql, MAIL_READER, (tx, events) => addMails(tx, events, channels, perAddress), undefined, needed(sql))

/** Reserved orders are many, so their events are read only if a sale mails about the end of holds. */
const needed = (sql: Sql) => sql`
  e.type = any(${NEEDED as unknown as string[]}::text[])
    or (e.type = 'order.reserved' and exists (select from sales where 'hold_ends' = any(mails)))`
const NEEDED = [
  'order.expired',
  'order.confirmed',
  'order.refunded',
  'order.fulfilled',
  'order.cancelled',
  'sale.restocked',
] as const

/**
 * Queues a mail for each event that needs one if its buyer left an address, and a push message for each subscribed
 * browser of the buyer. The messages of one order, or to one browser, are sent one after the other. A decline is
 * mailed only to a confirmed address.
 */
async function addMails(
  tx: TransactionSql,
  events: readonly EventRow[],
  channels: Channels,
  perAddress: number,
): Promise<void> {
  for (const { type, sale_id } of events)
    if (type === 'sale.restocked' && sale_id !== null) await queueRestock(tx, sale_id)
  const reasons = await refusedLater(tx, events)
  const mailed = events.flatMap(({ xid, seq, type, order_id, order_ids, data }) =>
    (order_ids ?? (order_id === null ? [] : [order_id])).flatMap((order) => {
      const reason = reasons.get(order)
      const snapshot = reason === undefined ? data : { reason }
      const kind = kindOf({ type, data: snapshot })
      return kind === null ? [] : [{ xid, seq, order, kind, type, snapshot }]
    }),
  )
  if (mailed.length === 0) return
  const found = await tx<FoundMail[]>`
    with due as materialized (
      select n.place::int, n.kind, o.order_id, o.sale_id, o.visitor, o.reserved_until
      from unnest(${mailed.map(({ xid }) => xid)}::text[]::xid8[], ${mailed.map(({ seq }) => seq)}::bigint[],
        ${mailed.map(({ order }) => order)}::uuid[], ${mailed.map(({ kind }) => kind)}::text[])
        with ordinality as n (xid, seq, order_id, kind, place)
      join events e on (e.xid, e.seq) = (n.xid, n.seq)
      join orders o on o.order_id = n.order_id
      join sales s on s.sale_id = o.sale_id and n.kind = any(s.mails)
      where e.at > clock_timestamp() - ${MAX_AGE_HOURS} * interval '1 hour'
        -- An order for pickup has no mail about being sent: its buyer already has the goods.
        and (n.kind <> 'sent' or s.delivery ->> 'kind' in ('address', 'handover')))
    -- A buyer gets one reminder per sale of an unpaid order, and none if they have another order in it.
    select place, reserved_until, due.sale_id || ' ' || lower(c.email) as buyer, null as push, lower(c.email) as email,
      ${hasPaid(tx, tx`c.email`, tx`due.visitor`)} as "hasPaid"
    from due join contacts c on c.order_id = due.order_id and c.email is not null
    where ${channels.mail} and (kind not like 'hold%' or not exists (
        select from refused_mail r where r.email_hash = ${emailHash(tx, tx`c.email`)}))
      and (kind <> 'hold_ended' or not exists (
        select from contacts other join orders oo using (order_id)
        where lower(other.email) = lower(c.email) and oo.sale_id = due.sale_id and oo.order_id <> due.order_id
          and (oo.status in ('reserved', 'paying', 'confirmed', 'fulfilled') or exists (
            select from jobs j where j.lane = oo.order_id::text and j.data ->> 'type' = 'order.expired'))))
    union all
    select place, reserved_until, a.ask_id::text, a.ask_id::text, null, false
    from due join mail_asks a on a.sale_id = due.sale_id and a.visitor = due.visitor and a.push is not null
    where ${channels.push} and (kind <> 'hold_ended' or not exists (
        select from orders oo where oo.sale_id = due.sale_id and oo.visitor = due.visitor
          and oo.order_id <> due.order_id
          and oo.status in ('reserved', 'paying', 'confirmed', 'fulfilled'))
      and not exists (select from jobs j where j.lane = a.ask_id::text and j.data ->> 'type' = 'order.expired'))`
  const reminded = new Set<string>()
  const wanted = found
    .sort((a, b) => a.place - b.place)
    .filter(({ place, buyer, email, hasPaid }) => {
      const kind = mailed[place - 1]?.kind
      if (kind === 'declined') return email === null || hasPaid
      if (kind !== 'hold_ended') return true
      const isFirst = !reminded.has(buyer)
      reminded.add(buyer)
      return isFirst
    })
  const jobs = (await limitMessages(tx, wanted, perAddress)).map(({ place, reserved_until, push }) => {
    const { xid, seq, order, type, kind, snapshot } = mailed[place - 1] as (typeof mailed)[number]
    const message = { order, event: `${xid}-${seq}`, type, snapshot: snapshot as OrderMail['snapshot'] }
    const [lane, data] = push === null ? [order, message] : [push, { ...message, push }]
    if (kind !== 'hold_ends') return { lane, data }
    return { lane: holdLane(lane), data, runAt: new Date(reserved_until.getTime() - BEFORE_END_MS) }
  })
  await addJobs(tx, 'mail', jobs)
}

/**
 * A message that an event needs: `place` is the event's position, followed by the buyer and, for a push message, the
 * browser.
 */
interface FoundMail {
  readonly place: number
  readonly reserved_until: Date
  readonly buyer: string
  readonly push: string | null
  readonly email: string | null
  readonly hasPaid: boolean
}

/**
 * The reasons of refused orders that the ledger recorded as cancelled. The events do not contain them, because one
 * event is about many orders.
 */
async function refusedLater(tx: Queryable, events: readonly EventRow[]): Promise<ReadonlyMap<string, string>> {
  const refused = events.flatMap(({ type, order_ids }) => (type === 'order.cancelled' ? (order_ids ?? []) : []))
  if (refused.length === 0) return new Map()
  const rows = await tx<{ order_id: string; reason: string }[]>`
    select order_id, reason from orders where order_id = any(${refused}::uuid[]) and reason is not null`
  return new Map(rows.map(({ order_id, reason }) => [order_id, reason]))
}

/** The orders of these mails, by id. */
export async function findMailOrders(
  sql: Queryable,
  jobs: readonly Pick<Job<'mail'>, 'data'>[],
): Promise<ReadonlyMap<string, MailOrder>> {
  const ids = jobs.flatMap(({ data }) => ('order' in data ? [data.order] : []))
  if (ids.length === 0) return new Map()
  const rows = await sql<MailOrder[]>`
    select o.order_id, o.sale_id, o.number, o.status, o.quantity, o.unit_price_minor, o.currency, o.cart, o.bill,
      o.receipt,
      coalesce(c.language, 'en') as language, c.email, null as push, c.delivery as recipient, s.tax, s.delivery,
      coalesce(g.names ->> c.language, s.name) as sale,
        coalesce(own.names ->> o.product_id, o.receipt ->> 'name', p.name, o.product_id) as product,
      own.names as own_names, g.event as date, g.venue
    from orders o join sales s using (sale_id) left join products p using (sale_id, product_id)
    left join contacts c using (order_id) left join goods g on g.sale_id = o.sale_id
    left join lateral (
      -- A variant's name is its product's name with the variant appended: "Aurora One, 42".
      select jsonb_object_agg(u.product_id,
        (about.names ->> c.language) || substr(u.name, length(of.name) + 1)) as names
      from products u join products of on of.sale_id = u.sale_id
        and of.product_id = coalesce(u.variant_of, u.product_id)
      cross join lateral (select g.products -> of.product_id -> 'names' as names) about
      where u.sale_id = o.sale_id and about.names ? c.language
        and u.product_id = any(o.product_id || array(select part ->> 'product' from jsonb_array_elements(o.cart) part))
    ) own on true
    where order_id = any(${ids}::uuid[])`
  return new Map(rows.map((row) => [row.order_id, row]))
}

/** The requests that these messages are for, by id. */
export async function findRequests(
  sql: Queryable,
  jobs: readonly Pick<Job<'mail'>, 'data'>[],
): Promise<ReadonlyMap<string, MailRequestRow>> {
  const ids = jobs.flatMap(({ data }) => ('ask' in data ? [data.ask] : (data.push ?? [])))
  if (ids.length === 0) return new Map()
  const rows = await sql<MailRequestRow[]>`
    select a.ask_id, a.sale_id, a.email, a.push, a.language, coalesce(g.names ->> a.language, s.name) as sale
    from mail_asks a join sales s using (sale_id) left join goods g using (sale_id)
    where ask_id = any(${ids}::uuid[])`
  return new Map(rows.map((row) => [row.ask_id, row]))
}
