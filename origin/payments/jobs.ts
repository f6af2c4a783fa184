/**
 * The outbox: a charge is a job in Postgres (pg-boss), put there in the transaction that moves the order to `paying`.
 * Either both are there or neither is. A worker that dies loses nothing: its jobs expire and are handed out again.
 */
import { PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { Queryable } from '../ledger/ledger.ts'
import type { ChargeQueue } from '../orders.ts'

const QUEUE = 'charge'
export const CHARGE_ATTEMPTS = 3
/** A job that has been out for longer is taken to be lost with its worker. */
const EXPIRE_SECONDS = 12
/** How often lost jobs are looked for. */
const SUPERVISE_SECONDS = 2

export interface ChargeJob {
  readonly id: string
  readonly order: string
  /** 1 for the first. */
  readonly attempt: number
}

export class ChargeJobs implements ChargeQueue {
  readonly #boss: PgBoss

  constructor(databaseUrl: string, log: Logger) {
    this.#boss = new PgBoss({
      connectionString: databaseUrl,
      max: 4,
      application_name: 'flash-sale-charges',
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
      schedule: false,
    })
    this.#boss.on('error', (error) => log.warn({ error: String(error) }, 'the job queue complains'))
  }

  async start(): Promise<void> {
    await this.#boss.start()
    await this.#boss.createQueue(QUEUE, {
      retryLimit: CHARGE_ATTEMPTS - 1,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 10,
      expireInSeconds: EXPIRE_SECONDS,
    })
  }

  stop(): Promise<void> {
    return this.#boss.stop({ graceful: true, timeout: 5_000, close: true })
  }

  async add(tx: Queryable, order: string): Promise<void> {
    await this.#boss.send(
      QUEUE,
      { order },
      {
        singletonKey: order,
        db: { executeSql: async (text, values) => ({ rows: await tx.unsafe(text, values as never[]) }) },
      },
    )
  }

  async take(limit: number): Promise<ChargeJob[]> {
    const jobs = await this.#boss.fetch<{ order: string }>(QUEUE, { batchSize: limit, includeMetadata: true })
    return jobs.map((job) => ({ id: job.id, order: job.data.order, attempt: job.retryCount + 1 }))
  }

  async done(job: ChargeJob): Promise<void> {
    await this.#boss.complete(QUEUE, job.id)
  }

  /** To be tried again after a while, unless this was the last attempt. */
  async failed(job: ChargeJob, why: string): Promise<void> {
    await this.#boss.fail(QUEUE, job.id, { why })
  }
}
