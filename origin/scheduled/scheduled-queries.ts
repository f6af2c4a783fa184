/**
 * Scheduled actions and their runs in the ledger. A run's row is written in the transaction of its effect, so the
 * effect happens once.
 */
import type { ScheduledRun } from '../../shared/api/operators/answers.ts'
import { closeAbout } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { scheduledActions, scheduledDocuments, scheduledRuns } from '../ledger/schema/sales.ts'

export type ScheduledRow = Readonly<typeof scheduledActions.$inferSelect>
type RunRow = Readonly<Omit<typeof scheduledRuns.$inferSelect, 'action_id'>>
/** A kept report or list of orders. */
export type Document = Readonly<Pick<typeof scheduledDocuments.$inferSelect, 'type' | 'body'>>

/** A run that starts later than this after its time is marked late. */
const LATE_AFTER_MS = 5_000
/** An action is shown with this many runs. */
const RUNS_SHOWN = 20

/** Adds an action. Returns false if the sale has one with the same key. */
export async function addAction(
  tx: Queryable,
  action: Pick<ScheduledRow, 'action_id' | 'sale_id' | 'effect' | 'cron' | 'operator' | 'idempotency_key'> & {
    readonly next_at: Date
    readonly not_after?: Date | null
  },
): Promise<boolean> {
  const { action_id, sale_id, effect, cron, operator, idempotency_key, next_at, not_after = null } = action
  const { count } = await tx`
    insert into scheduled_actions
      (action_id, sale_id, effect, cron, next_at, not_after, operator, idempotency_key)
    values (${action_id}, ${sale_id}, ${JSON.stringify(effect)}::text::jsonb, ${cron}, ${next_at}, ${not_after},
            ${operator}, ${idempotency_key})
    on conflict do nothing`
  return count > 0
}

/** Queues a run of an action at its time, or for the operator who has it run now. */
export const addRun = (tx: Queryable, action: string, dueAt: Date, by?: string) =>
  addJobs(tx, 'scheduled', [{ data: { action, dueAt: dueAt.toISOString(), ...(by && { by }) }, runAt: dueAt }])

/** The actions of a sale with their latest runs. Future actions come first, by their time. */
export const listActions = (sql: Sql, saleId: string, limit: number) => sql<
  (ScheduledRow & { readonly runs: readonly ScheduledRun[] })[]
>`
  select a.*, (
    select coalesce(json_agg(json_build_object(
        'due_at', to_char(r.due_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'ran_at', to_char(r.ran_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'late', r.late, 'error', r.error, 'has_document', exists (
          select from scheduled_documents d where d.action_id = r.action_id and d.due_at = r.due_at))
        order by r.due_at desc), '[]')
      from (select * from scheduled_runs r where r.action_id = a.action_id order by due_at desc
        limit ${RUNS_SHOWN}) r) as runs
  from scheduled_actions a where sale_id = ${saleId}
  order by next_at nulls last, created_at desc, action_id limit ${limit}`

