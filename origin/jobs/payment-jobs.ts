/**
 * The payment jobs in Postgres (pg-boss). A job is inserted in the transaction that makes it necessary: both commit or
 * neither. A worker that dies loses nothing, since its jobs expire and are handed out again.
 */
import { PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import { closeAbout } from '../findings/finding-queries.ts'
import type { Queryable } from '../ledger/connection.ts'
import { type ChargeOf, insertCaptures, type Owed, type Refund } from '../payments/payment-queries.ts'
import { insertRefunds, type RefundOf } from '../payments/refund-queries.ts'

const CHARGE = 'charge'
/** The dead letter queue of charge jobs: their last attempt failed, or died with its worker. */
const LOST = 'charge-lost'
const CAPTURE = 'capture'
/** A worker of the version before would give back the whole charge for any of these jobs, so it does not get them. */
const REFUND = 'refund-by-id'
/** Its own, each of a whole charge. */
const REFUND_BEFORE = 'refund'
/** Runs of scheduled actions, each with its time. */
const SCHEDULED = 'scheduled'
/** Where jobs of a queue go whose last attempt failed, until an operator has them tried again. */
export const deadQueue = (name: string) => `${name}-dead`

export const CHARGE_ATTEMPTS = 3
/** Captures and refunds are tried for hours before a person must know. */
export const OUTBOX_ATTEMPTS = 60
/** An action is due at its time: what fails for minutes waits for an operator, and `overdue` in scheduler.ts. */
const SCHEDULED_ATTEMPTS = 30
/** A job handed out for longer counts as lost with its worker. With the next two, it is redelivered within 15 s. */
const EXPIRE_SECONDS = 10
/** Interval of the search for lost jobs. */
const SUPERVISE_SECONDS = 2
/** Queries take milliseconds; the connection of one that takes this long is closed. */
const QUERY_TIMEOUT_MS = 10_000
/** A requeued job waits this long and up to twice as long, so that they do not all return at once. */
const REQUEUE_SECONDS = 2
/** How long completed jobs are kept, which each search for lost jobs reads, and the interval of their removal. */
const KEEP_DONE_SECONDS = 60
/** How long an operator has to look at dead jobs. */
const KEEP_DEAD_SECONDS = 30 * 24 * 3600
const QUEUE = {
  expireInSeconds: EXPIRE_SECONDS,
  deleteAfterSeconds: KEEP_DONE_SECONDS,
  retryDelay: 1,
  retryBackoff: true,
}

interface Handle {
  readonly id: string
  /** Begins with 1. */
  readonly attempt: number
}
const handleOf = ({ id, attempt }: Handle) => ({ id, retryCount: attempt - 1 })
/** A job as it is handed out. */
type Taken<Data> = Data & Handle
interface ChargeData {
  readonly order: string
  /** Since when the provider has rejected it unprocessed, by the ledger's time. */
  readonly turnedAwayAtMs?: number
}
export type ChargeJob = Taken<ChargeData>
export type OutboxJob = Taken<Owed>

/** What has a table of its own in the ledger: see outbox.ts. Each has its queues, and adds to the first. */
export const OUTBOX_QUEUES = { capture: [CAPTURE], refund: [REFUND, REFUND_BEFORE] } as const
export type OutboxKind = keyof typeof OUTBOX_QUEUES
type OutboxQueue = (typeof OUTBOX_QUEUES)[OutboxKind][number]
type JobKind = typeof CHARGE | typeof LOST | typeof SCHEDULED | OutboxQueue
type DataOf<Kind extends JobKind> = Kind extends OutboxQueue
  ? Owed
  : Kind extends typeof SCHEDULED
    ? DueRun
    : ChargeData

/** One time that a scheduled action is due. */
export interface DueRun {
  readonly action: string
  /** ISO 8601. */
  readonly dueAt: string
}

const QUEUES: readonly JobKind[] = [CHARGE, LOST, CAPTURE, REFUND, REFUND_BEFORE, SCHEDULED]
export const isQueue = (name: string): name is JobKind => (QUEUES as readonly string[]).includes(name)
/** What dies in the queue of charges goes to that of lost ones first, where workers end it. */
export const DEAD_QUEUES = QUEUES.map((queue) => ({ queue, dead: deadQueue(queue) }))

export class PaymentJobs {
  readonly #boss: PgBoss
  readonly #log: Logger

  /** Every process may add jobs; those that take them also supervise the queue. */
  constructor(databaseUrl: string, log: Logger, supervise: boolean) {
    this.#boss = new PgBoss({
      // For the pg pool: a server that vanished must not block a query, and the charges with it.
      ...{ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true },
      connectionString: databaseUrl,
      max: 4,
      connectionTimeoutMillis: 3_000,
      application_name: 'flash-sale-jobs',
      supervise,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
      maintenanceIntervalSeconds: KEEP_DONE_SECONDS,
      schedule: false,
    })
    this.#log = log
    this.#boss.on('error', (error) => log.warn({ error: String(error) }, 'job queue error'))
  }

  async start(): Promise<void> {
    await this.#boss.start()
    const outbox = { retryLimit: OUTBOX_ATTEMPTS - 1, retryDelayMax: 300 }
    const queues = {
      [LOST]: { retryLimit: 1_000, retryDelayMax: 10 },
      [CHARGE]: { retryLimit: CHARGE_ATTEMPTS - 1, retryDelayMax: 10, deadLetter: LOST },
      [CAPTURE]: outbox,
      [REFUND]: outbox,
      [REFUND_BEFORE]: outbox,
      [SCHEDULED]: { retryLimit: SCHEDULED_ATTEMPTS - 1, retryDelayMax: 10 },
    }
    for (const [name, options] of Object.entries(queues)) {
      if ('deadLetter' in options) continue
      await this.#boss.createQueue(deadQueue(name), { retentionSeconds: KEEP_DEAD_SECONDS })
      Object.assign(options, { deadLetter: deadQueue(name) })
    }
    for (const [name, options] of Object.entries(queues)) {
      await this.#boss.createQueue(name, { ...QUEUE, ...options })
      await this.#boss.updateQueue(name, { ...QUEUE, ...options })
    }
  }

  stop(): Promise<void> {
    return this.#boss.stop({ graceful: true, timeout: 5_000, close: true })
  }

  addCharges(tx: Queryable, orderIds: readonly string[]): Promise<void> {
    const jobs = orderIds.map((order) => ({ order }))
    return this.add(tx, CHARGE, jobs)
  }

  /** Queues captures, one row per charge. A second job for a charge finds no open row. */
  async addCaptures(tx: Queryable, captures: readonly ChargeOf[]): Promise<void> {
    if (captures.length === 0) return
    // Pipelined, since the products' rows are locked meanwhile.
    await Promise.all([insertCaptures(tx, captures), this.add(tx, CAPTURE, captures)])
  }

  /** Queues refunds, one per charge, and drops the open captures of these charges. Returns the refunds that are new. */
  async addRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<readonly ChargeOf[]> {
    if (refunds.length === 0) return []
    const inserted = await insertRefunds(tx, refunds)
    const charges = refunds.map((r) => r.charge)
    await closeAbout(tx, 'capture_failed', charges, 'to be given back')
    await this.addRefundJobs(tx, inserted)
    for (const { charge, order } of inserted) this.#log.warn({ order, charge }, 'refund queued')
    return inserted
  }

  addRefundJobs(tx: Queryable, refunds: readonly RefundOf[]): Promise<void> {
    return this.add(tx, REFUND, refunds)
  }

  /** Queues a job again that was given up, with its full number of attempts. */
  addAgain(tx: Queryable, name: JobKind, data: object): Promise<void> {
    return this.add(tx, name, [data as never])
  }

  /** Queues a run of a scheduled action for its time. */
  addRun(tx: Queryable, run: DueRun): Promise<void> {
    return this.add(tx, SCHEDULED, [run], run.dueAt)
  }

  async add<Kind extends JobKind>(
    tx: Queryable,
    name: Kind,
    jobs: readonly DataOf<Kind>[],
    startAfter?: string,
  ): Promise<void> {
    if (jobs.length === 0) return
    const executeSql = async (text: string, values?: unknown[]) => ({
      rows: await tx.unsafe(text, values as never[]),
    })
    const inserts = jobs.map((data) => ({ data, ...(startAfter !== undefined && { startAfter }) }))
    await this.#boss.insert(name, inserts, { db: { executeSql } })
  }

  /**
   * Gives jobs their full number of attempts again, after a while. The old jobs end last: a duplicate job asks for the same
   * charge again, a missing one for none.
   */
  async requeue(jobs: readonly (ChargeJob & { readonly turnedAwayAtMs: number })[]): Promise<void> {
    const again = jobs.map(({ order, turnedAwayAtMs }) => ({
      data: { order, turnedAwayAtMs },
      startAfter: REQUEUE_SECONDS * (1 + Math.random()),
    }))
    await this.#boss.insert(CHARGE, again)
    await this.done(CHARGE, jobs)
  }

  async take<Kind extends JobKind>(name: Kind, limit: number): Promise<Taken<DataOf<Kind>>[]> {
    const jobs = await this.#boss.fetch<DataOf<Kind>>(name, { batchSize: limit, includeMetadata: true })
    return jobs.map(({ id, data, retryCount }) => ({ ...data, id, attempt: retryCount + 1 }))
  }

  /** Completes jobs, except those that expired meanwhile and belong to another worker now. */
  async done(name: JobKind, jobs: readonly Handle[]): Promise<void> {
    if (jobs.length > 0) await this.#boss.complete(name, jobs.map(handleOf))
  }

  /** Schedules a retry, unless this was the last attempt. */
  async failed(name: JobKind, job: Handle, why: string): Promise<void> {
    await this.#boss.fail(name, [handleOf(job)], { why })
  }
}
