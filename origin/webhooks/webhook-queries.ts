/**
 * Webhooks in the ledger: the endpoints, their waiting messages, and the log of deliveries. A message is a job of its
 * endpoint.
 */

import { randomUUID } from 'node:crypto'
import type { WebhookState } from '../../shared/api/operators/answers.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { type JobData, QUEUES } from '../jobs/queues.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { jobs } from '../ledger/schema/jobs.ts'
import type { Endpoint, EndpointRow, SecretSealer } from './sealing.ts'
import type { DeliveryQuery, ReplayRequest } from './webhook-requests.ts'

/** The number of endpoints is limited, because each change writes a row per endpoint. */
const MAX_ENDPOINTS = 20

const LIFETIME_MS = QUEUES.webhook.lifetimeMs ?? Number.POSITIVE_INFINITY

// -- Endpoints ---------------------------------------------------------------------------------------------------

export async function readEndpoints(sql: Queryable, sealer: SecretSealer): Promise<Endpoint[]> {
  const rows = await sql<EndpointRow[]>`select * from webhook_endpoints order by created_at`
  return rows.map((row) => sealer.open(row))
}

/** The fields that decide which events an endpoint receives. */
export type Receiver = Pick<Endpoint, 'endpoint_id' | 'events' | 'created_at'>

/** Reads the endpoints and locks them until the transaction ends, so that messages to them can be added. */
export const keepEndpoints = (tx: Queryable) => tx<Receiver[]>`
  select endpoint_id, events, created_at from webhook_endpoints for key share`

export async function activeEndpoints(sql: Sql, sealer: SecretSealer): Promise<Endpoint[]> {
  const rows = await sql<EndpointRow[]>`select * from webhook_endpoints where state = 'active'`
  return rows.map((row) => sealer.open(row))
}

export async function findEndpoint(sql: Queryable, sealer: SecretSealer, id: string): Promise<Endpoint | undefined> {
  const [row] = await sql<EndpointRow[]>`select * from webhook_endpoints where endpoint_id = ${id} for no key update`
  return row && sealer.open(row)
}

/** Encrypts with the first key the secrets that use another key. */
export async function sealSecrets(sql: Sql, sealer: SecretSealer): Promise<void> {
  const rows = await sql<EndpointRow[]>`select * from webhook_endpoints`
  for (const { endpoint_id } of rows.filter((row) => !sealer.isCurrent(row)))
    await sql.begin(async (tx) => {
      const endpoint = await findEndpoint(tx, sealer, endpoint_id)
      if (endpoint) await writeSecrets(tx, sealer, endpoint)
    })
}

const writeSecrets = (tx: Queryable, sealer: SecretSealer, { endpoint_id, secrets }: Endpoint) => tx`
  update webhook_endpoints
  set sealed_secrets = ${JSON.stringify(sealer.seal(secrets, endpoint_id))}::text::jsonb
  where endpoint_id = ${endpoint_id}`

export async function addEndpoint(
  sql: Sql,
  sealer: SecretSealer,
  endpoint: Omit<Endpoint, 'created_at' | 'tried_at'>,
  operator: string,
): Promise<Endpoint> {
  const { endpoint_id, url, events, secrets, state, note } = endpoint
  return sql.begin(async (tx) => {
    const [added] = await tx<EndpointRow[]>`
      insert into webhook_endpoints (endpoint_id, url, events, sealed_secrets, state, note)
      select ${endpoint_id}::uuid, ${url}, ${events}::text[],
        ${JSON.stringify(sealer.seal(secrets, endpoint_id))}::text::jsonb, ${state}, ${note}
      where (select count(*) from webhook_endpoints) < ${MAX_ENDPOINTS}
      returning *`
    if (!added) throw new ProblemError(problem('conflict', { detail: `There are ${MAX_ENDPOINTS} endpoints already.` }))
    await audit(tx, [{ actor: operator, action: 'webhook created', sale: ALL_SALES, after: toJson(added) }])
    return sealer.open(added)
  })
}

/** Changes an endpoint by `change`, which gets its current row; undefined if there is no such endpoint. */
export async function changeEndpoint(
  sql: Sql,
  sealer: SecretSealer,
  id: string,
  change: (endpoint: Endpoint) => Partial<Endpoint>,
  operator: string,
): Promise<Endpoint | undefined> {
  return sql.begin(async (tx) => {
    const before = await findEndpoint(tx, sealer, id)
    if (!before) return undefined
    const after = { ...before, ...change(before) }
    await tx`
      update webhook_endpoints
      set url = ${after.url}, events = ${after.events}::text[], state = ${after.state}, note = ${after.note}
      where endpoint_id = ${id}`
    await writeSecrets(tx, sealer, after)
    const entry = { actor: operator, action: 'webhook changed', sale: ALL_SALES }
    await audit(tx, [{ ...entry, before: toJson(before), after: toJson(after) }])
    return after
  })
}

