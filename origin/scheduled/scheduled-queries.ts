/** Scheduled actions and their runs. A run's row is written in the transaction of its effect, so it happens once. */
import type { ScheduledRun, Suspension } from '../../shared/api/operator.ts'
import { closeAbout, note } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { scheduledActions, scheduledRuns } from '../ledger/schema/sales.ts'
import { audit } from '../operators/audit.ts'

export type ScheduledRow = Readonly<typeof scheduledActions.$inferSelect>
type RunRow = Readonly<Omit<typeof scheduledRuns.$inferSelect, 'action_id'>>

/** A run that began later than this after its time is marked late. */
const LATE_AFTER_MS = 5_000
/** Runs shown of one action. */
const RUNS_SHOWN = 20

/** Adds an action. False if the sale has one with its key. */
export async function addAction(
  tx: Queryable,
  action: Pick<ScheduledRow, 'action_id' | 'sale_id' | 'effect' | 'cron' | 'operator' | 'idempotency_key'> & {
    readonly next_at: Date
  },
): Promise<boolean> {
  const { action_id, sale_id, effect, cron, operator, idempotency_key, next_at } = action
  const { count } = await tx`
    insert into scheduled_actions (action_id, sale_id, effect, cron, next_at, operator, idempotency_key)
    values (${action_id}, ${sale_id}, ${JSON.stringify(effect)}::text::jsonb, ${cron}, ${next_at}, ${operator},
            ${idempotency_key})
    on conflict do nothing`
  return count > 0
}

/** Queues a run of an action for its time. */
export const addRun = (tx: Queryable, action: string, dueAt: Date) =>
  addJobs(tx, 'scheduled', [{ data: { action, dueAt: dueAt.toISOString() }, runAt: dueAt }])

/** The actions of a sale with their latest runs: those to come first, by their time. */
export const listActions = (sql: Sql, saleId: string, limit: number) => sql<
  (ScheduledRow & { readonly runs: readonly ScheduledRun[] })[]
>`
  select a.*, (
    select coalesce(json_agg(json_build_object(
        'due_at', to_char(r.due_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'ran_at', to_char(r.ran_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'late', r.late, 'error', r.error) order by r.due_at desc), '[]')
      from (select * from scheduled_runs r where r.action_id = a.action_id order by due_at desc limit ${RUNS_SHOWN}) r) as runs
  from scheduled_actions a where sale_id = ${saleId}
  order by next_at nulls last, created_at desc, action_id limit ${limit}`

/** How many actions of a sale are due later. */
export async function countToCome(tx: Queryable, saleId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from scheduled_actions where sale_id = ${saleId} and next_at is not null`
  return row?.count ?? 0
}

/** The action that a call with this key has made. */
export async function findActionByKey(tx: Queryable, saleId: string, key: string): Promise<ScheduledRow | undefined> {
  const [row] = await tx<ScheduledRow[]>`
    select * from scheduled_actions where sale_id = ${saleId} and idempotency_key = ${key}`
  return row
}

/** An action, with its row locked: workers with the same run check one after the other whether it is still due. */
export async function lockAction(tx: Queryable, actionId: string): Promise<ScheduledRow | undefined> {
  const [row] = await tx<ScheduledRow[]>`
    select * from scheduled_actions where action_id = ${actionId} for no key update`
  return row
}

/** Cancels an action, also a suspended one. */
export async function cancelAction(tx: Queryable, { action_id }: ScheduledRow): Promise<void> {
  await tx`
    update scheduled_actions set cancelled_at = clock_timestamp(), next_at = null, suspended = null
    where action_id = ${action_id}`
  await closeAbout(tx, 'scheduled_suspended', [action_id], 'cancelled')
}

/** Suspends what an operator has scheduled, each with a finding: they may not do it any more. Returns how many there were. */
export async function suspendActionsOf(
  tx: Queryable,
  operator: string,
  { by, reason }: Pick<Suspension, 'by' | 'reason'>,
): Promise<number> {
  const rows = await tx<ScheduledRow[]>`
    update scheduled_actions
    set next_at = null, suspended = jsonb_build_object('by', ${by}::text, 'reason', ${reason}::text,
      'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'due_at', to_char(next_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    where operator = ${operator} and next_at is not null returning *`
  for (const { action_id, sale_id: sale, effect, cron, suspended } of rows) {
    const about = { action_id, ...effect, cron, operator, ...suspended }
    await audit(tx, [{ actor: by, action: 'action suspended', sale, after: about }])
    const product = 'product_id' in effect ? effect.product_id : ''
    await note(tx, { sale, product, kind: 'scheduled_suspended', subject: action_id, units: 0, detail: about })
  }
  return rows.length
}

/** Has a suspended action happen at this time, by whoever resumes it. */
export async function resumeAction(
  tx: Queryable,
  { action_id }: ScheduledRow,
  { at, operator }: { readonly at: Date; readonly operator: string },
): Promise<void> {
  await tx`
    update scheduled_actions set next_at = ${at}, suspended = null, operator = ${operator} where action_id = ${action_id}`
  await addRun(tx, action_id, at)
  await closeAbout(tx, 'scheduled_suspended', [action_id], 'resumed')
}

/** Writes what became of an action at a time, and when it happens next. */
export async function writeRun(
  tx: Queryable,
  { action_id, next_at: due_at }: ScheduledRow,
  { error, next }: { readonly error: string | null; readonly next: Date | null },
): Promise<RunRow> {
  const [run] = await tx<RunRow[]>`
    insert into scheduled_runs (action_id, due_at, ran_at, late, error)
    values (${action_id}, ${due_at}, clock_timestamp(),
            clock_timestamp() > ${due_at}::timestamptz + ${LATE_AFTER_MS} * interval '1 millisecond', ${error})
    returning due_at, ran_at, late, error`
  await tx`update scheduled_actions set next_at = ${next} where action_id = ${action_id}`
  if (!run) throw new Error('no row')
  return run
}
