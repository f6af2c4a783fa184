/**
 * The outbox: captures, which take the money of confirmed orders, and refunds, which give it back. Each has a row,
 * written with its job and open until the provider has confirmed it; a charge has one capture and any number of
 * refunds. If a row is deleted, such as the capture of a charge to be refunded, its job ends quietly.
 */

import type { Logger } from 'pino'
import { assertExists } from '../../shared/lib/assert.ts'
import type { Metrics } from '../base/metrics.ts'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import type { Ended, Job, Outcome } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow } from '../ledger/order-statements.ts'
import type { ChargeOf } from '../ledger/payment-statements.ts'
import { Batcher } from '../lib/batcher.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import type { Captured, PaymentProvider, ProviderRefund } from '../providers/provider.ts'
import type { Calls } from './call-budget.ts'
import {
  deleteOpen,
  findOpen,
  finishRefunds,
  insertTaken,
  markCaptured,
  noteCards,
  noteReturns,
  type OpenRow,
  type OutboxTable,
  orderOfCharge,
  type Returned,
  touchOpen,
  withoutOpenRefund,
} from './payment-queries.ts'
import { OUTSIDE } from './refund-sums.ts'

/**
 * The number of jobs taken at a time. It starts low, because a provider may have a limit, and doubles after each full
 * batch without a failure, to keep pace with the sales of a second.
 */
const BATCH = { first: 32, most: 1_024 }
/** The time between two batches. Captures and refunds can wait, and buyers come first. */
const BATCH_EVERY_MS = 1_000
/** Calls in progress. */
const AT_ONCE = 128
/**
 * What has not begun by then is for the next batch: with the provider's timeout it would outlast the lease of its
 * job.
 */
const BEGIN_WITHIN_MS = 3_000
/** Rows noted as done by one statement, and the pause between two. */
const NOTING = { size: 500, queue: 20_000, pauseMs: 100 }
/** A row open for longer has lost its job, or the job is dead: it is tried for hours. */
const FORGOTTEN_HOURS = 12

const MADE = { capture: 'captured', refund: 'refunded' } as const

type OutboxKind = keyof typeof MADE

/** `returned`: what of its charge was given back; null: it was voided. */
type Made = OpenRow & (Captured | { readonly returned: Returned | null })

/** A row that can never be done is deleted. */
type Attempted =
  | { readonly end: 'made'; readonly made: Made }
  | { readonly end: 'gone' }
  | { readonly end: 'failed'; readonly error: string }

interface OutboxDeps {
  readonly sql: Sql
  readonly provider: Pick<PaymentProvider, OutboxKind | 'returns' | 'cancel'>
  readonly calls: Calls
  readonly metrics: Pick<Metrics, OutboxTable | 'findings' | 'orders'>
  readonly log: Logger
  /** Has the fast gates of these orders' products learn of units that are for sale again. */
  readonly unitsReturned?: (orders: readonly OrderRow[]) => Promise<void>
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

/** The product of a finding that is about no product. */
const NO_PRODUCT = ''

export class Outbox implements Consumer<OutboxKind> {
  readonly queue: OutboxKind
  readonly #table: OutboxTable
  readonly #deps: OutboxDeps
  readonly #runtime: Runtime
  readonly #made: Batcher<Made, void>
  readonly #noted: Batcher<Returned, void>
  #restsUntilMs = 0
  #batch = BATCH.first

  constructor(kind: OutboxKind, deps: OutboxDeps) {
    this.queue = kind
    this.#table = `${kind}s`
    this.#deps = deps
    this.#runtime = deps.runtime ?? machine
    this.#made = new Batcher(NOTING, (rows) => this.#noteMade(rows), this.#runtime)
    this.#noted = new Batcher(NOTING, (reports) => this.#noteRefunded(reports), this.#runtime)
  }

  async room(busy: number) {
    const rests = busy > 0 || this.#runtime.monotonicMs() < this.#restsUntilMs
    return rests ? 0 : this.#deps.calls.room(this.queue, this.#batch)
  }