/** Removes an endpoint with its messages. */
export async function removeEndpoint(sql: Sql, id: string, operator: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [removed] = await tx<EndpointRow[]>`delete from webhook_endpoints where endpoint_id = ${id} returning *`
    if (!removed) return false
    await tx`delete from jobs where group_id = ${id}`
    await tx`delete from webhook_counts where endpoint_id = ${id}`
    await audit(tx, [{ actor: operator, action: 'webhook deleted', sale: ALL_SALES, before: toJson(removed) }])
    return true
  })
}

/**
 * No endpoint receives these events, not even one that wants all events, because the status of the order did not
 * change.
 */
const UNSENT = ['order.moved']

/** An SQL condition that is true if any endpoint wants the event `e`. */
export const isSubscribed = (sql: Queryable) =>
  sql`e.type <> all(${UNSENT}::text[]) and exists (select from webhook_endpoints w
    where w.events && array['*', e.type])`

/** Moves a reader to the end of the log if there are no endpoints, since nothing else needs the events. */
export async function skipEvents(sql: Sql, reader: string): Promise<void> {
  await sql`
    insert into readers (reader, xid, seq)
    select ${reader}, e.xid, e.seq from (
      select xid, seq from events where xid < (select events_end()) order by xid desc, seq desc limit 1) e
    where not exists (select from webhook_endpoints)
      and not exists (select from readers r where r.reader = ${reader} and (r.xid, r.seq) >= (e.xid, e.seq))
    on conflict (reader) do update set xid = excluded.xid, seq = excluded.seq`
}

/** The endpoint without its secrets. */
const toJson = ({ endpoint_id, url, events, state, note, ...row }: Endpoint | EndpointRow) => ({
  endpoint: endpoint_id,
  url,
  events,
  state,
  note,
  secrets: ('secrets' in row ? row.secrets : row.sealed_secrets).length,
})

/** Pauses an endpoint whose response asks for no further messages. */
export async function pauseEndpoint(sql: Queryable, id: string): Promise<void> {
  await sql`update webhook_endpoints set state = 'paused' where endpoint_id = ${id}`
}

// -- Messages ----------------------------------------------------------------------------------------------------

/** Makes the failed pending messages of an endpoint due at once. Returns their number. */
export async function retryNow(sql: Queryable, endpointId: string): Promise<number> {
  const { count } = await sql`
    update jobs set run_at = clock_timestamp()
    where queue = 'webhook' and group_id = ${endpointId} and state = 'pending' and attempts > 0 and not leased`
  return count
}

/**
 * Makes the failed messages of an endpoint due at once, and has each worker forget the pause that it gave the
 * endpoint.
 */
export async function tryNow(tx: Queryable, { endpoint_id, url }: Endpoint, operator: string): Promise<number> {
  await tx`update webhook_endpoints set tried_at = clock_timestamp() where endpoint_id = ${endpoint_id}`
  const tried = await retryNow(tx, endpoint_id)
  const after = { endpoint: endpoint_id, url, tried }
  await audit(tx, [{ actor: operator, action: 'webhook tried', sale: ALL_SALES, after }])
  return tried
}

/** One call gives up at most this many messages, which is more than an hour produces. */
const GIVEN_UP = 5_000
/** The deliverer makes the last attempt at the end of a message's lifetime, and gets this much time for it. */
const GRACE_MS = 15 * 60_000

/** Gives up messages past their lifetime, whose endpoint fails or is paused. Returns these endpoints. */
export async function giveUpOld(sql: Queryable): Promise<string[]> {
  const dead = await sql<{ endpoint: string }[]>`
    with old as materialized (
      select job_id from jobs
      where queue = 'webhook' and state = 'pending'
        and created_at < now() - ${LIFETIME_MS + GRACE_MS} * interval '1 millisecond'
      limit ${GIVEN_UP} for update skip locked)
    update jobs j set state = 'dead', error = coalesce(j.error, 'not sent in time'), finished_at = clock_timestamp()
    from old where j.job_id = old.job_id returning j.group_id as endpoint`
  return [...new Set(dead.map(({ endpoint }) => endpoint))]
}

/** The backlog of active endpoints: the number of messages, and the age of the oldest. */
export async function backlogOf(sql: Sql): Promise<{ pending: number; oldest_seconds: number }> {
  const [backlog] = await sql<{ pending: number; oldest_seconds: number }[]>`
    select count(*)::int as pending,
      coalesce(extract(epoch from clock_timestamp() - min(j.created_at)), 0)::float8 as oldest_seconds
    from webhook_endpoints e join jobs j on j.queue = 'webhook' and j.group_id = e.endpoint_id::text
    where e.state = 'active' and j.state = 'pending'`
  return backlog ?? { pending: 0, oldest_seconds: 0 }
}

