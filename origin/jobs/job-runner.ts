/**
 * Runs the jobs of all queues: one statement takes what the consumers have room for, and one ends what they have tried. A job
 * that kills its workers, or a consumer that fails, stops no other job.
 */
import type { Logger } from 'pino'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import { endJobs, takeJobs } from './job-queries.ts'
import { type Ended, type Job, type Outcome, QUEUES, type QueueName } from './queues.ts'

/** Attempts ended by one statement, and the pause between two: only the next job of a lane waits for it. */
const ENDING = { size: 500, queue: 20_000, pauseMs: 50 }

/** Ends an attempt. Resolves also if the ledger is away: then the lease ends, and the job is taken again. */
export type End<Name extends QueueName> = (job: Job<Name>, outcome: Outcome) => Promise<void>

/** What does the jobs of one queue. */
export interface Consumer<Name extends QueueName> {
  readonly queue: Name
  /** How many more jobs it takes, where `busy` are in its hands: of a queue without groups, or of each group. */
  room(busy: number): number | Promise<number | readonly { readonly group: string; readonly limit: number }[]>
  /** Ends each of the jobs, and resolves then. A job that it does not end is taken again when its lease ends. */
  run(jobs: readonly Job<Name>[], end: End<Name>): Promise<unknown>
  /** Called in the transaction in which these jobs die. */
  gaveUp?(tx: Queryable, dead: readonly Ended<Name>[]): Promise<void>
}

interface RunnerDeps {
  readonly sql: Sql
  readonly log: Logger
}

export class JobRunner {
  readonly #deps: RunnerDeps
  readonly #consumers: readonly Consumer<QueueName>[]
  readonly #busy = new Map<QueueName, number>()
  readonly #running = new Set<Promise<void>>()
  readonly #endings = new Batcher<Ended, void>(ENDING, (ended) => this.#end(ended))

  /** Each consumer is of another queue. */
  constructor(deps: RunnerDeps, consumers: readonly { readonly queue: QueueName }[]) {
    this.#deps = deps
    // Jobs go to the consumer of their queue, whose data they have.
    this.#consumers = consumers as readonly Consumer<QueueName>[]
  }

  /** Takes the jobs that are due, as far as there is room, and begins them. True while any are in progress. */
  async round(): Promise<boolean> {
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

  /** Waits for the jobs in progress. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #start(consumer: Consumer<QueueName>, jobs: readonly Job[]): void {
    if (jobs.length === 0) return
    const { queue } = consumer
    const open = new Set(jobs)
    const countBusy = (change: number) => this.#busy.set(queue, (this.#busy.get(queue) ?? 0) + change)
    const end: End<QueueName> = async (job, outcome) => {
      await this.#endings
        .add({ job, outcome })
        .catch((error) => this.#deps.log.warn({ queue, error: String(error) }, 'job not ended; it is taken again'))
      if (open.delete(job)) countBusy(-1)
    }
    countBusy(jobs.length)
    const work = this.#run(consumer, jobs, end)
      .catch((error) => this.#deps.log.warn({ queue, error: String(error) }, 'jobs interrupted'))
      .finally(() => {
        countBusy(-open.size)
        this.#running.delete(work)
      })
    this.#running.add(work)
  }

  /** A job whose last attempt ended with its worker is not tried again: it may have been the reason. */
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
    const { sql } = this.#deps
    const mayDie = ({ outcome }: Ended) => outcome.end === 'failed' || outcome.end === 'dead'
    if (!ended.some(mayDie)) {
      await endJobs(sql, ended)
      return
    }
    await sql.begin(async (tx) => {
      const dead = Map.groupBy(await endJobs(tx, ended), ({ job }) => job.queue)
      for (const consumer of this.#consumers) {
        const ofQueue = dead.get(consumer.queue)
        if (ofQueue) await consumer.gaveUp?.(tx, ofQueue)
      }
    })
  }
}
