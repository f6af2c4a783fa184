/**
 * The outbox: a charge is a job in Postgres (pg-boss), put there in the transaction that moves the order to `paying`,
 * and a refund one put there in the transaction that finds it due. Either both are there or neither is. A worker that
 * dies loses nothing: its jobs expire and are handed out again.
 */
import { type JobWithMetadata, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { Queryable } from '../ledger/ledger.ts'

const CHARGE = 'charge'
/** Where a charge job goes when its last attempt has failed, or died with its worker. */
const LOST = 'charge-lost'
const REFUND = 'refund'

export const CHARGE_ATTEMPTS = 3
/** A refund is owed: it is tried for hours, and then a person must know. */
export const REFUND_ATTEMPTS = 60
/** A job that has been out for longer is taken to be lost with its worker; with the two below, redelivered in 15 s. */
const EXPIRE_SECONDS = 10
/** How often lost jobs are looked for. */
const SUPERVISE_SECONDS = 2
/** Its queries take milliseconds; the connection of one that takes so long is given up. */
const QUERY_TIMEOUT_MS = 10_000
const BACKOFF = { retryDelay: 1, retryBackoff: true }
/** Jobs that are done are of interest for a day, and would only slow down the looks for lost ones. */
const KEEP_DONE_SECONDS = 24 * 3600

export interface Job {
  readonly id: string
  readonly order: string
  /** With refunds: the charge to give back. */
  readonly charge: string
  /** 1 for the first. */
  readonly attempt: number
}

interface Data {
  readonly order: string
  readonly charge?: string
}

type JobKind = typeof CHARGE | typeof LOST | typeof REFUND

export class PaymentJobs {
  readonly #boss: PgBoss

  /** Every process may add jobs; those that also take them look after the queue. */
  constructor(databaseUrl: string, log: Logger, supervise: boolean) {
    // For pg, whose pool it is: a server that vanished without a word must not keep a query, and the charges with it.
    const lively = { query_timeout: QUERY_TIMEOUT_MS, keepAlive: true }
    this.#boss = new PgBoss({
      ...lively,
      connectionString: databaseUrl,
      max: 4,
      connectionTimeoutMillis: 3_000,
      application_name: 'flash-sale-jobs',
      supervise,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
      schedule: false,
    })
    this.#boss.on('error', (error) => log.warn({ error: String(error) }, 'the job queue complains'))
  }

  async start(): Promise<void> {
    await this.#boss.start()
    const settings = { expireInSeconds: EXPIRE_SECONDS, deleteAfterSeconds: KEEP_DONE_SECONDS }
    const queues = [
      [LOST, { ...settings, ...BACKOFF, retryLimit: 1_000, retryDelayMax: 10 }],
      [
        CHARGE,
        { ...settings, ...BACKOFF, retryLimit: CHARGE_ATTEMPTS - 1, retryDelayMax: 10, deadLetter: LOST },
      ],
      [REFUND, { ...settings, ...BACKOFF, retryLimit: REFUND_ATTEMPTS - 1, retryDelayMax: 300 }],
    ] as const
    for (const [name, options] of queues) {
      await this.#boss.createQueue(name, options)
      await this.#boss.updateQueue(name, options)
    }
  }

  stop(): Promise<void> {
    return this.#boss.stop({ graceful: true, timeout: 5_000, close: true })
  }

  addCharges(tx: Queryable, orders: readonly string[]): Promise<void> {
    return this.#add(
      tx,
      CHARGE,
      orders.map((order) => ({ order })),
    )
  }

  addRefunds(tx: Queryable, refunds: readonly Required<Data>[]): Promise<void> {
    return this.#add(tx, REFUND, refunds)
  }

  async #add(tx: Queryable, name: JobKind, jobs: readonly Data[]): Promise<void> {
    if (jobs.length === 0) return
    await this.#boss.insert(
      name,
      jobs.map((data) => ({ data, singletonKey: data.charge ?? data.order })),
      { db: { executeSql: async (text, values) => ({ rows: await tx.unsafe(text, values as never[]) }) } },
    )
  }

  async take(name: JobKind, limit: number): Promise<Job[]> {
    const options = { batchSize: limit, includeMetadata: true } as const
    const jobs: JobWithMetadata<Data>[] = await this.#boss.fetch<Data>(name, options)
    return jobs.map(({ id, data, retryCount }) => ({
      id,
      order: data.order,
      charge: data.charge ?? '',
      attempt: retryCount + 1,
    }))
  }

  /** Ends jobs, unless they were taken to be lost meanwhile, and are somebody else's by now. */
  async done(name: JobKind, jobs: readonly Job[]): Promise<void> {
    if (jobs.length > 0) await this.#boss.complete(name, jobs.map(asTaken))
  }

  /** To be tried again after a while, unless this was the last attempt. */
  async failed(name: JobKind, job: Job, why: string): Promise<void> {
    await this.#boss.fail(name, [asTaken(job)], { why })
  }
}

const asTaken = (job: Job) => ({ id: job.id, retryCount: job.attempt - 1 })
