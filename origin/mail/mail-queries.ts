/** Mails to buyers: one row per event that is worth a mail, until it is sent or given up. */
import type { TransactionSql } from 'postgres'
import type { Sql } from '../ledger/connection.ts'
import type { EventRow, mails } from '../ledger/schema/events.ts'
import type { contacts, orders } from '../ledger/schema/orders.ts'

/** An older event is not mailed: the sender was set up after the sale, or was away for a day. */
const MAX_AGE_HOURS = 24

export interface DueMail
  extends Readonly<Pick<typeof mails.$inferSelect, 'mail_id' | 'event' | 'type' | 'data' | 'attempts'>>,
    Readonly<Pick<typeof orders.$inferSelect, 'order_id' | 'sale_id' | 'quantity' | 'unit_price_minor' | 'currency'>>,
    Readonly<Pick<typeof contacts.$inferSelect, 'language'>> {
  /** Null: it was deleted meanwhile. */
  readonly email: string | null
  readonly sale: string
  readonly product: string
}

const isMailed = ({ type, data }: EventRow) =>
  type === 'order.confirmed' ||
  type === 'order.refunded' ||
  // Declined for good: after other declines the order waits for its buyer, who has the page.
  (type === 'order.cancelled' && String((data as { reason?: string } | null)?.reason).startsWith('declined'))

/** Writes a mail for each event that is worth one, if its buyer left an address. */
export async function addMails(tx: TransactionSql, events: readonly EventRow[]): Promise<void> {
  const mailed = events.filter(isMailed)
  if (mailed.length === 0) return
  await tx`
    insert into mails (event, order_id, type, data)
    select e.xid || '-' || e.seq, e.order_id, e.type, e.data
    from unnest(${mailed.map(({ xid }) => xid)}::text[]::xid8[], ${mailed.map(({ seq }) => seq)}::bigint[]) as read (xid, seq)
    join events e on (e.xid, e.seq) = (read.xid, read.seq)
    join contacts c on c.order_id = e.order_id and c.email is not null
    where e.at > clock_timestamp() - ${MAX_AGE_HOURS} * interval '1 hour'
    order by e.xid, e.seq
    on conflict (event) do nothing`
}

/** Takes mails that are due, each for `leaseSeconds`, in which nobody else takes it. That begins an attempt. */
export function takeDueMails(sql: Sql, limit: number, leaseSeconds: number): Promise<DueMail[]> {
  // Committed before anything is sent: a long transaction would hold up every reader of the events.
  return sql<DueMail[]>`
    with taken as (
      update mails set attempts = attempts + 1, next_at = clock_timestamp() + ${leaseSeconds} * interval '1 second'
      where mail_id in (
        select mail_id from mails where state = 'pending' and next_at <= clock_timestamp()
        order by next_at limit ${limit} for update skip locked)
      returning *
    )
    select t.mail_id, t.event, t.type, t.data, t.attempts, o.order_id, o.sale_id, o.quantity, o.unit_price_minor, o.currency,
      coalesce(c.language, 'en') as language, c.email, s.name as sale, p.name as product
    from taken t join orders o using (order_id) join sales s using (sale_id) join products p using (sale_id, product_id)
    left join contacts c using (order_id)`
}

export async function markMailSent(sql: Sql, id: number): Promise<void> {
  await sql`
    update mails set state = 'sent', sent_at = clock_timestamp(), error = null where mail_id = ${id} and state = 'pending'`
}

/** After a failed attempt: again after a pause, or never. */
export async function markMailFailed(sql: Sql, id: number, error: string, pauseMs: number | null): Promise<void> {
  await sql`
    update mails set error = ${error}, state = ${pauseMs === null ? 'dead' : 'pending'},
      next_at = clock_timestamp() + ${pauseMs ?? 0} * interval '1 millisecond'
    where mail_id = ${id} and state = 'pending'`
}
