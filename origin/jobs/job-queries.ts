/**
 * Jobs in Postgres. A job is added in the transaction that makes it necessary, so both commit or neither does.
 * Workers take and end many jobs by one statement, each on a lease, so a worker that dies loses nothing.
 */

import type { DeadJob, FailingJobs, QueueState } from '../../shared/api/operators/answers.ts'
import type { Backlogs } from '../../shared/api/operators/live.ts'
import type { RetryRequest } from '../../shared/api/operators/requests.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import {
  type Ended,
  type Job,
  type JobData,
  type Outcome,
  pauseAfter,
  QUEUE_NAMES,
  QUEUES,
  type QueueName,
} from './queues.ts'

// -- Adding ------------------------------------------------------------------------------------------------------

export interface NewJob<Data> {
  readonly data: Data
  readonly group?: string
  readonly lane?: string | null
  /** The job is not taken before this time; by default it is due at once. */
  readonly runAt?: Date
}

/** Adds jobs, which are taken in this order. */
export async function addJobs<Name extends QueueName>(
  tx: Queryable,
  queue: Name,
  jobs: readonly NewJob<JobData[Name]>[],
): Promise<void> {
  if (jobs.length === 0) return
  await tx`
    insert into jobs (queue, group_id, lane, data, run_at)
    select ${queue}, coalesce(n."group", ''), n.lane, n.data, coalesce(n."runAt", now())
    from rows from (json_to_recordset(${JSON.stringify(jobs)}::text::json)
      as ("group" text, lane text, data jsonb, "runAt" timestamptz)) with ordinality as n ("group", lane, data,
        "runAt", place)
    order by n.place`
}

// -- Taking and ending -------------------------------------------------------------------------------------------

/** The number of jobs that a worker can take from a group of a queue. */
export interface Room {
  readonly queue: QueueName
  readonly group: string
  readonly limit: number
}

/**
 * Takes due jobs, the first of each lane, each for the lease of its queue. No other worker takes them during the
 * lease. Every room is filled separately, so a backlog of one group does not delay another.
 */
export async function takeJobs(sql: Sql, rooms: readonly Room[]): Promise<Job[]> {
  if (rooms.length === 0) return []
  const taken = await sql<Job[]>`
    with rooms as (
      select * from unnest(${rooms.map(({ queue }) => queue)}::text[], ${rooms.map(({ group }) => group)}::text[],
        ${rooms.map(({ limit }) => limit)}::int[], ${rooms.map(({ queue }) => QUEUES[queue].leaseMs)}::float8[])
        as r (queue, group_id, max_jobs, lease_ms)),
    due as materialized (
      select j.job_id, j.run_at, r.lease_ms from rooms r cross join lateral (
        select job_id, run_at from jobs j
        where j.queue = r.queue and j.group_id = r.group_id and ${isDue(sql)}
          -- The id is compared with a single value, because the planner would join the whole backlog otherwise.
          and (j.lane is null or j.job_id = (
            select min(f.job_id) from jobs f
            where f.queue = j.queue and f.group_id = j.group_id and f.lane = j.lane and f.state = 'pending'))
        order by j.run_at, j.job_id limit r.max_jobs for no key update skip locked) j)
    update jobs j set attempts = attempts + 1, leased = true,
      run_at = clock_timestamp() + lease_ms * interval '1 millisecond'
    from due where j.job_id = due.job_id
    returning j.job_id, j.queue, j.group_id, j.data, j.attempts as attempt,
      (extract(epoch from clock_timestamp() - j.created_at) * 1000)::float8 as "ageMs",
      (extract(epoch from clock_timestamp() - due.run_at) * 1000)::float8 as "waitedMs"`
  return taken.sort((a, b) => a.job_id - b.job_id)
}

/** Renews the leases of jobs that are still in progress. A job that another worker has taken meanwhile remains its. */
export async function renewLeases(sql: Sql, jobs: readonly Job[]): Promise<void> {
  await sql`
    update jobs j set run_at = clock_timestamp() + h.lease_ms * interval '1 millisecond'
    from unnest(${jobs.map(({ job_id }) => job_id)}::bigint[], ${jobs.map(({ attempt }) => attempt)}::int[],
      ${jobs.map(({ queue }) => QUEUES[queue].leaseMs)}::float8[]) as h (job_id, attempt, lease_ms)
    where j.job_id = h.job_id and j.attempts = h.attempt and j.leased and j.state = 'pending'`
}

/**
 * An SQL condition that selects due jobs by their time, which is stored in milliseconds and may have been rounded
 * down.
 */
const isDue = (sql: Queryable) => sql`state = 'pending' and run_at <= now() + interval '1 millisecond'`

