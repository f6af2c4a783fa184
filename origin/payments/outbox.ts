/**
 * The outbox: captures, which take the money of confirmed orders, and refunds, which give it back. Each has a row, written with
 * its job and open until the provider has confirmed it; a charge has one capture and any number of refunds. If a row is deleted,
 * such as the capture of a charge to be refunded, its job ends quietly.
 */
import type { Logger } from 'pino'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import {
  OUTBOX_ATTEMPTS,
  OUTBOX_QUEUES,
  type OutboxJob,
  type OutboxKind,
  type PaymentJobs,
} from '../jobs/payment-jobs.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow } from '../ledger/orders.ts'
import type { Metrics } from '../lib/metrics.ts'
import {
  type ChargeOf,
  deleteOpen,
  findOpen,
  insertTaken,
  markCaptured,
  type OpenRow,
  type OutboxTable,
  touchOpen,
  withoutOpen,
} from './payment-queries.ts'
import type { PaymentProvider } from './provider.ts'
import { finishRefunds, reopenRefund } from './refund-queries.ts'

/** Jobs per round, one round a second: money can wait, and buyers come first. */
const BATCH = 32
/** A row open for longer has lost its job: pg-boss keeps a job for longer than it retries it. */
const FORGOTTEN_HOURS = 12

const DONE = { capture: 'captured', refund: 'refunded' } as const

type Queue = (typeof OUTBOX_QUEUES)[OutboxKind][number]

interface OutboxDeps {
  readonly sql: Sql
  readonly jobs: PaymentJobs
  readonly provider: Pick<PaymentProvider, OutboxKind | 'find'>
  readonly metrics: Pick<Metrics, OutboxTable | 'findings' | 'orders'>
  readonly log: Logger
  /** Has the fast gates of these orders' products learn of units that are for sale again. */
  readonly unitsReturned?: (orders: readonly OrderRow[]) => Promise<void>
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

  /** Sends one batch of each queue. */
  async round(): Promise<void> {
    for (const queue of OUTBOX_QUEUES[this.#kind]) await this.#roundOf(queue)
  }

  async #roundOf(queue: Queue): Promise<void> {
    const { sql, jobs } = this.#deps
    const taken = await jobs.take(queue, BATCH)
    if (taken.length === 0) return
    const open = await findOpen(sql, this.#table, taken)
    const outcomes = await Promise.all(
      taken.map(async (job, i) => {
        const row = open[i]
        return row ? this.#attempt(row, job, queue) : 'not open'
      }),
    )
    const done = open.filter((row, i) => row !== undefined && outcomes[i] === 'succeeded') as OpenRow[]
    await this.#done(done)
    await jobs.done(
      queue,
      taken.filter((_, i) => outcomes[i] !== 'failed'),
    )
  }

  async #attempt(row: OpenRow, job: OutboxJob, queue: Queue): Promise<'succeeded' | 'failed' | 'gone'> {
    const { sql, jobs, metrics, log } = this.#deps
    const { order, attempt } = job
    try {
      const outcome = await (this.#kind === 'capture' ? this.#capture(row) : this.#refund(row))
      metrics[this.#table].inc({ outcome })
      if (outcome === 'gone') await this.#giveUp(row)
      return outcome
    } catch (error) {
      log.warn({ order, attempt, error: String(error) }, `not ${DONE[this.#kind]} yet`)
      metrics[this.#table].inc({ outcome: 'failed' })
      const isLast = attempt >= OUTBOX_ATTEMPTS
      if (isLast && (await findOpen(sql, this.#table, [job]))[0]) await this.#report(sql, row, String(error))
      await jobs.failed(queue, job, String(error))
      return 'failed'
    }
  }

  async #capture(row: OpenRow): Promise<'succeeded' | 'gone'> {
    return (await this.#deps.provider.capture(row)) ? 'succeeded' : 'gone'
  }

  async #refund({ id, charge, order, amountMinor, captureFirst, waits }: OpenRow): Promise<'succeeded'> {
    const { provider, sql } = this.#deps
    if (waits) throw new Error('an earlier refund of the charge is not made yet')
    if (amountMinor === null) {
      // Taken, although the ledger may not have heard of it: its capture was under way when the order was cancelled.
      if ((await provider.refund({ charge, order })) === 'refunded') await insertTaken(sql, { charge, order })
      return 'succeeded'
    }
    if (captureFirst && (await provider.capture({ charge, order }))) await markCaptured(sql, [charge])
    try {
      await provider.refund({ charge, order, refund: { key: id, amountMinor } })
    } catch (error) {
      // There is nothing left to give back: somebody did it at the provider meanwhile.
      const current = await provider.find(order)
      if (current?.charge !== charge || current.status !== 'refunded') throw error
    }
    return 'succeeded'
  }

  /** Deletes what can never be done. If the row was still open, a person must decide. */
  async #giveUp(row: OpenRow): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      if (await deleteOpen(tx, this.#table, row.id)) await this.#report(tx, row, 'nothing is authorized any more')
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

  async #done(rows: readonly OpenRow[]): Promise<void> {
    if (rows.length === 0) return
    const charges = rows.map((row) => row.charge)
    if (this.#kind === 'capture') return this.markDone(charges)
    const { sql, unitsReturned, metrics } = this.#deps
    const changed = await sql.begin((tx) =>
      finishRefunds(
        tx,
        rows.map((row) => row.id),
      ),
    )
    for (const { sale_id: sale, status } of changed)
      if (status === 'refunded' || status === 'returned') metrics.orders.inc({ sale, status: 'refunded' })
    const returned = changed.filter(({ status }) => status === 'returned')
    if (returned.length > 0) await unitsReturned?.(returned)
    await this.#close(charges)
  }

  /** Marks captures as done, whether made here or at the provider. Most of them already are. */
  async markDone(charges: readonly string[]): Promise<void> {
    if (charges.length === 0) return
    await markCaptured(this.#deps.sql, charges)
    await this.#close(charges)
  }

  async #close(charges: readonly string[]): Promise<void> {
    const { sql } = this.#deps
    const done = await withoutOpen(sql, this.#table, charges)
    await closeAbout(sql, `${this.#kind}_failed`, done, `${DONE[this.#kind]} after all`)
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
    await sql.begin(async (tx) => jobs.add(tx, OUTBOX_QUEUES[this.#kind][0], await touchOpen(tx, this.#table, which)))
  }

  /** Opens the latest refund of a charge again that the buyer's bank has undone. A person must find out how it can be done. */
  async reopen(charge: ChargeOf): Promise<void> {
    const { sql, metrics } = this.#deps
    await sql.begin(async (tx) => {
      const row = await reopenRefund(tx, charge)
      if (!row) return
      metrics[this.#table].inc({ outcome: 'failed' })
      await this.#report(tx, row, 'the bank sent it back')
    })
  }
}
