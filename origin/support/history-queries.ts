/** All that the ledger knows of one order, in the order in which it happened, and the notes of support. */
import type { HistoryEntry, OrderTimeline } from '../../shared/api/operator.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { ALL_SALES, audit } from '../operators/audit.ts'
import { copyToSearch } from './search-queries.ts'

/** More would be a fault: an order has some ten events in its life, and each a delivery to a few endpoints. */
const MOST_ENTRIES = 1_000

interface History {
  readonly entries: HistoryEntry[]
  readonly contact: OrderTimeline['contact']
}

export async function readHistory(sql: Queryable, orderId: string): Promise<History> {
  const [entries, [contact]] = await Promise.all([
    sql<HistoryEntry[]>`
      select at, kind, what, by, detail from (
        select 0 as place, created_at as at, 'event' as kind, null as by,
          case when reserved_until > created_at then 'order.reserved' else 'order.cancelled' end as what,
          jsonb_build_object('reserved_until', reserved_until, 'ticket_number', ticket_number) as detail
        from orders where order_id = ${orderId}
        union all
        select 1, at, 'event', null, type, jsonb_strip_nulls(jsonb_build_object('status', replace(status, 'returned', 'refunded')))
          || coalesce(data, '{}') from events where order_id = ${orderId}
        union all
        select 2, t.at, 'capture', null, t.what, jsonb_build_object('charge_id', charge_id)
        from captures cross join lateral (values (asked_at, 'requested'), (captured_at, 'captured')) t(at, what)
        where charge_id in (select o.charge_id from orders o where o.order_id = ${orderId}) and t.at is not null
        union all
        select 2, t.at, 'refund', operator, t.what, jsonb_build_object('refund_id', refund_id, 'charge_id', charge_id,
          'amount_minor', amount_minor, 'reason', reason, 'restock', restock)
        from refunds cross join lateral (values (asked_at, 'requested'), (refunded_at, 'refunded')) t(at, what)
        where order_id = ${orderId} and t.at is not null
        union all
        select 3, coalesce(finished_at, created_at), 'delivery', null, case state when 'done' then 'delivered' else state end,
          jsonb_build_object('type', data ->> 'type', 'delivery_id', job_id, 'endpoint_id', group_id, 'message_id', data ->> 'message',
          'attempts', attempts, 'status', data -> 'status', 'error', error)
        from jobs where queue = 'webhook' and lane = ${orderId}
        union all
        select 3, coalesce(finished_at, run_at), 'mail', null, case state when 'done' then 'sent' else state end,
          jsonb_build_object('type', data ->> 'type', 'attempts', attempts, 'error', error)
        from jobs where queue = 'mail' and lane = ${orderId}
        union all
        select 1, at, 'action', actor, action, jsonb_build_object('before', before, 'after', after)
        from audit_log where order_id = ${orderId} and action <> ${NOTED}
        union all
        select 1, at, 'note', operator, text, '{}' from order_notes where order_id = ${orderId}
      ) h order by at, place limit ${MOST_ENTRIES}`,
    sql<NonNullable<History['contact']>[]>`
      select email, address, language, delete_after from contacts where order_id = ${orderId}`,
  ])
  return { entries: [...entries], contact: contact ?? null }
}

/** Its entry in the audit log. The note itself holds the rest. */
const NOTED = 'noted'

interface Note {
  readonly operator: string
  readonly text: string
  readonly at: Date
}

/** Found by the search at once. */
export function insertNote(
  sql: Sql,
  orderId: string,
  { operator, text }: Pick<Note, 'operator' | 'text'>,
): Promise<Note> {
  return sql.begin(async (tx) => {
    const [note] = await tx<[Note]>`
      insert into order_notes (order_id, operator, text) values (${orderId}, ${operator}, ${text})
      returning operator, text, at`
    await copyToSearch(tx, [orderId])
    const [order] = await tx<{ sale: string }[]>`select sale_id as sale from orders where order_id = ${orderId}`
    await audit(tx, [{ actor: operator, action: NOTED, sale: order?.sale ?? ALL_SALES, order: orderId }])
    return note
  })
}
