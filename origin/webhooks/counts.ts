/**
 * Counts the attempts at each endpoint in steps of some seconds. A worker counts in memory and adds its counts to the
 * ledger every few seconds, so a message costs no further statement.
 */
import type { WebhookHistory } from '../../shared/api/operators/answers.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

/** The length of a step. */
const STEP_MS = 5_000
/** The counts reach this far back. */
const KEPT_HOURS = 24
/** A history shows this many steps, which are a quarter of an hour. */
const SHOWN_STEPS = 180
/** The history looks at this many waiting messages at most, the first of which have waited the longest. */
const MAX_WAITING = 10_000

type Counts = { sent: number; failed: number }

const stepOf = (atMs: number) => Math.floor(atMs / STEP_MS) * STEP_MS

export class WebhookCounts {
  #counts = new Map<string, Map<number, Counts>>()

  add(endpoint: string, succeeded: boolean, atMs: number): void {
    this.#add(endpoint, stepOf(atMs), succeeded ? { sent: 1, failed: 0 } : { sent: 0, failed: 1 })
  }

  /** Adds the counts to the ledger. They are kept for the next time if it does not take them. */
  async write(sql: Sql): Promise<void> {
    const rows = [...this.#counts].flatMap(([endpoint, steps]) =>
      [...steps].map(([atMs, counts]) => ({ endpoint, atMs, ...counts })),
    )
    if (rows.length === 0) return
    this.#counts = new Map()
    try {
      await sql`
        insert into webhook_counts (endpoint_id, at, sent, failed)
        select n.endpoint_id, to_timestamp(n.at_ms / 1000), n.sent, n.failed
        from unnest(${rows.map(({ endpoint }) => endpoint)}::uuid[], ${rows.map(({ atMs }) => atMs)}::float8[],
          ${rows.map(({ sent }) => sent)}::int[], ${rows.map(({ failed }) => failed)}::int[])
          as n (endpoint_id, at_ms, sent, failed)
        -- An endpoint that was deleted meanwhile has no counts.
        join webhook_endpoints using (endpoint_id)
        order by n.endpoint_id, n.at_ms
        on conflict (endpoint_id, at) do update set sent = webhook_counts.sent + excluded.sent,
          failed = webhook_counts.failed + excluded.failed`
    } catch (error) {
      for (const { endpoint, atMs, ...counts } of rows) this.#add(endpoint, atMs, counts)
      throw error
    }
  }

  #add(endpoint: string, atMs: number, by: Counts): void {
    const steps = this.#counts.get(endpoint) ?? new Map<number, Counts>()
    const counts = steps.get(atMs) ?? { sent: 0, failed: 0 }
    steps.set(atMs, { sent: counts.sent + by.sent, failed: counts.failed + by.failed })
    this.#counts.set(endpoint, steps)
  }
}

export async function deleteWebhookCounts(tx: Queryable): Promise<number> {
  const { count } = await tx`
    delete from webhook_counts where at < now() - ${KEPT_HOURS} * interval '1 hour'`
  return count
}

/** The last quarter of an hour of an endpoint: its attempts by their time, and what waits by the time of its making. */
export async function readWebhookHistory(sql: Sql, endpoint: string, nowMs: number): Promise<WebhookHistory> {
  const fromMs = stepOf(nowMs) - (SHOWN_STEPS - 1) * STEP_MS
  const from = new Date(fromMs)
  const [counts, waiting] = await Promise.all([
    sql<(Counts & { at: Date })[]>`
      select at, sent, failed from webhook_counts where endpoint_id = ${endpoint} and at >= ${from}`,
    sql<{ at_ms: number; waiting: number }[]>`
      select (floor(extract(epoch from created_at) * 1000 / ${STEP_MS}) * ${STEP_MS})::float8 as at_ms,
        count(*)::int as waiting
      from (select created_at from jobs
            where queue = 'webhook' and group_id = ${endpoint} and state = 'pending' limit ${MAX_WAITING}) j
      where created_at >= ${from} group by 1`,
  ])
  const attempts = new Map(counts.map(({ at, ...one }) => [at.getTime(), one]))
  const waits = new Map(waiting.map(({ at_ms, waiting }) => [at_ms, waiting]))
  const steps = Array.from({ length: SHOWN_STEPS }, (_, i) => {
    const atMs = fromMs + i * STEP_MS
    return {
      at: new Date(atMs).toISOString(),
      ...(attempts.get(atMs) ?? { sent: 0, failed: 0 }),
      waiting: waits.get(atMs) ?? 0,
    }
  })
  return { step_seconds: STEP_MS / 1000, steps }
}
