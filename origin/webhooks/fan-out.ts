/**
 * Makes messages from the log's events, one for each endpoint that wants the event, in the transaction that moves the
 * reader's cursor.
 */
import type { TransactionSql } from 'postgres'
import { type Change, changesOf, laneOf, messageId, messageOf, ordersOf } from '../events/changes.ts'
import { readEvents } from '../events/reader.ts'
import { addJobs, type NewJob } from '../jobs/job-queries.ts'
import type { JobData } from '../jobs/queues.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OrderRow } from '../ledger/order-statements.ts'
import type { EventRow } from '../ledger/schema/events.ts'
import { isSubscribed, keepEndpoints, type Receiver, skipEvents } from './webhook-queries.ts'

export const WEBHOOK_READER = 'webhooks'
/** One transaction reads this many events. It makes ten calls to a ledger that checkouts may keep busy. */
const PAGE = 500
/** One turn of the event loop makes the messages of this many changes, because checkouts wait for its end. */
const AT_ONCE = 100

/** Processes one page of the log. The result is true if there may be more. */
export async function fanOut(sql: Sql): Promise<boolean> {
  await skipEvents(sql, WEBHOOK_READER)
  const addMessages = async (tx: TransactionSql, events: readonly EventRow[]) => {
    // The endpoints are read after the events, so that they include every endpoint that existed before one of the
    // events.
    const endpoints = await keepEndpoints(tx)
    const changes = events
      .filter((event) => endpoints.some((endpoint) => wants(endpoint, event)))
      .flatMap((event) => changesOf(event))
    const orders = await ordersOf(tx, changes)
    for (let i = 0; i < changes.length; i += AT_ONCE)
      await addJobs(
        tx,
        'webhook',
        changes.slice(i, i + AT_ONCE).flatMap((change) => messagesOf(change, orders, endpoints)),
      )
  }
  return readEvents(sql, WEBHOOK_READER, addMessages, PAGE, isSubscribed(sql))
}

function messagesOf(
  change: Change,
  orders: ReadonlyMap<string, OrderRow>,
  endpoints: readonly Receiver[],
): NewJob<JobData['webhook']>[] {
  const { type, ...message } = messageOf(change, orders)
  const body = JSON.stringify({ type, ...message })
  const job = { lane: laneOf(change), data: { message: messageId(change), type, body } }
  return endpoints
    .filter((endpoint) => wants(endpoint, change.event))
    .map(({ endpoint_id }) => ({ group: endpoint_id, ...job }))
}

/** An endpoint receives only events after its creation. */
const wants = ({ events, created_at }: Receiver, { type, at }: { type: string; at: Date }) =>
  at >= created_at && (events.includes('*') || events.includes(type))
