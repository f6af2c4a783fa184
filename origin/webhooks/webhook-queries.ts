/** Webhooks: the endpoints, the messages that wait for them, and what became of each. */

import { ProblemError, problem } from '../../shared/problem.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { webhookDeliveries, webhookEndpoints } from '../ledger/schema/events.ts'
import { ALL_SALES, audit } from '../operators/audit.ts'

/** Each change costs a row per endpoint. */
const MAX_ENDPOINTS = 20

export type Endpoint = Readonly<typeof webhookEndpoints.$inferSelect>
type DeliveryRow = Readonly<typeof webhookDeliveries.$inferSelect>

/** A message is sent for this long, then set aside. */
const LIFETIME_HOURS = 24

// -- Endpoints ---------------------------------------------------------------------------------------------------

export const readEndpoints = (sql: Queryable) => sql<Endpoint[]>`select * from webhook_endpoints order by created_at`

export async function findEndpoint(sql: Queryable, id: string): Promise<Endpoint | undefined> {
  const [endpoint] = await sql<Endpoint[]>`select * from webhook_endpoints where endpoint_id = ${id} for update`
  return endpoint
}

export async function addEndpoint(
  sql: Sql,
  endpoint: Omit<Endpoint, 'created_at'>,
  operator: string,
): Promise<Endpoint> {
  const { endpoint_id, url, events, secrets, state, note } = endpoint
  return sql.begin(async (tx) => {
    const [added] = await tx<Endpoint[]>`
      insert into webhook_endpoints (endpoint_id, url, events, secrets, state, note)
      select ${endpoint_id}::uuid, ${url}, ${events}::text[], ${JSON.stringify(secrets)}::text::jsonb, ${state}, ${note}
      where (select count(*) from webhook_endpoints) < ${MAX_ENDPOINTS}
      returning *`
    if (!added) throw new ProblemError(problem('conflict', { detail: `There are ${MAX_ENDPOINTS} endpoints already.` }))
    await audit(tx, [{ actor: operator, action: 'webhook created', sale: ALL_SALES, after: shown(added) }])
    return added
  })
}

/** Changes an endpoint as `change` says, of the one as it is; undefined if there is none. */
export async function changeEndpoint(
  sql: Sql,
  id: string,
  change: (endpoint: Endpoint) => Partial<Endpoint>,
  operator: string,
): Promise<Endpoint | undefined> {
  return sql.begin(async (tx) => {
    const before = await findEndpoint(tx, id)
    if (!before) return undefined
    const to = { ...before, ...change(before) }
    const [after] = await tx<Endpoint[]>`
      update webhook_endpoints set url = ${to.url}, events = ${to.events}::text[], state = ${to.state}, note = ${to.note},
        secrets = ${JSON.stringify(to.secrets)}::text::jsonb
      where endpoint_id = ${id} returning *`
    if (!after) return undefined
    const entry = { actor: operator, action: 'webhook changed', sale: ALL_SALES }
    await audit(tx, [{ ...entry, before: shown(before), after: shown(after) }])
    return after
  })
}

export async function removeEndpoint(sql: Sql, id: string, operator: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [removed] = await tx<Endpoint[]>`delete from webhook_endpoints where endpoint_id = ${id} returning *`
    if (!removed) return false
    await audit(tx, [{ actor: operator, action: 'webhook deleted', sale: ALL_SALES, before: shown(removed) }])
    return true
  })
}

/** Whether any endpoint wants the event `e`, as a condition. */
export const isWanted = (sql: Queryable) =>
  sql`exists (select from webhook_endpoints w where w.events && array['*', e.type])`

/** Without its secrets. */
const shown = ({ endpoint_id, url, events, state, note, secrets }: Endpoint) => ({
  endpoint: endpoint_id,
  url,
  events,
  state,
  note,
  secrets: secrets.length,
})

/** Stops sending to an endpoint that has asked for it. */
export async function pauseEndpoint(sql: Queryable, id: string): Promise<void> {
  await sql`update webhook_endpoints set state = 'paused' where endpoint_id = ${id}`
}

// -- Deliveries --------------------------------------------------------------------------------------------------

