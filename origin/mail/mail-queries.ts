/** Mails to buyers: which events are worth one, and what a mail says of its order. */
import type { TransactionSql } from 'postgres'
import type { Address, EventTime } from '../../shared/api/goods.ts'
import { readEvents } from '../events/reader.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Job, JobData } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { EventRow } from '../ledger/schema/events.ts'
import type { contacts, orders } from '../ledger/schema/orders.ts'
import type { sales } from '../ledger/schema/sales.ts'

/** An older event is not mailed: the sender was set up after the sale, or was away for a day. */
const MAX_AGE_HOURS = 24

/** What a mail needs to know of its order. */
export interface MailOrder
  extends Readonly<
      Pick<
        typeof orders.$inferSelect,
        'order_id' | 'sale_id' | 'number' | 'quantity' | 'unit_price_minor' | 'currency' | 'cart' | 'bill'
      >
    >,
    Readonly<Pick<typeof sales.$inferSelect, 'tax' | 'delivery'>>,
    Readonly<Pick<typeof contacts.$inferSelect, 'language'>> {
  /** Null: it was deleted meanwhile. */
  readonly email: string | null
  /** Where it goes to. */
  readonly recipient: Address | null
  /** Names are those in its language, where the shop has said them in that. */
  readonly sale: string
  readonly product: string
  /** By product or variant; null where there are none. */
  readonly own_names: Readonly<Record<string, string>> | null
  /** When and where it takes place. */
  readonly date: EventTime | null
  readonly venue: string | null
}
export type Mail = JobData['mail'] & Omit<MailOrder, 'email'>

const isMailed = ({ type, data }: EventRow) =>
  type === 'order.confirmed' ||
  type === 'order.refunded' ||
  // Declined for good: after other declines the order waits for its buyer, who has the page.
  (type === 'order.cancelled' && String((data as { reason?: string } | null)?.reason).startsWith('declined'))

export const MAIL_READER = 'mail'

/** Queues the mails of the next events; true if there may be more. */
export const readMails = (sql: Sql) => readEvents(sql, MAIL_READER, addMails)

/** Queues a mail for each event that is worth one, if its buyer left an address: those of an order one after the other. */
export async function addMails(tx: TransactionSql, events: readonly EventRow[]): Promise<void> {
  const mailed = events.filter(isMailed)
  if (mailed.length === 0) return
  const found = await tx<{ xid: string; seq: number }[]>`
    select e.xid, e.seq
    from unnest(${mailed.map(({ xid }) => xid)}::text[]::xid8[], ${mailed.map(({ seq }) => seq)}::bigint[]) as read (xid, seq)
    join events e on (e.xid, e.seq) = (read.xid, read.seq)
    join contacts c on c.order_id = e.order_id and c.email is not null
    where e.at > clock_timestamp() - ${MAX_AGE_HOURS} * interval '1 hour'`
  const wanted = new Set(found.map(({ xid, seq }) => `${xid}-${seq}`))
  const jobs = mailed.flatMap(({ xid, seq, type, order_id: order, data: snapshot }) =>
    order !== null && wanted.has(`${xid}-${seq}`)
      ? [{ lane: order, data: { order, event: `${xid}-${seq}`, type, snapshot } as JobData['mail'] }]
      : [],
  )
  await addJobs(tx, 'mail', jobs)
}

/** The orders of these mails, by id. */
export async function findMailOrders(
  sql: Queryable,
  jobs: readonly Job<'mail'>[],
): Promise<ReadonlyMap<string, MailOrder>> {
  const rows = await sql<MailOrder[]>`
    select o.order_id, o.sale_id, o.number, o.quantity, o.unit_price_minor, o.currency, o.cart, o.bill,
      coalesce(c.language, 'en') as language, c.email, c.delivery as recipient, s.tax, s.delivery,
      coalesce(g.names ->> c.language, s.name) as sale, coalesce(own.names ->> o.product_id, p.name) as product,
      own.names as own_names, g.event as date, g.venue
    from orders o join sales s using (sale_id) join products p using (sale_id, product_id)
    left join contacts c using (order_id) left join goods g on g.sale_id = o.sale_id
    left join lateral (
      -- A variant's name is that of its product, and what it is: "Aurora One, 42".
      select jsonb_object_agg(u.product_id, (about.names ->> c.language) || substr(u.name, length(of.name) + 1)) as names
      from products u join products of on of.sale_id = u.sale_id and of.product_id = coalesce(u.variant_of, u.product_id)
      cross join lateral (select g.products -> of.product_id -> 'names' as names) about
      where u.sale_id = o.sale_id and about.names ? c.language
        and u.product_id = any(o.product_id || array(select part ->> 'product' from jsonb_array_elements(o.cart) part))
    ) own on true
    where order_id = any(${jobs.map(({ data }) => data.order)}::uuid[])`
  return new Map(rows.map((row) => [row.order_id, row]))
}
