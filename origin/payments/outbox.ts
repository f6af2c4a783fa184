/**
 * The outbox: captures, which take the money of confirmed orders, and refunds, which give it back. Each has a row, written with
 * its job and open until the provider has confirmed it; a charge has one capture and any number of refunds. If a row is deleted,
 * such as the capture of a charge to be refunded, its job ends quietly.
 */
import type { Logger } from 'pino'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import type { Ended, Job, Outcome } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow } from '../ledger/order-statements.ts'
import type { Metrics } from '../metrics.ts'
import {
  deleteOpen,
  findOpen,
  finishRefunds,
  insertTaken,
  markCaptured,
  noteCard,
  type OpenRow,
  type OutboxTable,
  reopenRefund,
  touchOpen,
  withoutOpen,
} from './payment-queries.ts'
import type { ChargeOf, PaymentProvider } from './providers/provider.ts'

/** Jobs taken at a time .. */
const BATCH = 32
/** .. and how often: money can wait, and buyers come first. */
const BATCH_EVERY_MS = 1_000
/** A row open for longer has lost its job, or the job is dead: it is tried for hours. */
const FORGOTTEN_HOURS = 12

const MADE = { capture: 'captured', refund: 'refunded' } as const

type OutboxKind = keyof typeof MADE

interface OutboxDeps {
  readonly sql: Sql
  readonly provider: Pick<PaymentProvider, OutboxKind | 'find'>
  readonly metrics: Pick<Metrics, OutboxTable | 'findings' | 'orders'>
  readonly log: Logger
  /** Has the fast gates of these orders' products learn of units that are for sale again. */
  readonly unitsReturned?: (orders: readonly OrderRow[]) => Promise<void>
}

export class Outbox implements Consumer<OutboxKind> {
  readonly queue: OutboxKind
  readonly #table: OutboxTable
  readonly #deps: OutboxDeps
  #restsUntilMs = 0

  constructor(kind: OutboxKind, deps: OutboxDeps) {
    this.queue = kind
    this.#table = `${kind}s`
    this.#deps = deps
  }

  room(busy: number): number {
    return busy > 0 || performance.now() < this.#restsUntilMs ? 0 : BATCH
  }

  /** Each job asks the provider; what was made is noted together. */
  async run(jobs: readonly Job<OutboxKind>[], end: End<OutboxKind>): Promise<void> {
    this.#restsUntilMs = performance.now() + BATCH_EVERY_MS
    const open = await findOpen(
      this.#deps.sql,
      this.#table,
      jobs.map(({ data }) => data),
    )
    const made: OpenRow[] = []
    const outcomes = await Promise.all(
      jobs.map(async (job, i): Promise<Outcome> => {
        const row = open[i]
        if (row === undefined) return { end: 'done' }
        const outcome = await this.#attempt(row, job)
        if (outcome.end === 'done') made.push(row)
        return outcome.end === 'gone' ? { end: 'done' } : outcome
      }),
    )
    await this.#made(made)
    await Promise.all(jobs.map((job, i) => end(job, outcomes[i] ?? { end: 'returned' })))
  }

  async #attempt(
    row: OpenRow,
    { data, attempt }: Job<OutboxKind>,
  ): Promise<Exclude<Outcome, { end: 'returned' }> | { readonly end: 'gone' }> {
    const { metrics, log } = this.#deps
    try {
      const outcome = await (this.queue === 'capture' ? this.#capture(row) : this.#refund(row))
      metrics[this.#table].inc({ outcome })
      if (outcome === 'succeeded') return { end: 'done' }
      await this.#giveUp(row)
      return { end: 'gone' }
    } catch (error) {
      log.warn({ order: data.order, attempt, error: String(error) }, `not ${MADE[this.queue]} yet`)
      metrics[this.#table].inc({ outcome: 'failed' })
      return { end: 'failed', error: String(error) }
    }
  }

  async gaveUp(tx: Queryable, dead: readonly Ended<OutboxKind>[]): Promise<void> {
    const owed = dead.map(({ job }) => job.data)
    const open = await findOpen(tx, this.#table, owed)
    for (const [i, { outcome }] of dead.entries()) {
      const row = open[i]
      if (row) await this.#report(tx, row, 'error' in outcome ? outcome.error : '')
    }
  }

  async #capture(charge: ChargeOf): Promise<'succeeded' | 'gone'> {
    const captured = await this.#deps.provider.capture(charge)
    if (captured?.card) await noteCard(this.#deps.sql, charge, captured.card)
    return captured ? 'succeeded' : 'gone'
  }

  async #refund({ id, charge, order, amountMinor, captureFirst, waits }: OpenRow): Promise<'succeeded'> {
    const { provider, sql } = this.#deps
    if (waits) throw new Error('an earlier refund of the charge is not made yet')
    if (amountMinor === null) {
      // Taken, although the ledger may not have heard of it: its capture was under way when the order was cancelled.
      if ((await provider.refund({ charge, order })) === 'refunded') await insertTaken(sql, { charge, order })
      return 'succeeded'
    }
    if (captureFirst && (await this.#capture({ charge, order })) === 'succeeded') await markCaptured(sql, [charge])
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
      kind: `${this.queue}_failed`,
      subject: charge,
      detail: { order: orderId, error },
    })
  }

  async #made(rows: readonly OpenRow[]): Promise<void> {
    if (rows.length === 0) return
    const charges = rows.map((row) => row.charge)
    if (this.queue === 'capture') return this.markDone(charges)
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

  /** Marks captures as done, whether made here or at the provider. Most reports only repeat what is marked. */
  async markDone(charges: readonly string[]): Promise<void> {
    if (charges.length === 0) return
    await markCaptured(this.#deps.sql, charges)
    await this.#close(charges)
  }

  async #close(charges: readonly string[]): Promise<void> {
    const { sql } = this.#deps
    const done = await withoutOpen(sql, this.#table, charges)
    await closeAbout(sql, `${this.queue}_failed`, done, `${MADE[this.queue]} after all`)
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
    await this.#deps.sql.begin(async (tx) => {
      const open = await touchOpen(tx, this.#table, which)
      await addJobs(
        tx,
        this.queue,
        open.map((data) => ({ data: data as Job<OutboxKind>['data'] & { refund: string } })),
      )
    })
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