export type NewDelivery = Pick<DeliveryRow, 'endpoint_id' | 'message_id' | 'type' | 'lane' | 'body'>

export async function addDeliveries(tx: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const column = (key: keyof NewDelivery) => deliveries.map((one) => one[key])
  // In the select list the rows keep the order of the arrays, in which the numbers are given.
  await tx`
    insert into webhook_deliveries (endpoint_id, message_id, type, lane, body)
    select unnest(${column('endpoint_id')}::uuid[]), unnest(${column('message_id')}::text[]), unnest(${column('type')}::text[]),
      unnest(${column('lane')}::text[]), unnest(${column('body')}::text[])`
}

/** The endpoints to which something is due. */
export const endpointsDue = (sql: Sql) => sql<Endpoint[]>`
  select e.* from webhook_endpoints e
  where e.state = 'active' and exists (
    select from webhook_deliveries d where d.endpoint_id = e.endpoint_id and d.state = 'pending' and d.next_at <= now())`

export type Claimed = Pick<DeliveryRow, 'delivery_id' | 'message_id' | 'type' | 'body' | 'attempts'>

/**
 * Messages that are due, the first of each lane, for this worker alone: for others they are not due for `leaseMs`, after which
 * a worker that died has left them.
 */
export async function claimDeliveries(
  sql: Sql,
  endpointId: string,
  limit: number,
  leaseMs: number,
): Promise<Claimed[]> {
  const claimed = await sql<Claimed[]>`
    with due as materialized (
      select d.delivery_id from webhook_deliveries d
      where d.endpoint_id = ${endpointId} and d.state = 'pending' and d.next_at <= now()
        -- Compared with a single value, since the planner would join the whole backlog instead.
        and d.delivery_id = (
          select min(f.delivery_id) from webhook_deliveries f
          where f.endpoint_id = d.endpoint_id and f.lane = d.lane and f.state = 'pending')
      order by d.next_at, d.delivery_id limit ${limit} for no key update skip locked
    )
    update webhook_deliveries d set next_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from due where d.delivery_id = due.delivery_id
    returning d.delivery_id, d.message_id, d.type, d.body, d.attempts`
  return claimed.sort((a, b) => a.delivery_id - b.delivery_id)
}

export interface Outcome {
  readonly delivery: number
  /** `returned`: claimed, but not sent. */
  readonly outcome: 'delivered' | 'failed' | 'returned'
  readonly status: number | null
  readonly error: string | null
  /** Until the next attempt. */
  readonly waitMs: number
}

type Failed = Pick<DeliveryRow, 'endpoint_id' | 'lane' | 'state' | 'error' | 'next_at'>

/** Notes what became of claimed messages. Returns those that are set aside now, because they have been tried for long enough. */
export async function noteOutcomes(tx: Queryable, outcomes: readonly Outcome[]): Promise<Failed[]> {
  const column = <K extends keyof Outcome>(key: K) => outcomes.map((one) => one[key])
  const failed = await tx<Failed[]>`
    with noted as (
      update webhook_deliveries d set
        state = case when o.outcome = 'delivered' then 'delivered'
                     when o.outcome = 'failed' and ${isOld(tx)} then 'dead' else 'pending' end,
        attempts = d.attempts + (o.outcome <> 'returned')::int,
        status = case when o.outcome = 'returned' then d.status else o.status end,
        error = case when o.outcome = 'returned' then d.error else o.error end,
        -- The last attempt is made at the end of its time.
        next_at = least(clock_timestamp() + o.wait * interval '1 millisecond',
                        greatest(clock_timestamp(), d.created_at + ${LIFETIME_HOURS} * interval '1 hour')),
        delivered_at = case when o.outcome = 'delivered' then clock_timestamp() end
      from unnest(${column('delivery')}::bigint[], ${column('outcome')}::text[], ${column('status')}::int[],
                  ${column('error')}::text[], ${column('waitMs')}::float8[]) as o(id, outcome, status, error, wait)
      where d.delivery_id = o.id and d.state = 'pending'
      returning d.endpoint_id, d.lane, d.state, d.error, d.next_at)
    select * from noted where state <> 'delivered' and error is not null`
  // Whoever looks for what is due would meet those that wait for it, again and again.
  if (failed.length > 0)
    await tx`
      update webhook_deliveries f set next_at = o.next_at
      from unnest(${failed.map((d) => d.endpoint_id)}::uuid[], ${failed.map((d) => d.lane)}::text[],
                  ${failed.map((d) => d.next_at.toISOString())}::timestamptz[])
        as o(endpoint, lane, next_at)
      where f.endpoint_id = o.endpoint and f.lane = o.lane and f.state = 'pending'`
  return failed.filter(({ state }) => state === 'dead')
}