/** At most this many messages of an endpoint are counted. */
const COUNTED = 10_000

type Known = 'waiting' | 'oldest_seconds' | 'dead' | 'failure' | 'sent_day' | 'median_ms'
type Times = 'fails_since' | 'next_attempt_at' | 'accepted_at'
export type Backlog = Required<Pick<WebhookState, Known>> & { readonly [Name in Times]: Date | null }

/** The time that an endpoint takes is the median of this many messages, the latest. */
const MEASURED = 200

/** The waiting and the given-up messages of each endpoint, and how it answered lately. */
export async function readBacklogs(sql: Sql): Promise<Map<string, Backlog>> {
  const rows = await sql<(Backlog & { endpoint: string })[]>`
    select e.endpoint_id as endpoint, p.*, c.*,
      (select percentile_cont(0.5) within group (order by (data -> 'tries' -> -1 ->> 'ms')::float8)
       from (select data from jobs where group_id = e.endpoint_id::text and state = 'done'
             order by job_id desc limit ${MEASURED}) d)::float8 as median_ms,
      (select count(*)::int from (
        select from jobs where queue = 'webhook' and group_id = e.endpoint_id::text and state = 'dead'
          limit ${COUNTED}) d) as dead
    from webhook_endpoints e cross join lateral (
      select count(*)::int as waiting,
        extract(epoch from clock_timestamp() - min(created_at))::float8 as oldest_seconds,
        (array_agg(error order by data -> 'tries' -> -1 ->> 'at' desc nulls last) filter (where error is not null))[1]
          as failure,
        min((data ->> 'failsSince')::timestamptz) filter (where error is not null) as fails_since,
        min(run_at) filter (where error is not null and not leased) as next_attempt_at
      from (select created_at, error, data, run_at, leased from jobs
            where queue = 'webhook' and group_id = e.endpoint_id::text and state = 'pending' limit ${COUNTED}) j) p
    cross join lateral (
      select coalesce(sum(sent), 0)::int as sent_day, max(at) filter (where sent > 0) as accepted_at
      from webhook_counts where endpoint_id = e.endpoint_id) c`
  return new Map(rows.map(({ endpoint, ...backlog }) => [endpoint, backlog]))
}

// -- The log, and replay -----------------------------------------------------------------------------------------

type DeliveryRow = Omit<typeof jobs.$inferSelect, 'data'> & { readonly data: JobData['webhook'] }

/** The messages to an endpoint, the latest first. */
export async function readDeliveries(
  sql: Sql,
  endpointId: string,
  { state, after, limit }: DeliveryQuery,
): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select * from jobs
    where group_id = ${endpointId} ${
      state === undefined
        ? sql``
        : sql`and
      state = ${state === 'delivered' ? 'done' : state}`
    }
      ${after === undefined ? sql`` : sql`and job_id < ${after}`}
    order by job_id desc limit ${limit}`
}

/** One call sends at most this many messages again. */
export const MAX_REPLAY = 20_000

/** Sends delivered or given-up messages again, with their ids and in their order. Returns their number. */
export async function replayDeliveries(
  tx: Queryable,
  endpointId: string,
  replay: ReplayRequest,
  operator: string,
): Promise<number> {
  const which =
    'delivery' in replay
      ? tx`job_id = ${replay.delivery}`
      : 'deliveries' in replay
        ? tx`job_id = any(${[...replay.deliveries]}::bigint[])`
        : tx`created_at >= ${replay.from} and created_at < ${replay.to}`
  const { count } = await tx`
    insert into jobs (queue, group_id, lane, data)
    select queue, group_id, lane, data - '{status,tries,failsSince}'::text[] from (
      select distinct on (data ->> 'message') * from jobs
      where group_id = ${endpointId} and ${which} and state <> 'pending'
      order by data ->> 'message', job_id) once
    order by job_id limit ${MAX_REPLAY + 1}`
  const after = { endpoint: endpointId, ...replay, replayed: count }
  await audit(tx, [{ actor: operator, action: 'webhook sent again', sale: ALL_SALES, after }])
  return count
}

/** Adds a test message, which has no other content. */
export async function addTest(tx: Queryable, { endpoint_id, url }: Endpoint, operator: string): Promise<void> {
  const [type, timestamp] = ['webhook.test', new Date().toISOString()]
  const body = JSON.stringify({ type, timestamp, data: { endpoint: endpoint_id } })
  await addJobs(tx, 'webhook', [{ group: endpoint_id, data: { message: `test_${randomUUID()}`, type, body } }])
  const after = { endpoint: endpoint_id, url }
  await audit(tx, [{ actor: operator, action: 'webhook tested', sale: ALL_SALES, after }])
}