  /** Each job asks the provider, a few at a time; what was made is noted together. */
  async run(jobs: readonly Job<OutboxKind>[], end: End<OutboxKind>): Promise<void> {
    const beganMs = this.#runtime.monotonicMs()
    const { sql, calls } = this.#deps
    // Where the provider's rate bounds the batches they are small, and the rate is the pause.
    this.#restsUntilMs = calls.isShort ? 0 : beganMs + BATCH_EVERY_MS
    const open = await findOpen(
      sql,
      this.#table,
      jobs.map(({ data }) => data),
    )
    let areAllDone = true
    let interruption: unknown
    const endings: Promise<void>[] = []
    const left = jobs.entries()
    const attemptInTurn = async () => {
      for (const [i, job] of left) {
        const row = open[i]
        const isLate = this.#runtime.monotonicMs() - beganMs > BEGIN_WITHIN_MS
        const attempted = row && (isLate ? 'late' : await this.#attempt(row, job))
        if (attempted === 'late' || attempted?.end === 'failed') areAllDone = false
        // The next one need not wait for it.
        endings.push(
          this.#conclude(attempted)
            .then((outcome) => end(job, outcome))
            .catch((error) => {
              interruption = error
            }),
        )
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, attemptInTurn))
    await Promise.all(endings)
    if (!areAllDone) this.#batch = BATCH.first
    else if (jobs.length >= this.#batch) this.#batch = Math.min(BATCH.most, 2 * this.#batch)
    if (interruption !== undefined) throw interruption
  }

  async #attempt(row: OpenRow, { data, attempt }: Job<OutboxKind>): Promise<Attempted> {
    const { metrics, log } = this.#deps
    try {
      const made = await (this.queue === 'capture' ? this.#deps.provider.capture(row) : this.#refund(row))
      metrics[this.#table].inc({ outcome: made ? 'succeeded' : 'gone' })
      if (made) return { end: 'made', made: { ...row, ...made } }
      await this.#giveUp(row)
      return { end: 'gone' }
    } catch (error) {
      log.warn({ order: data.order, attempt, error: String(error) }, `not ${MADE[this.queue]} yet`)
      metrics[this.#table].inc({ outcome: 'failed' })
      return { end: 'failed', error: String(error) }
    }
  }

  /** Undefined: there was nothing to do. */
  async #conclude(attempted: Attempted | 'late' | undefined): Promise<Outcome> {
    if (attempted === 'late') return { end: 'returned' }
    if (attempted?.end === 'failed') return attempted
    if (attempted?.end === 'made') await this.#made.add(attempted.made)
    return { end: 'done' }
  }

  async gaveUp(tx: Queryable, dead: readonly Ended<OutboxKind>[]): Promise<void> {
    const owed = dead.map(({ job }) => job.data)
    const open = await findOpen(tx, this.#table, owed)
    for (const [i, { outcome }] of dead.entries()) {
      const row = open[i]
      if (row) await this.#report(tx, row, 'error' in outcome ? outcome.error : '')
    }
  }

  /** What the provider says was given back, by whomever, counts before anything is tried. */
  async #refund(row: OpenRow): Promise<{ readonly returned: Returned | null }> {
    const { provider, sql } = this.#deps
    const { id, waits } = row
    const owed = { charge: row.charge, order: row.order }
    if (waits) throw new Error('an earlier refund of the charge is not made yet')
    const captured = row.captureFirst ? await provider.capture(owed) : null
    if (captured) await this.#noteCaptured([{ ...owed, ...captured }])
    let returns = await provider.returns(owed.charge)
    if (returns.takenMinor === 0 && row.amountMinor === null) {
      // Cancelled first, so that nobody captures it meanwhile.
      const { status } = await provider.cancel(owed.charge)
      if (status === 'cancelled') return { returned: null }
      returns = await provider.returns(owed.charge)
    }
    if (returns.takenMinor === 0) throw new Error('the charge is not captured')
    // Taken, although the ledger may not have heard of it: its capture was under way when the order was cancelled.
    await insertTaken(sql, owed)
    const { takenMinor, refunds } = returns
    if (refunds.length > 0) await this.#noted.add({ ...owed, takenMinor, refunds })
    const [left] = refunds.length > 0 ? await findOpen(sql, 'refunds', [{ ...owed, refund: id }]) : [row]
    if (!left) return { returned: { ...owed, takenMinor, refunds } }
    const failed = refunds.filter((one) => one.key === id && !one.isMade).length
    const made = await provider.refund({ ...owed, key: id, amountMinor: left.amountMinor, failed })
    if (!made.isMade) throw new Error('the refund has failed')
    return { returned: { ...owed, takenMinor, refunds: [...refunds, made] } }
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
      sale: order ? order.sale_id : NO_SALE,
      product: order ? order.product_id : NO_PRODUCT,
      kind: `${this.queue}_failed`,
      subject: charge,
      detail: { order: orderId, error },
    })
  }

  #noteMade(rows: readonly Made[]): Promise<void> {
    return this.queue === 'capture'
      ? this.#noteCaptured(rows.flatMap((row) => ('card' in row ? row : [])))
      : this.#noteRefunded(
          rows.flatMap((row) => ('returned' in row && row.returned) || []),
          rows.filter((row) => 'returned' in row && !row.returned),
        )
  }

