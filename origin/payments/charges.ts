/**
 * Charges: takes charge jobs, asks the provider to authorize, and moves the order by the result; the outbox takes the
 * money afterwards. Every source of a charge's state (response, webhook, the provider's records) ends in `settle`,
 * the only place that decides, for many charges at a time.
 */

import type { Logger } from 'pino'
import { isSold } from '../../shared/api/order-status.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import type { Metrics } from '../base/metrics.ts'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import type { Job, Outcome } from '../jobs/queues.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrders, type OrderRow, totalOf } from '../ledger/order-statements.ts'
import { FREE } from '../ledger/payment-statements.ts'
import { Batcher, BatcherByKey } from '../lib/batcher.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import { type Tracer, traced } from '../lib/tracing.ts'
import type { Orders } from '../orders/orders.ts'
import type { ChargeRecord, PaymentProvider } from '../providers/provider.ts'
import type { Calls } from './call-budget.ts'
import type { Outbox } from './outbox.ts'
import type { PaymentJobs } from './payment-jobs.ts'
import {
  endAction,
  findCaptures,
  findOverdueActions,
  findPaymentsToBegin,
  findReturned,
  readProviderCursor,
  touchForgottenPayments,
  writeProviderCursor,
} from './payment-queries.ts'
import { ProviderWatch } from './provider-watch.ts'

/** Charges in progress in one worker. The provider is slow, and a few that hang must not block the others. */
const CONCURRENCY = 256
/** Charges in progress while the provider answers nobody: enough to see when it is back, and no burden on it. */
const WHILE_AWAY = 8
/**
 * A charge without an answer is tried until the hold ends, and so often at least; then the provider's record of it
 * decides.
 */
export const CHARGE_ATTEMPTS = 3
/** A charge that is turned away waits this long and up to twice as long, so that they do not all return at once. */
const REQUEUE_MS = 2_000
/** Charges settled in one transaction, and the pause between two: the product's row is locked once for all of them. */
const SETTLE = { size: 200, queue: 20_000, pauseMs: 50 }
/**
 * Reports that one read looks up, and the pause before it: the response says the same in this time, so that most only
 * repeat it.
 */
const REPORTS = { size: 1_000, queue: 20_000, pauseMs: 200, gathers: true }
/**
 * After a charge is turned away, a worker takes no jobs until the next interval begins: providers limit by the
 * second.
 */
const PAUSE_MS = 1_000
/**
 * A charge turned away for this long is given up. At a provider's limit of 25 charges a second one worker makes 24.8
 * (measured): 20,000 in less than this time.
 */
const TURNED_AWAY_MS = 15 * 60_000
/** Failures come in masses: one log line per interval, with their number. */
const LOG_INTERVAL_MS = 10_000
/** After this long in `paying` the job may be lost, or the workers were away, or the queue is long. */
const FORGOTTEN_SECONDS = 120
/**
 * Abandoned payments ended in one round, one round a second, with two calls each. 3,000 abandoned at once are through
 * in five minutes, or later while others pay.
 */
const ENDED_ACTIONS = 10
/**
 * A charge whose buyer came back in time may be pending for this long; then the order ends, and a late success is
 * voided.
 */
const PENDING_SECONDS = 60

type AuthorizedCharge = Extract<ChargeRecord, { amountMinor: number }>
/** A charge captured by hand, before this system learned of it, was authorized too. */
const isAuthorized = (charge: ChargeRecord): charge is AuthorizedCharge =>
  charge.status === 'authorized' || charge.status === 'captured'

type ChargeJob = Job<'charge'>
const DONE: Outcome = { end: 'done' }

type Declined = Parameters<Orders['decline']>[0][number]
type Waiting = Parameters<Orders['requireAction']>[0][number]

/** True if this attempt may be made. Silence is no decline, so a good card is tried for as long as its hold lasts. */
const mayTry = (order: OrderRow, attempt: number, nowMs: number) =>
  attempt <= CHARGE_ATTEMPTS || nowMs < order.reserved_until.getTime()

const isPriceOf = (order: OrderRow, { amountMinor, currency }: AuthorizedCharge) =>
  amountMinor === totalOf(order) && currency === order.currency

