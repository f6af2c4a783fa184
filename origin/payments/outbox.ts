/**
 * The outbox: captures, which take the money of confirmed orders, and refunds, which give back money that no order accounts
 * for. Each has one row per charge, written with its job and open until the provider has confirmed it. If a row is deleted,
 * such as the capture of a charge to be refunded, its job ends quietly.
 */
import type { Logger } from 'pino'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { closeAbout, type FindingNote, NO_SALE, note } from '../ledger/findings.ts'
import { findOrder } from '../ledger/orders.ts'
import {
  type ChargeOf,
  deleteOpen,
  findOpen,
  markDone,
  type OutboxTable,
  reopen,
  touchOpen,
} from '../ledger/payments.ts'
import type { Metrics } from '../lib/metrics.ts'
import { OUTBOX_ATTEMPTS, type OutboxJob, type OutboxKind, type PaymentJobs } from './jobs.ts'
import type { PaymentProvider } from './provider.ts'

/** Jobs per round, one round a second: money can wait, and buyers come first. */
const BATCH = 32
/** A row open for longer has lost its job: pg-boss keeps a job for longer than it retries it. */
const FORGOTTEN_HOURS = 12

const DONE = { capture: 'captured', refund: 'refunded' } as const

interface OutboxDeps {
  readonly sql: Sql
  readonly jobs: PaymentJobs
  readonly provider: Pick<PaymentProvider, OutboxKind>
  readonly metrics: Pick<Metrics, OutboxTable | 'findings'>
  readonly log: Logger
}

export class Outbox {
  readonly #kind: OutboxKind
  readonly #table: OutboxTable
  readonly #deps: OutboxDeps

  constructor(kind: OutboxKind, deps: OutboxDeps) {
    this.#kind = kind
    this.#table = `${kind}s`
    this.#deps = deps
  }

  /** Sends one batch. */
  async round(): Promise<void> {
    const { sql, jobs } = this.#deps
    const taken = await jobs.take(this.#kind, BATCH)
    if (taken.length === 0) return
    const charges = taken.map((job) => job.charge)
    const open = await findOpen(sql, this.#table, charges)
    const outcomes = await Promise.all(taken.map((job) => (open.has(job.charge) ? this.#attempt(job) : 'not open')))
    await this.markDone(taken.filter((_, i) => outcomes[i] === 'succeeded').map((job) => job.charge))
    await jobs.done(
      this.#kind,
      taken.filter((_, i) => outcomes[i] !== 'failed'),
    )
  }

  async #attempt(job: OutboxJob): Promise<'succeeded' | 'failed' | 'gone'> {
    const { sql, jobs, provider, metrics, log } = this.#deps
    const { order, charge, attempt } = job
    try {
      const outcome = (await provider[this.#kind](job)) === false ? 'gone' : 'succeeded'
      metrics[this.#table].inc({ outcome })
      if (outcome === 'gone') await this.#giveUp(job)
      return outcome
    } catch (error) {
      log.warn({ order, attempt, error: String(error) }, `not ${DONE[this.#kind]} yet`)
      metrics[this.#table].inc({ outcome: 'failed' })
      if (attempt >= OUTBOX_ATTEMPTS && (await findOpen(sql, this.#table, [charge])).has(charge))
        await this.#report(sql, job, String(error))
      await jobs.failed(this.#kind, job, String(error))
      return 'failed'
    }
  }

  /** Deletes what can never be done. If the row was still open, a person must decide. */
  async #giveUp(charge: ChargeOf): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      if (await deleteOpen(tx, this.#table, charge.charge))
        await this.#report(tx, charge, 'nothing is authorized any more')
    })
  }

  async #report(tx: Queryable, { charge, order: orderId }: ChargeOf, error: string): Promise<void> {
    const order = await findOrder(tx, orderId)
    await openFinding(tx, this.#deps.metrics, {
      sale: order?.sale_id ?? NO_SALE,
      product: order?.product_id ?? '',
      kind: `${this.#kind}_failed`,
      subject: charge,
      detail: { order: orderId, error },
    })
  }

  /** Marks charges as done, whoever did it. Most of them already are. */
  async markDone(charges: readonly string[]): Promise<void> {
    if (charges.length === 0) return
    const { sql } = this.#deps
    await markDone(sql, this.#table, charges)
    await closeAbout(sql, `${this.#kind}_failed`, charges, `${DONE[this.#kind]} after all`)
  }

  /** Queues forgotten rows again. */
  resume(): Promise<void> {
    return this.#requeue({ forgottenHours: FORGOTTEN_HOURS, limit: BATCH })
  }

  /** Queues open rows that are reported done: the report may be outdated, so the provider is asked for the current state. */
  recheck(charges: readonly string[]): Promise<void> {
    return this.#requeue({ charges })
  }

  async #requeue(which: Parameters<typeof touchOpen>[2]): Promise<void> {
    const { sql, jobs } = this.#deps
    await sql.begin(async (tx) => jobs.add(tx, this.#kind, await touchOpen(tx, this.#table, which)))
  }

  /** Opens a row again that the buyer's bank has undone. A person must find out how it can be done. */
  async reopen({ charge }: ChargeOf): Promise<void> {
    const { sql, metrics } = this.#deps
    const row = await reopen(sql, this.#table, charge)
    if (!row) return
    metrics[this.#table].inc({ outcome: 'failed' })
    await this.#report(sql, row, 'the bank sent it back')
  }
}

/** Opens a finding about a charge, and counts it. */
export async function openFinding(
  sql: Queryable,
  metrics: Pick<Metrics, 'findings'>,
  finding: Omit<FindingNote, 'units'>,
): Promise<void> {
  await note(sql, { ...finding, units: 0 })
  metrics.findings.inc({ sale: finding.sale, kind: finding.kind })
}