/** The number of future actions of a sale. */
export async function countToCome(tx: Queryable, saleId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from scheduled_actions where sale_id = ${saleId} and next_at is not null`
  return row?.count ?? 0
}

/** The action that a call with this key created. */
export async function findActionByKey(tx: Queryable, saleId: string, key: string): Promise<ScheduledRow | undefined> {
  const [row] = await tx<ScheduledRow[]>`
    select * from scheduled_actions where sale_id = ${saleId} and idempotency_key = ${key}`
  return row
}

/**
 * Reads an action and locks its row, so that workers with the same run check one after the other whether it is still
 * due.
 */
export async function lockAction(tx: Queryable, actionId: string): Promise<ScheduledRow | undefined> {
  const [row] = await tx<ScheduledRow[]>`
    select * from scheduled_actions where action_id = ${actionId} for no key update`
  return row
}

/** Cancels an action, including a suspended one. */
export async function cancelAction(tx: Queryable, { action_id }: ScheduledRow): Promise<void> {
  await tx`
    update scheduled_actions set cancelled_at = clock_timestamp(), next_at = null, suspended = null
    where action_id = ${action_id}`
  await closeAbout(tx, 'scheduled_suspended', [action_id], 'cancelled')
}

/** Schedules a suspended action for this time, in the name of the operator who resumes it. */
export async function resumeAction(
  tx: Queryable,
  { action_id }: ScheduledRow,
  { at, operator }: { readonly at: Date; readonly operator: string },
): Promise<void> {
  await tx`
    update scheduled_actions set next_at = ${at}, suspended = null,
      operator = ${operator} where action_id = ${action_id}`
  await addRun(tx, action_id, at)
  await closeAbout(tx, 'scheduled_suspended', [action_id], 'resumed')
}

/** True if the last run of an action failed. */
export async function hasFailed(tx: Queryable, { action_id }: ScheduledRow): Promise<boolean> {
  const [last] = await tx<{ failed: boolean }[]>`
    select error is not null as failed from scheduled_runs where action_id = ${action_id}
    order by due_at desc limit 1`
  return last?.failed === true
}

/** Has an action run now, in the name of this operator. */
export async function runNow(tx: Queryable, { action_id }: ScheduledRow, operator: string): Promise<void> {
  const [row] = await tx<{ next_at: Date }[]>`
    update scheduled_actions set next_at = date_trunc('milliseconds', clock_timestamp())
    where action_id = ${action_id} returning next_at`
  if (row) await addRun(tx, action_id, row.next_at, operator)
}

/** Has the repeated reports of a sale that has ended made now; they end with it. */
export async function runReports(tx: Queryable, saleId: string): Promise<void> {
  const rows = await tx<{ action_id: string; operator: string; next_at: Date }[]>`
    update scheduled_actions set next_at = date_trunc('milliseconds', clock_timestamp())
    where sale_id = ${saleId} and next_at is not null and cron is not null and effect ->> 'action' = 'report'
      and effect -> 'to' is not null
    returning action_id, operator, next_at`
  for (const { action_id, operator, next_at } of rows) await addRun(tx, action_id, next_at, operator)
}

/** Reads an action without locking it. */
export async function readAction(sql: Sql, actionId: string): Promise<ScheduledRow | undefined> {
  const [row] = await sql<ScheduledRow[]>`select * from scheduled_actions where action_id = ${actionId}`
  return row
}

/** What a run of a sale's action has kept. */
export async function readDocument(sql: Sql, saleId: string, action: string, dueAt: Date) {
  const [row] = await sql<Document[]>`
    select type, body from scheduled_documents join scheduled_actions using (action_id)
    where sale_id = ${saleId} and action_id = ${action} and due_at = ${dueAt}`
  return row
}

/** Writes the result of a run, and the time of the next one. */
export async function writeRun(
  tx: Queryable,
  { action_id }: ScheduledRow,
  {
    due_at,
    error,
    next,
    document,
  }: {
    readonly due_at: Date
    readonly error: string | null
    readonly next: Date | null
    readonly document: Document | null
  },
): Promise<RunRow> {
  const [run] = await tx<RunRow[]>`
    insert into scheduled_runs (action_id, due_at, ran_at, late, error)
    values (${action_id}, ${due_at}, clock_timestamp(),
            clock_timestamp() > ${due_at}::timestamptz + ${LATE_AFTER_MS} * interval '1 millisecond', ${error})
    returning due_at, ran_at, late, error`
  await tx`update scheduled_actions set next_at = ${next} where action_id = ${action_id}`
  if (!run) throw new Error('no row')
  if (document)
    await tx`
      insert into scheduled_documents (action_id, due_at, type, body)
      values (${action_id}, ${due_at}, ${document.type}, ${Buffer.from(document.body)})`
  return run
}