interface ChargesDeps {
  readonly sql: Sql
  readonly jobs: Pick<PaymentJobs, 'addCharges' | 'addRefunds'>
  readonly provider: PaymentProvider
  readonly calls: Calls
  /** The providers whose records are compared, each with a cursor of its own. */
  readonly sources: readonly Pick<PaymentProvider, 'name' | 'changes'>[]
  readonly orders: Pick<Orders, 'pay' | 'confirm' | 'confirmFree' | 'requireAction' | 'decline' | 'abandon' | 'timeOut'>
  readonly captures: Pick<Outbox, 'markDone'>
  readonly refunds: Pick<Outbox, 'recheck' | 'compare'>
  readonly metrics: Pick<Metrics, 'payments' | 'findings'>
  readonly log: Logger
  readonly resume: Tracer['resume']
  /** Where a bank sends the buyer of an order back to. */
  readonly returnUrl: (order: OrderRow) => string
  /** The ledger's time. */
  readonly nowMs: () => number
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

export class Charges implements Consumer<'charge'> {
  readonly queue = 'charge'
  readonly #deps: ChargesDeps
  readonly #runtime: Runtime
  readonly #known: Batcher<ChargeRecord, boolean>
  /** Confirmations and declines are batched by sale, so that locked rows delay the charges of their own sale only. */
  readonly #paid: BatcherByKey<AuthorizedCharge, boolean>
  readonly #declined: BatcherByKey<Declined, void>
  readonly #waiting: Batcher<Waiting, void>
  readonly #captured: Batcher<string, void>
  readonly #returned: Batcher<ChargeRecord, void>
  readonly #orders: Batcher<string, OrderRow | undefined>
  #pausedUntilMs = 0
  /** Observes whether the provider answers. */
  readonly watch: ProviderWatch
  #unlogged = { charges: 0, sinceMs: Number.NEGATIVE_INFINITY }

  constructor(deps: ChargesDeps) {
    this.#deps = deps
    const { orders, captures, runtime = machine } = deps
    this.#runtime = runtime
    this.#known = new Batcher(REPORTS, (records) => this.#areKnown(records), runtime)
    this.#paid = new BatcherByKey(SETTLE, (_sale, charges) => this.#confirm(charges), runtime)
    this.#declined = new BatcherByKey(SETTLE, (_sale, attempts) => orders.decline(attempts), runtime)
    this.#waiting = new Batcher(SETTLE, (waits) => orders.requireAction(waits), runtime)
    this.#captured = new Batcher(SETTLE, (charges) => captures.markDone(charges), runtime)
    this.#returned = new Batcher(SETTLE, (records) => this.#recheck(records), runtime)
    this.#orders = new Batcher(SETTLE, (ids) => this.#findOrders(ids), runtime)
    this.watch = new ProviderWatch(deps)
  }

  // -- Charging ----------------------------------------------------------------------------------------------------