const isOld = (sql: Queryable) => sql`d.created_at <= clock_timestamp() - ${LIFETIME_HOURS} * interval '1 hour'`

/** Makes all messages due that wait for another attempt, since the endpoint answers again. */
export async function hasten(sql: Queryable, endpointId: string): Promise<void> {
  await sql`
    update webhook_deliveries set next_at = clock_timestamp()
    where endpoint_id = ${endpointId} and state = 'pending' and attempts > 0`
}

/** Messages set aside per call: more than an hour brings. */
const ABANDONED = 5_000
/** The deliverer's own last attempt comes first. */
const GRACE_MINUTES = 15

/** Sets messages aside that were never sent in their time, to an endpoint that fails or is paused. Returns the endpoints. */
export async function abandonOld(sql: Queryable): Promise<{ endpoint_id: string; many: number }[]> {
  return sql<{ endpoint_id: string; many: number }[]>`
    with old as materialized (
      select delivery_id from webhook_deliveries
      where state = 'pending' and created_at < now() - ${LIFETIME_HOURS} * interval '1 hour' - ${GRACE_MINUTES} * interval '1 minute'
      limit ${ABANDONED} for update skip locked),
    dead as (
      update webhook_deliveries d set state = 'dead', error = coalesce(d.error, 'not sent in time')
      from old where d.delivery_id = old.delivery_id returning d.endpoint_id)
    select endpoint_id, count(*)::int as many from dead group by endpoint_id`
}

/** What waits for endpoints that are active: how many, and for how long the oldest has. */
export async function backlogOf(sql: Sql): Promise<{ pending: number; oldest_seconds: number }> {
  const [backlog] = await sql<{ pending: number; oldest_seconds: number }[]>`
    select count(*)::int as pending,
      coalesce(extract(epoch from clock_timestamp() - min(d.created_at)), 0)::float8 as oldest_seconds
    from webhook_endpoints e join webhook_deliveries d using (endpoint_id)
    where e.state = 'active' and d.state = 'pending'`
  return backlog ?? { pending: 0, oldest_seconds: 0 }
}

// -- The log, and replay -----------------------------------------------------------------------------------------

export async function readDeliveries(
  sql: Sql,
  endpointId: string,
  { state, after, limit }: { state?: string | undefined; after?: string | undefined; limit: number },
): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select * from webhook_deliveries
    where endpoint_id = ${endpointId} ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${after === undefined ? sql`` : sql`and delivery_id < ${after}`}
    order by delivery_id desc limit ${limit}`
}

type Replay = { readonly delivery: string } | { readonly from: string; readonly to: string }

/** Messages that one call sends again. */
export const MAX_REPLAY = 20_000

/** Sends messages again that are delivered or set aside, with their ids, in their order; returns how many. */
export async function replayDeliveries(
  tx: Queryable,
  endpointId: string,
  replay: Replay,
  operator: string,
): Promise<number> {
  const which =
    'delivery' in replay
      ? tx`delivery_id = ${replay.delivery}`
      : tx`created_at >= ${replay.from} and created_at < ${replay.to}`
  const { count } = await tx`
    insert into webhook_deliveries (endpoint_id, message_id, type, lane, body)
    select endpoint_id, message_id, type, lane, body from (
      select distinct on (message_id) * from webhook_deliveries d
      where endpoint_id = ${endpointId} and ${which} and state <> 'pending'
      order by message_id, delivery_id) once
    order by delivery_id limit ${MAX_REPLAY + 1}`
  const after = { endpoint: endpointId, ...replay, replayed: count }
  await audit(tx, [{ actor: operator, action: 'webhook sent again', sale: ALL_SALES, after }])
  return count
}
