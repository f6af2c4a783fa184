/**
 * What became of the attempts of each queue, by the minute. A worker counts in memory and adds its counts to the
 * ledger every few seconds, so a job costs no further statement; a worker that dies loses these seconds.
 */
import type { QueueMinute } from '../../shared/api/operators/answers.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { Ended, QueueName } from './queues.ts'

/** The history reaches this far back. */
export const HISTORY_MINUTES = 24 * 60
/** The throughput of a queue is the mean of this many whole minutes. */
const THROUGHPUT_MINUTES = 5
const MINUTE_MS = 60_000

type Counts = { done: number; failed: number; dead: number }

export class QueueHistory {
  #counts = new Map<QueueName, Counts>()

  /** Counts attempts that have ended, of which some jobs are dead now. A returned job was not tried. */
  add(ended: readonly Ended[], died: readonly Ended[]): void {
    for (const { job, outcome } of ended) {
      if (outcome.end === 'done') this.#count(job.queue, 'done')
      else if (outcome.end !== 'returned') this.#count(job.queue, 'failed')
    }
    for (const { job } of died) this.#count(job.queue, 'dead')
  }

  /** Adds the counts to the ledger. They are kept for the next time if it does not take them. */
  async write(sql: Sql): Promise<void> {
    const counts = [...this.#counts]
    if (counts.length === 0) return
    this.#counts = new Map()
    const of = (name: keyof Counts) => counts.map(([, count]) => count[name])
    try {
      await sql`
        insert into queue_minutes (queue, minute, done, failed, dead)
        select queue, date_trunc('minute', now()), done, failed, dead
        from unnest(${counts.map(([queue]) => queue)}::text[], ${of('done')}::int[], ${of('failed')}::int[],
          ${of('dead')}::int[]) as n (queue, done, failed, dead)
        on conflict (queue, minute) do update set done = queue_minutes.done + excluded.done,
          failed = queue_minutes.failed + excluded.failed, dead = queue_minutes.dead + excluded.dead`
    } catch (error) {
      for (const [queue, count] of counts)
        for (const name of ['done', 'failed', 'dead'] as const) this.#count(queue, name, count[name])
      throw error
    }
  }

  #count(queue: QueueName, name: keyof Counts, by = 1): void {
    const counts = this.#counts.get(queue) ?? { done: 0, failed: 0, dead: 0 }
    counts[name] += by
    this.#counts.set(queue, counts)
  }
}

/** The minutes of all queues, the oldest first. A minute without an attempt is left out. */
export async function readHistory(sql: Sql, minutes: number): Promise<ReadonlyMap<string, readonly QueueMinute[]>> {
  const rows = await sql<({ queue: string; minute: Date } & Counts)[]>`
    select queue, minute, done, failed, dead from queue_minutes
    where minute > now() - ${minutes} * interval '1 minute' order by minute`
  const byQueue = Map.groupBy(rows, ({ queue }) => queue)
  const toJson = ({ queue: _, minute, ...counts }: (typeof rows)[number]) => ({
    minute: minute.toISOString(),
    ...counts,
  })
  return new Map([...byQueue].map(([queue, found]) => [queue, found.map(toJson)]))
}

export async function deleteHistory(tx: Queryable): Promise<number> {
  const { count } = await tx`
    delete from queue_minutes where minute < now() - ${HISTORY_MINUTES} * interval '1 minute'`
  return count
}

/** The attempts a minute that ended well and badly, over the last whole minutes before this one. */
export function throughputOf(history: readonly QueueMinute[], nowMs: number) {
  const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  const lately = history.filter(({ minute }) => {
    const atMs = Date.parse(minute)
    return atMs < toMs && atMs >= toMs - THROUGHPUT_MINUTES * MINUTE_MS
  })
  const mean = (of: (minute: QueueMinute) => number) =>
    lately.reduce((sum, minute) => sum + of(minute), 0) / THROUGHPUT_MINUTES
  return { done_per_minute: mean(({ done }) => done), failed_per_minute: mean(({ failed }) => failed) }
}
