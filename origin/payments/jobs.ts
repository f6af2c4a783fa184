/**
 * The outbox: a charge is a job in Postgres (pg-boss), put there in the transaction that moves the order to `paying`, a
 * capture one put there in the transaction that confirms the order, and a refund in the one that finds it due. Either both
 * are there or neither is. A worker that dies loses nothing: its jobs expire and are handed out again.
 */
import { type JobWithMetadata, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { Queryable } from '../ledger/connection.ts'
import { closeAbout } from '../ledger/findings.ts'
import type { ChargeOf } from './provider.ts'

const CHARGE = 'charge'
/** Where a charge job goes when its last attempt has failed, or died with its worker. */
const LOST = 'charge-lost'
const CAPTURE = 'capture'
const REFUND = 'refund'

export const CHARGE_ATTEMPTS = 3
/** What is due is tried for hours, and then a person must know. */
export const DUE_ATTEMPTS = 60
/** A job that has been out for longer is taken to be lost with its worker; with the two below, redelivered in 15 s. */
const EXPIRE_SECONDS = 10
/** How often lost jobs are looked for. */
const SUPERVISE_SECONDS = 2
/** Its queries take milliseconds; the connection of one that takes so long is given up. */
const QUERY_TIMEOUT_MS = 10_000
const BACKOFF = { retryDelay: 1, retryBackoff: true }
/** What was put back waits so long and up to twice as long, so that not all of it comes again at once. */
const PUT_BACK_SECONDS = 2
/**
 * Jobs that are done are of no interest, and every look for lost ones reads them: what became of a charge stands with its
 * order. How long they are kept, and how often those are removed that were kept for so long, which reads all of them once.
 */
const KEEP_DONE_SECONDS = 60

/** A job as it is handed out. */
type Taken<Of> = Of & {
  readonly id: string
  /** 1 for the first. */
  readonly attempt: number
}
interface ChargeAsked {
  readonly order: string
  /** Since when the provider has turned it away, by the ledger's time; undefined unless it has. */
  readonly turnedAwayAtMs?: number
}
export type Job = Taken<ChargeAsked>
/** Whose money is to be taken, or given back. */
export type DueJob = Taken<ChargeOf>

/** What is written down once per charge, and open until it has happened: see due.ts. */
export type DueKind = typeof CAPTURE | typeof REFUND
type JobKind = typeof CHARGE | typeof LOST | DueKind
type Of<Kind extends JobKind> = Kind extends DueKind ? ChargeOf : ChargeAsked

export interface Refund extends ChargeOf {
  readonly reason: string
}

export class PaymentJobs {
  readonly #boss: PgBoss
  readonly #log: Logger

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
      maintenanceIntervalSeconds: KEEP_DONE_SECONDS,
      schedule: false,
    })
    this.#log = log
    this.#boss.on('error', (error) => log.warn({ error: String(error) }, 'the job queue complains'))
  }

  async start(): Promise<void> {
    await this.#boss.start()
    const settings = { expireInSeconds: EXPIRE_SECONDS, deleteAfterSeconds: KEEP_DONE_SECONDS }
    const due = { ...settings, ...BACKOFF, retryLimit: DUE_ATTEMPTS - 1, retryDelayMax: 300 }
    const queues = [
      [LOST, { ...settings, ...BACKOFF, retryLimit: 1_000, retryDelayMax: 10 }],
      [
        CHARGE,
        { ...settings, ...BACKOFF, retryLimit: CHARGE_ATTEMPTS - 1, retryDelayMax: 10, deadLetter: LOST },
      ],
      [CAPTURE, due],
      [REFUND, due],
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
    return this.add(
      tx,
      CHARGE,
      orders.map((order) => ({ order })),
    )
  }

  /** Asks for the money of confirmed orders, once per charge. */
  async addCaptures(tx: Queryable, captures: readonly ChargeOf[]): Promise<void> {
    if (captures.length === 0) return
    // At once, since the products' rows are taken meanwhile. A second job for a charge finds that nothing is due.
    await Promise.all([
      tx`
        insert into captures (charge_id, order_id)
        select * from unnest(${captures.map((c) => c.charge)}::text[], ${captures.map((c) => c.order)}::uuid[])
        on conflict do nothing`,
      this.add(tx, CAPTURE, captures),
    ])
  }

  /**
   * Asks for charges to be given back, each once; what is not captured by then is not to be captured any more. Returns those
   * that nobody had asked for.
   */
  async addRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<readonly ChargeOf[]> {
    if (refunds.length === 0) return []
    const charges = refunds.map((r) => r.charge)
    await tx`delete from captures where charge_id = any(${charges}::text[]) and captured_at is null`
    await closeAbout(tx, 'capture_failed', charges, 'to be given back')
    const asked = await tx<ChargeOf[]>`
      insert into refunds (charge_id, order_id, reason)
      select * from unnest(${charges}::text[], ${refunds.map((r) => r.order)}::uuid[],
                           ${refunds.map((r) => r.reason)}::text[])
      on conflict do nothing returning charge_id as charge, order_id as "order"`
    await this.add(tx, REFUND, asked)
    for (const { charge, order } of asked) this.#log.warn({ order, charge }, 'to be given back')
    return asked
  }

  async add<Kind extends JobKind>(tx: Queryable, name: Kind, jobs: readonly Of<Kind>[]): Promise<void> {
    if (jobs.length === 0) return
    await this.#boss.insert(
      name,
      jobs.map((data) => ({ data })),
      { db: { executeSql: async (text, values) => ({ rows: await tx.unsafe(text, values as never[]) }) } },
    )
  }

  /**
   * To be tried again after a while, with all attempts. The old job ends last: one too many asks for the same charge, and one
   * too few for none.
   */
  async putBack(jobs: readonly (Job & { readonly turnedAwayAtMs: number })[]): Promise<void> {
    const again = jobs.map(({ order, turnedAwayAtMs }) => ({
      data: { order, turnedAwayAtMs },
      startAfter: PUT_BACK_SECONDS * (1 + Math.random()),
    }))
    await this.#boss.insert(CHARGE, again)
    await this.done(CHARGE, jobs)
  }

  async take<Kind extends JobKind>(name: Kind, limit: number): Promise<Taken<Of<Kind>>[]> {
    const options = { batchSize: limit, includeMetadata: true } as const
    const jobs: JobWithMetadata<Of<Kind>>[] = await this.#boss.fetch<Of<Kind>>(name, options)
    return jobs.map(({ id, data, retryCount }) => ({ ...data, id, attempt: retryCount + 1 }))
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