/** An SQL condition that is true if a job of these groups, or one for an endpoint, is due. */
export const isAnyJobDue = (sql: Queryable, groups: readonly string[]) => sql`
  exists (
    select from jobs
    where queue = any(${QUEUE_NAMES as QueueName[]}::text[])
      and group_id = any(${groups as string[]}::text[]) and ${isDue(sql)})
  or exists (
    select from webhook_endpoints e where e.state = 'active' and exists (
      select from jobs where queue = 'webhook' and group_id = e.endpoint_id::text and ${isDue(sql)}))`

/** The number of due jobs of a queue outside its groups, counted up to the limit. */
export async function countDue(sql: Sql, queue: QueueName, limit: number): Promise<number> {
  const [row] = await sql<{ due: number }[]>`
    select count(*)::int as due from (
      select from jobs where queue = ${queue} and group_id = '' and ${isDue(sql)} limit ${limit}) j`
  return row?.due ?? 0
}

/**
 * Ends attempts: a done job is deleted or retained, a failed one waits or is dead, a returned one is due again. If
 * another worker has taken the job meanwhile, nothing changes. Returns the jobs that are dead now.
 */
export async function endJobs(tx: Queryable, ended: readonly Ended[], random = Math.random): Promise<Ended[]> {
  const rows = ended.map(({ job, outcome }) => ({ job, outcome, ...transitionOf(job, outcome, random()) }))
  const dead = await tx<{ job_id: number }[]>`
    with ended as materialized (
      select * from unnest(${rows.map(({ job }) => job.job_id)}::bigint[], ${rows.map(({ job }) => job.attempt)}::int[],
        ${rows.map(({ to }) => to)}::text[], ${rows.map(({ waitMs }) => waitMs)}::float8[],
        ${rows.map(({ error }) => error)}::text[],
        ${rows.map(({ outcome }) => JSON.stringify(outcome.note ?? {}))}::text[])
        as e (job_id, attempt, became, wait_ms, error, note)),
    gone as (
      delete from jobs j using ended e
      where j.job_id = e.job_id and j.attempts = e.attempt and j.state = 'pending' and e.became = 'gone'),
    remaining as (
      update jobs j set
        state = case when e.became in ('done', 'dead') then e.became else 'pending' end,
        attempts = j.attempts - (e.became = 'returned')::int,
        leased = false,
        run_at = clock_timestamp() + e.wait_ms * interval '1 millisecond',
        error = case when e.became = 'returned' then j.error else e.error end,
        data = j.data || e.note::jsonb,
        finished_at = case when e.became in ('done', 'dead') then clock_timestamp() end
      from ended e
      where j.job_id = e.job_id and j.attempts = e.attempt and j.state = 'pending' and e.became <> 'gone'
      returning j.job_id, j.queue, j.group_id, j.lane, j.run_at, e.became),
    -- The jobs of the same lane get the time of the waiting job before them. Otherwise every query for due jobs would
    -- find and skip them.
    behind as (
      update jobs j set run_at = k.run_at from remaining k
      where k.became = 'retry' and j.queue = k.queue and j.group_id = k.group_id and j.lane = k.lane
        and j.state = 'pending' and j.job_id > k.job_id)
    select job_id from remaining where became = 'dead'`
  const isDead = new Set(dead.map(({ job_id }) => job_id))
  return ended.filter(({ job }) => isDead.has(job.job_id))
}

function transitionOf(job: Job, outcome: Outcome, random: number) {
  switch (outcome.end) {
    case 'done':
      return { to: QUEUES[job.queue].keepsDone ? 'done' : 'gone', waitMs: 0, error: null }
    case 'returned':
      return { to: 'returned', waitMs: outcome.waitMs ?? 0, error: null }
    case 'dead':
      return { to: 'dead', waitMs: 0, error: outcome.error }
    case 'failed': {
      const waitMs = pauseAfter(job, outcome, random)
      return { to: waitMs === null ? 'dead' : 'retry', waitMs: waitMs ?? 0, error: outcome.error }
    }
  }
}

// -- For operators -----------------------------------------------------------------------------------------------

export const readQueues = (sql: Sql) => sql<(QueueState & { readonly queue: QueueName })[]>`
  select q.queue, j.waiting, j.later, j.active, j.retrying, j.oldest_seconds,
    json_build_object('waiting', j.open, 'oldest_seconds', j.open_seconds, 'tries', j.tries) as open,
    (select count(*)::int from jobs d where d.queue = q.queue and d.state = 'dead') as dead
  from unnest(${QUEUE_NAMES as string[]}::text[]) as q (queue),
  lateral (
    select count(*) filter (where run_at <= now())::int as waiting,
      count(*) filter (where run_at > now() and not leased)::int as later,
      count(*) filter (where run_at > now() and leased)::int as active,
      count(*) filter (where attempts > 0 and not leased)::int as retrying,
      extract(epoch from now() - min(run_at) filter (where run_at <= now()))::float8 as oldest_seconds,
      count(*) filter (where is_open)::int as open, coalesce(max(attempts), 0) as tries,
      extract(epoch from clock_timestamp() - min(created_at) filter (where is_open))::float8 as open_seconds
    from (
      select run_at, leased, attempts, created_at, j.queue <> 'scheduled' or run_at <= now() or attempts > 0 as is_open
      from jobs j where j.queue = q.queue and j.state = 'pending' limit ${COUNT_LIMIT}) j) j`

