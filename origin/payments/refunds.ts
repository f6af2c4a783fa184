/**
 * Money that goes back: whoever finds a charge that no order stands for asks for its refund, which is written down once
 * per charge together with the job that carries it out.
 */
import type { Logger } from 'pino'
import { closeAbout, NO_SALE, note } from '../findings.ts'
import type { Queryable, Sql } from '../ledger/ledger.ts'
import type { Metrics } from '../metrics.ts'
import { type Job, type PaymentJobs, REFUND_ATTEMPTS } from './jobs.ts'
import type { PaymentProvider } from './provider.ts'

const BATCH = 32
/** A refund that is open for so long has lost its job, which pg-boss keeps for longer than it tries. */
const FORGOTTEN_HOURS = 12

/** A charge to be given back, and the order that it was made for. */
interface Owed {
  readonly charge: string
  readonly order: string
}

export interface Refund extends Owed {
  readonly reason: string
}

interface RefundsDeps {
  readonly sql: Sql
  readonly metrics: Metrics
  readonly log: Logger
}

export class Refunds {
  readonly #deps: RefundsDeps
  readonly #jobs: PaymentJobs
  readonly #provider: PaymentProvider

  constructor(deps: RefundsDeps, jobs: PaymentJobs, provider: PaymentProvider) {
    this.#deps = deps
    this.#jobs = jobs
    this.#provider = provider
  }

  /** Asks for refunds, each once; in the transaction given, so that they stand or fall with what they are due to. */
  async ask(tx: Queryable, refunds: readonly Refund[]): Promise<void> {
    if (refunds.length === 0) return
    const asked = await tx<Owed[]>`
      insert into refunds (charge_id, order_id, reason)
      select * from unnest(${refunds.map((r) => r.charge)}::text[], ${refunds.map((r) => r.order)}::uuid[],
                           ${refunds.map((r) => r.reason)}::text[])
      on conflict do nothing returning charge_id as charge, order_id as "order"`
    await this.#jobs.addRefunds(tx, asked)
    for (const { charge, order } of asked) this.#deps.log.warn({ order, charge }, 'to be refunded')
  }

  /** Carries out what has been asked for; true if there may be more. */
  async round(): Promise<boolean> {
    const jobs = await this.#jobs.take('refund', BATCH)
    await Promise.all(jobs.map((job) => this.#refund(job)))
    return jobs.length === BATCH
  }

  async #refund(job: Job): Promise<void> {
    const { sql, log, metrics } = this.#deps
    try {
      await this.#provider.refund(job)
    } catch (error) {
      log.warn({ order: job.order, attempt: job.attempt, error: String(error) }, 'not refunded yet')
      metrics.refunds.inc({ outcome: 'failed' })
      if (job.attempt >= REFUND_ATTEMPTS) await this.#tellSomebody(job, String(error))
      return this.#jobs.failed('refund', job, String(error))
    }
    metrics.refunds.inc({ outcome: 'succeeded' })
    await sql`
      update refunds set refunded_at = clock_timestamp() where charge_id = ${job.charge} and refunded_at is null`
    await closeAbout(sql, 'refund_failed', job.charge, 'refunded after all')
    await this.#jobs.done('refund', [job])
  }

  async #tellSomebody({ charge, order: id }: Owed, error: string): Promise<void> {
    const { sql, metrics } = this.#deps
    const [order] = await sql<{ sale_id: string; product_id: string }[]>`
      select sale_id, product_id from orders where order_id = ${id}`
    const sale = order?.sale_id ?? NO_SALE
    const about = {
      sale,
      product: order?.product_id ?? '',
      kind: 'refund_failed',
      subject: charge,
    } as const
    await note(sql, { ...about, units: 0, detail: { order: id, error } })
    metrics.findings.inc({ sale, kind: about.kind })
  }

  /** Refunds that are owed and that nobody seems to be working on are asked for again. */
  async resume(): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const forgotten = await tx<Owed[]>`
        update refunds set asked_at = clock_timestamp()
        where charge_id in (
          select charge_id from refunds
          where refunded_at is null and asked_at < clock_timestamp() - ${FORGOTTEN_HOURS} * interval '1 hour'
          limit ${BATCH} for update skip locked)
        returning charge_id as charge, order_id as "order"`
      await this.#jobs.addRefunds(tx, forgotten)
    })
  }

  /** The money has come back from the buyer's bank: it is owed again, and how it can be given is for a person to find out. */
  async failed({ charge }: Owed): Promise<void> {
    const [owed] = await this.#deps.sql<Owed[]>`
      update refunds set refunded_at = null, asked_at = clock_timestamp()
      where charge_id = ${charge} and refunded_at is not null
      returning charge_id as charge, order_id as "order"`
    if (!owed) return
    this.#deps.metrics.refunds.inc({ outcome: 'failed' })
    await this.#tellSomebody(owed, 'the bank sent it back')
  }
}