  async #noteCaptured(rows: readonly (ChargeOf & Captured)[]): Promise<void> {
    await noteCards(
      this.#deps.sql,
      rows.flatMap(({ card, ...charge }) => (card ? [{ ...charge, card }] : [])),
    )
    await this.markDone(rows.map(({ charge }) => charge))
  }

  async #noteRefunded(reports: readonly Returned[], voided: readonly OpenRow[] = []): Promise<void> {
    const { sql, unitsReturned, metrics } = this.#deps
    // Each locks its orders at once, in the order in which everyone does.
    const voids = await sql.begin((tx) =>
      finishRefunds(
        tx,
        voided.map(({ id }) => id),
      ),
    )
    const noted = await sql.begin(async (tx) => {
      const found = await noteReturns(tx, reports)
      for (const charge of found.reopened) await this.#report(tx, charge, 'the bank sent it back')
      for (const charge of found.undone) await this.#report(tx, charge, 'the bank sent back what was refunded by hand')
      for (const { sale_id: sale, product_id: product, order_id: order, charge_id } of found.outside) {
        const subject = assertExists(charge_id, 'An order with a refund has a charge.')
        await openFinding(tx, metrics, { sale, product, kind: OUTSIDE, subject, detail: { order } })
      }
      return found
    })
    metrics.refunds.inc({ outcome: 'failed' }, noted.reopened.length)
    for (const { sale_id: sale, status } of [...voids.changed, ...noted.changed])
      if (status === 'refunded' || status === 'returned') metrics.orders.inc({ sale, status: 'refunded' })
    const restocked = [...voids.restocked, ...noted.restocked]
    if (restocked.length > 0) await unitsReturned?.(restocked)
    const made = [...noted.made, ...voided.map(({ charge }) => charge)]
    await closeAbout(sql, 'refund_failed', await withoutOpenRefund(sql, made), 'refunded after all')
  }

  /**
   * Notes what the provider says was given back of a charge; `failed` is a refund that it has just reported so. A
   * charge of another system on the same account is ignored.
   */
  async compare(charge: string, failed?: ProviderRefund): Promise<void> {
    const order = await orderOfCharge(this.#deps.sql, charge)
    if (order === undefined) return
    const { takenMinor, refunds } = await this.#deps.provider.returns(charge)
    const all = failed ? [...refunds, failed] : refunds
    await this.#noted.add({ charge, order, takenMinor, refunds: all })
  }

  /** Marks captures as done, whether made here or at the provider. Most reports only repeat what is marked. */
  async markDone(charges: readonly string[]): Promise<void> {
    if (charges.length > 0) await markCaptured(this.#deps.sql, charges)
  }

  /** Queues forgotten rows again. */
  resume(): Promise<void> {
    return this.#requeue({ forgottenHours: FORGOTTEN_HOURS, limit: BATCH.most })
  }

  /**
   * Queues open rows that are reported done: the report may be outdated, so the provider is asked for the current
   * state.
   */
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
}