/** The latest dead jobs of a queue. */
export const readDead = (sql: Sql, queue: QueueName, limit: number) => sql<DeadJob[]>`
  select job_id::text as job, data, finished_at as died_at, error
  from jobs where queue = ${queue} and state = 'dead' order by job_id desc limit ${limit}`

/**
 * Makes a dead job due again with all its attempts, after the other jobs of its lane. Returns its data; undefined if
 * there is no such job.
 */
export async function retryDead(tx: Queryable, queue: QueueName, job: number): Promise<object | undefined> {
  const [row] = await tx<{ data: object }[]>`
    update jobs set job_id = nextval('jobs_job_id_seq'), state = 'pending', attempts = 0, run_at = now(),
      created_at = now(),
      finished_at = null
    where queue = ${queue} and job_id = ${job} and state = 'dead' returning data`
  return row?.data
}

/** One call lists at most this many groups of failing jobs, and tries at most this many jobs again. */
const MAX_GROUPS = 200
export const MAX_RETRIED = 10_000

/** The type of a message; the queue's name for jobs of one kind. */
const kindIn = (sql: Queryable) => sql`coalesce(data ->> 'type', data ->> 'kind', queue)`

/** The error without what differs from job to job, so that the jobs of one cause are found together. */
const reasonIn = (sql: Queryable) => sql`
  regexp_replace(left(coalesce(error, 'unknown'), 200),
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4,}', '*', 'g')`

/** The jobs of a queue that fail, by kind and reason, those with the most dead jobs first. */
export const readFailing = (sql: Sql, queue: QueueName) => sql<FailingJobs[]>`
  select kind, reason, count(*) filter (where state = 'dead')::int as dead,
    count(*) filter (where state = 'pending')::int as retrying,
    min(finished_at) as first_at, max(finished_at) as last_at
  from (
    select ${kindIn(sql)} as kind, ${reasonIn(sql)} as reason, state, finished_at from (
      select * from jobs where queue = ${queue} and state = 'dead'
      union all
      select * from jobs where queue = ${queue} and state = 'pending' and attempts > 0 and error is not null) j
    limit ${COUNT_LIMIT}) j
  group by kind, reason order by dead desc, retrying desc, kind, reason limit ${MAX_GROUPS}`

/**
 * Makes dead jobs due again with all their attempts, in their order and after the other jobs of their lanes. Returns
 * their number, which is at most MAX_RETRIED.
 */
export async function retryFailed(
  tx: Queryable,
  queue: QueueName,
  { kind, reason, from, to }: RetryRequest,
): Promise<number> {
  const { count } = await tx`
    with found as materialized (
      select job_id from jobs where queue = ${queue} and state = 'dead'
        ${kind === undefined ? tx`` : tx`and ${kindIn(tx)} = ${kind}`}
        ${reason === undefined ? tx`` : tx`and ${reasonIn(tx)} = ${reason}`}
        ${from === undefined ? tx`` : tx`and finished_at >= ${from}`}
        ${to === undefined ? tx`` : tx`and finished_at < ${to}`}
      order by job_id limit ${MAX_RETRIED} for update skip locked),
    numbered as materialized (
      select job_id, nextval('jobs_job_id_seq') as new_id from (select job_id from found order by job_id) f)
    update jobs j set job_id = n.new_id, state = 'pending', attempts = 0, run_at = now(), created_at = now(),
      finished_at = null
    from numbered n where j.job_id = n.job_id`
  return count
}

/** Counting stops at this number, because an exact count would take long and no operator needs it. */
const COUNT_LIMIT = 100_000

/** The number of open jobs, and the age of the oldest. */
export async function readBacklogs(sql: Sql): Promise<Backlogs> {
  const queues = await readQueues(sql)
  const of = (name: QueueName) => {
    const { waiting = 0, oldest_seconds = null } = queues.find(({ queue }) => queue === name)?.open ?? {}
    return { waiting, oldest_seconds }
  }
  return {
    charges: of('charge'),
    captures: of('capture'),
    refunds: of('refund'),
    webhooks: of('webhook'),
    mails: of('mail'),
  }
}