  async room(busy: number) {
    if (this.#runtime.monotonicMs() < this.#pausedUntilMs) return 0
    const atOnce = this.watch.isAway ? WHILE_AWAY : CONCURRENCY
    return [
      { group: '', limit: await this.#deps.calls.room('charge', Math.max(0, atOnce - busy)) },
      { group: FREE, limit: CONCURRENCY - busy },
    ]
  }

  async run(jobs: readonly ChargeJob[], end: End<'charge'>): Promise<void> {
    const orders = await this.#findOrders(jobs.map(({ data }) => data.order))
    await Promise.all(
      jobs.map(async (job, i) => {
        try {
          await end(job, await this.#deps.resume(job.data.trace, 'charge', () => this.#charge(job, orders[i])))
        } catch (error) {
          this.#deps.log.warn({ order: job.data.order, error: String(error) }, 'charge interrupted')
        }
      }),
    )
  }

  /** Begins the payment of orders that came with their method, if the process that accepted them did not. */
  async beginPayments(): Promise<void> {
    const { sql, orders } = this.#deps
    const toBegin = await findPaymentsToBegin(sql, CONCURRENCY)
    await Promise.all(toBegin.map((o) => orders.pay(o.sale_id, o.order_id, o.payment_method)))
  }

  async #charge(job: ChargeJob, order: OrderRow | undefined): Promise<Outcome> {
    const { orders, provider, metrics, returnUrl } = this.#deps
    // A charge that waits for its buyer has been authorized as far as it can be without them.
    if (order?.status !== 'paying' || order.action !== null) return DONE
    const { order_id, currency, payment_method, attempts: attempt } = order
    const amountMinor = totalOf(order)
    if (amountMinor === 0) {
      // Providers reject a charge of nothing.
      await orders.confirmFree(order_id)
      return DONE
    }
    if (!mayTry(order, job.attempt, this.#deps.nowMs())) return this.#giveUp(order_id, attempt)
    const method = assertExists(payment_method, 'An order that is being paid has a method.')
    const about = { order: order_id, attempt }
    const begunMs = this.#runtime.monotonicMs()
    const asked = { ...about, amountMinor, currency, method, returnUrl: returnUrl(order) }
    const charged = await traced('authorize at provider', () => provider.authorize(asked))
    const { result } = charged
    metrics.payments.inc({ outcome: result })
    if (result === 'unknown') this.watch.heardNothing(order_id)
    else if (result !== 'turned_away') this.watch.answeredWithin(this.#runtime.monotonicMs() - begunMs)
    switch (result) {
      case 'authorized': {
        const { charge } = charged
        await this.settle({ charge, order: order_id, status: 'authorized', amountMinor, currency }, order)
        return DONE
      }
      case 'requires_action':
        await this.#waiting.add({ ...about, action: charged.action })
        return DONE
      case 'declined':
        await this.#declined.add(order.sale_id, { ...about, declineCode: charged.code })
        return DONE
      case 'refused': {
        this.#logFailure(order_id, charged)
        const { sale_id: sale, product_id: product } = order
        const detail = { order: order_id, error: charged.reason, amount_minor: amountMinor, currency }
        await openFinding(this.#deps.sql, metrics, {
          sale,
          product,
          kind: 'charge_refused',
          subject: charged.code,
          detail,
        })
        break
      }
      case 'unknown':
        this.#logFailure(order_id, charged)
        if (mayTry(order, job.attempt + 1, this.#deps.nowMs())) return { end: 'failed', error: charged.reason }
        break
      case 'turned_away': {
        this.#logFailure(order_id, charged)
        this.#pausedUntilMs = PAUSE_MS * (Math.floor(this.#runtime.monotonicMs() / PAUSE_MS) + 1)
        const nowMs = this.#deps.nowMs()
        const { turnedAwayAtMs = nowMs } = job.data
        if (nowMs - turnedAwayAtMs < TURNED_AWAY_MS)
          return { end: 'returned', waitMs: REQUEUE_MS * (1 + this.#runtime.random()), note: { turnedAwayAtMs } }
      }
    }
    return this.#giveUp(order_id, attempt)
  }

  #logFailure(order: string, { result, reason }: { readonly result: string; readonly reason: string }): void {
    this.#unlogged.charges++
    const nowMs = this.#runtime.monotonicMs()
    if (nowMs - this.#unlogged.sinceMs < LOG_INTERVAL_MS) return
    const { charges } = this.#unlogged
    this.#deps.log.warn({ order, result, reason, charges }, 'charges neither authorized nor declined')
    this.#unlogged = { charges: 0, sinceMs: nowMs }
  }

  /**
   * After the last attempt the provider's record counts; without one nothing was authorized. A provider that does not
   * answer says neither, so it is asked again. The order is cancelled before a pending charge is, since a charge
   * authorized meanwhile may have confirmed the order.
   */
  async #giveUp(order: string, attempt: number): Promise<Outcome> {
    const { provider, orders, log } = this.#deps
    let found: ChargeRecord | undefined
    try {
      found = await provider.find(order)
    } catch (error) {
      this.watch.heardNothing(order)
      return { end: 'failed', error: String(error) }
    }
    this.watch.answered()
    if (found && found.status !== 'pending') await this.settle(found)
    // The charge now waits for its buyer.
    if (found?.status === 'requires_action' && found.attempt === attempt) return DONE
    const cancelled = await orders.timeOut(order)
    if (!cancelled || found?.status !== 'pending') return DONE
    // If this fails, the charge is voided when it is reported authorized.
    const current = await provider.cancel(found.charge).catch((error) => {
      log.warn({ order, error: String(error) }, 'pending charge not cancelled')
      return undefined
    })
    if (current) await this.settle(current)
    return DONE
  }

  /**
   * Queues charges again that seem forgotten. If the first job still exists, the order's idempotency key covers both.
   */
  async resume(): Promise<void> {
    const { sql, jobs } = this.#deps
    await sql.begin(async (tx) => jobs.addCharges(tx, await touchForgottenPayments(tx, FORGOTTEN_SECONDS, CONCURRENCY)))
  }

  /**
   * Ends payments whose buyer has not come back from their bank: first at the provider, so that nothing is authorized
   * any more, then the order. Each step may be repeated. A buyer who came back meanwhile is confirmed: a cancel would
   * void it. From the moment the cancel is decided nothing confirms the order, or a success just before it would be
   * sold and never paid.
   */
  async endOverdueActions(): Promise<void> {
    const { sql, provider, calls, orders, log } = this.#deps
    const overdue = await findOverdueActions(sql, ENDED_ACTIONS)
    const allowed = await calls.take('abandoned', overdue.length)
    await Promise.all(
      overdue.slice(0, allowed).map(async ({ order, attempt, charge, isEnding, overdueSeconds }) => {
        try {
          const found = await provider.read(charge)
          if (found?.status === 'pending' && overdueSeconds < PENDING_SECONDS) return
          if (found?.status === 'declined' || (found && isAuthorized(found) && !isEnding))
            return await this.settle(found)
          if (!(await endAction(sql, { order, attempt }))) return
          // One that was captured by hand is given back.
          const record = await provider.cancel(charge)
          if (isAuthorized(record)) await this.settle(record)
          await orders.abandon({ order, attempt })
        } catch (error) {
          log.warn({ order, error: String(error) }, 'abandoned charge not cancelled yet')
        }
      }),
    )
  }

  // -- Settling ----------------------------------------------------------------------------------------------------

  /** Applies what a webhook reports. One read finds those of many that only repeat what is known. */
  async report(charge: ChargeRecord): Promise<void> {
    if (!(await this.#known.add(charge))) await this.settle(charge)
  }

  /**
   * True for each record that the ledger already has. The capture of a charge is written with the confirmation of its
   * order, so the charge is known as soon as it is authorized. A refund is known once no refund is open. `settle`
   * handles any other state.
   */
  async #areKnown(records: readonly ChargeRecord[]): Promise<boolean[]> {
    const { sql } = this.#deps
    const of = (some: readonly ChargeRecord[]) => some.map(({ charge }) => charge)
    const captured = await findCaptures(sql, of(records.filter(isAuthorized)))
    const isReturn = (one: ChargeRecord) =>
      one.status === 'refunded' || (one.status === 'captured' && one.refundedMinor)
    const returned = await findReturned(sql, of(records.filter(isReturn)))
    return records.map((record) => {
      const { charge, status } = record
      if (status === 'refunded') return returned.get(charge)?.isAll === true
      if (status === 'authorized') return captured.has(charge)
      if (status !== 'captured' || captured.get(charge) !== true) return false
      if (!record.refundedMinor) return true
      const known = returned.get(charge)
      return known !== undefined && !known.isAll && known.minor === record.refundedMinor
    })
  }

  /**
   * Applies the provider's state of a charge: confirms or cancels the order, or gives the money back. `known` is the
   * order as it was read lately.
   */
  async settle(charge: ChargeRecord, known?: OrderRow): Promise<void> {
    const { refunds } = this.#deps
    if (charge.status === 'refund_failed') return refunds.compare(charge.charge, charge.refund)
    if (charge.status === 'refunded') await refunds.compare(charge.charge)
    if (charge.status === 'requires_action') return this.#waiting.add(charge)
    if (charge.status !== 'declined' && !isAuthorized(charge))
      return charge.status === 'pending' ? undefined : this.#returned.add(charge)
    // Reports mostly repeat what is known: reading first avoids a lock of the product's row.
    const order = known ?? (await this.#orders.add(charge.order))
    const isOpen = order?.status === 'reserved' || order?.status === 'paying'
    if (charge.status === 'declined') {
      if (isOpen) await this.#declined.add(order.sale_id, { ...charge, declineCode: charge.code })
      return
    }
    if (!order) return this.#noteUnknown(charge)
    const isConfirmed = isOpen && isPriceOf(order, charge) && (await this.#paid.add(order.sale_id, charge))
    // Whatever else happened to an open order meanwhile, the ledger knows now.
    if (!isConfirmed) await this.#refundUnlessPaid(charge, isOpen ? await this.#orders.add(charge.order) : order)
    if (charge.status !== 'captured') return
    await this.#captured.add(charge.charge)
    if (charge.refundedMinor) await refunds.compare(charge.charge)
  }

  async #confirm(charges: readonly AuthorizedCharge[]): Promise<boolean[]> {
    const confirmed = new Set((await this.#deps.orders.confirm(charges)).map(({ charge_id }) => charge_id))
    return charges.map(({ charge }) => confirmed.has(charge))
  }

  /** Open refunds of charges that went back or were voided ask the provider again. */
  async #recheck(records: readonly ChargeRecord[]): Promise<void> {
    const charges = records.map(({ charge }) => charge)
    await this.#deps.refunds.recheck(charges)
    for (const kind of ['unknown_charge', 'wrong_amount'] as const)
      await closeAbout(this.#deps.sql, kind, charges, 'given back')
  }

  /** Refunds a charge whose order was cancelled meanwhile, is paid with another charge, or has another price. */
  async #refundUnlessPaid(paid: AuthorizedCharge, order: OrderRow | undefined): Promise<void> {
    const { sql, jobs, metrics } = this.#deps
    const { charge, order: orderId, amountMinor, currency } = paid
    const isPaid = isSold(order?.status) || order?.status === 'returned'
    if (isPaid && order?.charge_id === charge) return
    const isWrong = order !== undefined && !isPriceOf(order, paid)
    const reason = isPaid ? 'paid twice' : isWrong ? 'wrong amount' : `paid when ${order?.status}`
    await sql.begin(async (tx) => {
      const added = await jobs.addRefunds(tx, [{ charge, order: orderId, reason }])
      if (!isWrong || added.length === 0) return
      await openFinding(tx, metrics, {
        sale: order.sale_id,
        product: order.product_id,
        kind: 'wrong_amount',
        subject: charge,
        detail: { order: orderId, amount_minor: amountMinor, currency },
      })
    })
  }

  /** A charge without an order may belong to another system on the same account. A person decides. */
  async #noteUnknown({ charge, order }: ChargeRecord): Promise<void> {
    const { sql, metrics, log } = this.#deps
    log.error({ order, charge }, 'charge for an unknown order')
    await openFinding(sql, metrics, {
      sale: NO_SALE,
      product: '',
      kind: 'unknown_charge',
      subject: charge,
      detail: { order },
    })
  }

  /** Settles what changed in the provider's own records: this finds charges that are paid but unrecorded. */
  async compare(): Promise<void> {
    for (const source of this.#deps.sources) await this.#compareWith(source)
  }

  async #compareWith({ name, changes }: Pick<PaymentProvider, 'name' | 'changes'>): Promise<void> {
    const { sql, provider, calls } = this.#deps
    const isLimited = name === provider.name
    /** If no call is allowed now, the next round continues from the cursor. */
    const mayRead = async () => !isLimited || (await calls.take('comparison', 1)) > 0
    if (!(await mayRead())) return
    const last = await readProviderCursor(sql, name)
    const pages = isLimited ? this.watch.watched(changes(last)) : changes(last)
    for await (const { records, cursor } of pages) {
      const areKnown = await this.#areKnown(records)
      const news = records.filter((_, i) => !areKnown[i])
      for (let at = 0; at < news.length; at += SETTLE.size)
        await Promise.all(news.slice(at, at + SETTLE.size).map((record) => this.settle(record)))
      await writeProviderCursor(sql, name, cursor)
      if (!(await mayRead())) return
    }
  }

  /** The orders, parallel to the ids. */
  async #findOrders(ids: readonly string[]): Promise<(OrderRow | undefined)[]> {
    const byId = new Map((await findOrders(this.#deps.sql, ids)).map((row) => [row.order_id, row]))
    return ids.map((id) => byId.get(id))
  }
}
