/**
 * Runs the jobs of all queues. One statement takes as many jobs as the consumers have room for, and one ends the
 * attempts. A job that kills its workers, or a consumer that fails, stops no other job.
 */
import type { Logger } from 'pino'
import type { Metrics } from '../base/metrics.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import { endJobs, renewLeases, takeJobs } from './job-queries.ts'
import type { QueueHistory } from './queue-history.ts'
import { type Ended, type Job, type Outcome, QUEUES, type QueueName } from './queues.ts'

/**
 * The number of attempts that one statement ends, the number that may wait, and the pause between two statements.
 * Only the next job of a lane waits for the pause.
 */
const ENDING = { size: 500, queue: 20_000, pauseMs: 50 }

/** Leases are renewed this often, which leaves time for two attempts before the shortest of them ends. */
const RENEW_EVERY_MS = 15_000

/** Ends an attempt. It also resolves if the ledger is away: the lease then ends, and the job is taken again. */
export type End<Name extends QueueName> = (job: Job<Name>, outcome: Outcome) => Promise<void>

/** A consumer processes the jobs of one queue. */
export interface Consumer<Name extends QueueName> {
  readonly queue: Name
  /**
   * The number of further jobs that the consumer takes while it has `busy` ones: of its queue, or of each group of
   * the queue.
   */
  room(busy: number): number | Promise<number | readonly { readonly group: string; readonly limit: number }[]>
  /** Ends each of the jobs, and then resolves. A job that is not ended is taken again when its lease ends. */
  run(jobs: readonly Job<Name>[], end: End<Name>): Promise<unknown>
  /** This is called in the transaction in which these jobs become dead. */
  gaveUp?(tx: Queryable, dead: readonly Ended<Name>[]): Promise<void>
}

interface RunnerDeps {
  readonly sql: Sql
  readonly log: Logger
  /** Counts what became of the attempts. */
  readonly history?: Pick<QueueHistory, 'add'>
  readonly metrics?: Pick<Metrics, 'jobAttempts' | 'jobWait' | 'jobSeconds'>
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

export class JobRunner {
  readonly #deps: RunnerDeps
  readonly #consumers: readonly Consumer<QueueName>[]
  readonly #busy = new Map<QueueName, number>()
  readonly #running = new Set<Promise<void>>()
  /** The jobs in progress whose lease is renewed. */
  readonly #renewed = new Set<Job>()
  #renewedAtMs = 0
  readonly #endings: Batcher<Ended, void>

  /** Each consumer has its own queue. */
  constructor(deps: RunnerDeps, consumers: readonly { readonly queue: QueueName }[]) {
    this.#deps = deps
    this.#endings = new Batcher(ENDING, (ended) => this.#end(ended), deps.runtime)
    // A consumer gets only jobs of its own queue, so their data have its type.
    this.#consumers = consumers as readonly Consumer<QueueName>[]
  }

  /** Takes due jobs as far as there is room, and starts them. The result is true while any are in progress. */
  async round(): Promise<boolean> {
    await this.#renewLeases()
    const rooms = await Promise.all(
      this.#consumers.map(async (consumer) => {
        const { queue } = consumer
        const room = await consumer.room(this.#busy.get(queue) ?? 0)
        const ofGroups = typeof room === 'number' ? [{ group: '', limit: room }] : room
        return ofGroups.filter(({ limit }) => limit > 0).map((ofGroup) => ({ queue, ...ofGroup }))
      }),
    )
    const taken = Map.groupBy(await takeJobs(this.#deps.sql, rooms.flat()), ({ queue }) => queue)
    for (const consumer of this.#consumers) this.#start(consumer, taken.get(consumer.queue) ?? [])
    return this.#running.size > 0
  }

  /** Rounds follow each other while jobs are in progress, so none is needed for this alone. */
  async #renewLeases(): Promise<void> {
    const { sql, runtime = machine } = this.#deps
    const nowMs = runtime.monotonicMs()
    if (this.#renewed.size === 0 || nowMs - this.#renewedAtMs < RENEW_EVERY_MS) return
    await renewLeases(sql, [...this.#renewed])
    this.#renewedAtMs = nowMs
  }

  /** Waits for the jobs in progress. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #start(consumer: Consumer<QueueName>, jobs: readonly Job[]): void {
    if (jobs.length === 0) return
    const { queue } = consumer
    const { metrics, runtime = machine } = this.#deps
    const open = new Set(jobs)
    const beganMs = runtime.monotonicMs()
    for (const { waitedMs } of jobs) metrics?.jobWait.observe({ queue }, Math.max(0, waitedMs) / 1000)
    if (QUEUES[queue].isRenewed) for (const job of jobs) this.#renewed.add(job)
    const countBusy = (change: number) => this.#busy.set(queue, (this.#busy.get(queue) ?? 0) + change)
    const end: End<QueueName> = async (job, outcome) => {
      metrics?.jobSeconds.observe({ queue, outcome: outcome.end }, (runtime.monotonicMs() - beganMs) / 1000)
      await this.#endings
        .add({ job, outcome })
        .catch((error) => this.#deps.log.warn({ queue, error: String(error) }, 'job not ended; it is taken again'))
      this.#renewed.delete(job)
      if (open.delete(job)) countBusy(-1)
    }
    countBusy(jobs.length)
    const work = this.#run(consumer, jobs, end)
      .catch((error) => this.#deps.log.warn({ queue, error: String(error) }, 'jobs interrupted'))
      .finally(() => {
        countBusy(-open.size)
        for (const job of open) this.#renewed.delete(job)
        this.#running.delete(work)
      })
    this.#running.add(work)
  }

  /** A job whose last attempt ended with its worker is not tried again, because it may have killed the worker. */
  async #run(consumer: Consumer<QueueName>, jobs: readonly Job[], end: End<QueueName>): Promise<void> {
    const isLost = ({ queue, attempt }: Job) => attempt > QUEUES[queue].attempts
    const lost = jobs.filter(isLost)
    const error = 'its worker ended during the last attempt'
    await Promise.all([
      ...lost.map((job) => end(job, { end: 'dead', error })),
      lost.length < jobs.length && consumer.run(lost.length === 0 ? jobs : jobs.filter((job) => !isLost(job)), end),
    ])
  }

  async #end(ended: readonly Ended[]): Promise<void> {
    const { sql, history, metrics, runtime = machine } = this.#deps
    for (const { job, outcome } of ended) metrics?.jobAttempts.inc({ queue: job.queue, outcome: outcome.end })
    const mayDie = ({ outcome }: Ended) => outcome.end === 'failed' || outcome.end === 'dead'
    if (!ended.some(mayDie)) {
      await endJobs(sql, ended, runtime.random)
      history?.add(ended, [])
      return
    }
    const died = await sql.begin(async (tx) => {
      const died = await endJobs(tx, ended, runtime.random)
      const dead = Map.groupBy(died, ({ job }) => job.queue)
      for (const consumer of this.#consumers) {
        const ofQueue = dead.get(consumer.queue)
        if (ofQueue) await consumer.gaveUp?.(tx, ofQueue)
      }
      return died
    })
    history?.add(ended, died)
  }
}
