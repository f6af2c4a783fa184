/**
 * Charges: takes charge jobs, asks the provider to authorize, and moves the order by the result; the outbox takes the money
 * afterwards. Every source of a charge's state (response, webhook, the provider's records) ends in `settle`, the only place
 * that decides, for many charges at a time.
 */
import type { Logger } from 'pino'
import { isSold } from '../../shared/order-status.ts'
import type { Sql } from '../ledger/connection.ts'
import { closeAbout, NO_SALE } from '../ledger/findings.ts'
import { findOrders, type OrderRow } from '../ledger/orders.ts'
import {
  findPaymentsToBegin,
  insertOutsideRefunds,
  readProviderCursor,
  touchForgottenPayments,
  writeProviderCursor,
} from '../ledger/payments.ts'
import { Batcher, BatcherByKey } from '../lib/batcher.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Orders } from '../orders/orders.ts'
import { CHARGE_ATTEMPTS, type ChargeJob, type PaymentJobs } from './jobs.ts'
import { type Outbox, openFinding } from './outbox.ts'
import type { ChargeRecord, PaymentProvider } from './provider.ts'

/** Charges in progress in one worker. The provider is slow, and a few that hang must not block the rest. */
const CONCURRENCY = 256
/** Charges settled, and jobs completed, in one transaction: the product's row is locked once for all of them. */
const SETTLE = { size: 200, queue: 20_000 }
/** An order that came with its payment method is left this long to the process that accepted it. */
const BEGIN_AFTER_MS = 1_000
/** After a charge is turned away, a worker takes no jobs until the next interval begins: providers limit by the second. */
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

type AuthorizedCharge = Extract<ChargeRecord, { amountMinor: number }>
/** A charge captured by hand, before this system heard of it, was authorized too. */
const isAuthorized = (charge: ChargeRecord): charge is AuthorizedCharge =>
  charge.status === 'authorized' || charge.status === 'captured'

const amountOf = ({ unit_price_minor, quantity }: OrderRow) => unit_price_minor * quantity
const isPriceOf = (order: OrderRow, { amountMinor, currency }: AuthorizedCharge) =>
  amountMinor === amountOf(order) && currency === order.currency

/** A batcher of calls without a result. */
const batched = <Call>(run: (calls: readonly Call[]) => Promise<void>) =>
  new Batcher<Call, void>(SETTLE, async (calls) => {
    await run(calls)
    return calls.map(() => undefined)
  })

interface ChargesDeps {
  readonly sql: Sql
  readonly jobs: PaymentJobs
  readonly provider: PaymentProvider
  readonly orders: Pick<Orders, 'pay' | 'confirm' | 'confirmFree' | 'cancel' | 'move'>
  readonly captures: Pick<Outbox, 'markDone'>
  readonly refunds: Pick<Outbox, 'recheck' | 'reopen'>
  readonly metrics: Pick<Metrics, 'payments' | 'findings'>
  readonly log: Logger
  /** The ledger's time. */
  readonly nowMs: () => number
}

export class Charges {
  readonly #deps: ChargesDeps
  readonly #inProgress = new Set<Promise<void>>()
  #pausedUntilMs = 0
  #unlogged = { charges: 0, sinceMs: Number.NEGATIVE_INFINITY }

  constructor(deps: ChargesDeps) {
    this.#deps = deps
  }

  // -- Charging ----------------------------------------------------------------------------------------------------

  /** Starts as many jobs as there is room for; true if there may be more. */
  async round(): Promise<boolean> {
    await this.#beginPayments()
    if (performance.now() < this.#pausedUntilMs) return false
    const room = CONCURRENCY - this.#inProgress.size
    if (room <= 0) {
      await Promise.race(this.#inProgress)
      return true
    }
    const jobs = await this.#deps.jobs.take('charge', room)
    const orders = await this.#findOrders(jobs.map((job) => job.order))
    for (const [i, job] of jobs.entries()) {
      const work = this.#charge(job, orders[i])
        .catch((error) => this.#deps.log.warn({ order: job.order, error: String(error) }, 'charge interrupted'))
        .finally(() => this.#inProgress.delete(work))
      this.#inProgress.add(work)
    }
    return jobs.length === room
  }

  /** Waits for the charges in progress. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#inProgress)
  }

  /** Begins the payment of orders that came with their method, if the process that accepted them did not. */
  async #beginPayments(): Promise<void> {
    const { sql, orders } = this.#deps
    const toBegin = await findPaymentsToBegin(sql, BEGIN_AFTER_MS, CONCURRENCY)
    await Promise.all(toBegin.map((o) => orders.pay(o.order_id, o.payment_method)))
  }

  async #charge(job: ChargeJob, order: OrderRow | undefined): Promise<void> {
    const { jobs, orders, provider, metrics } = this.#deps
    if (order?.status !== 'paying') return this.#completed.add(job)
    const { order_id, currency, payment_method } = order
    const amountMinor = amountOf(order)
    if (amountMinor === 0) {
      // Providers reject a charge of nothing.
      await orders.confirmFree(order_id)
      return this.#completed.add(job)
    }
    const method = payment_method ?? ''
    const charged = await provider.authorize({ order: order_id, amountMinor, currency, method })
    const { result } = charged
    metrics.payments.inc({ outcome: result })
    switch (result) {
      case 'authorized': {
        const { charge } = charged
        await this.settle({ charge, order: order_id, status: 'authorized', amountMinor, currency })
        return this.#completed.add(job)
      }
      case 'declined':
        await orders.cancel(order_id, ['paying'], `declined: ${charged.reason}`)
        return this.#completed.add(job)
      case 'unknown':
        this.#logFailure(order_id, charged)
        if (job.attempt < CHARGE_ATTEMPTS) return jobs.failed('charge', job, charged.reason)
        break
      case 'turned_away': {
        this.#logFailure(order_id, charged)
        this.#pausedUntilMs = PAUSE_MS * (Math.floor(performance.now() / PAUSE_MS) + 1)
        const nowMs = this.#deps.nowMs()
        const { turnedAwayAtMs = nowMs } = job
        if (nowMs - turnedAwayAtMs < TURNED_AWAY_MS) return this.#requeued.add({ ...job, turnedAwayAtMs })
      }
    }
    await this.#giveUp(order_id)
    return this.#completed.add(job)
  }

  #logFailure(order: string, { result, reason }: { readonly result: string; readonly reason: string }): void {
    this.#unlogged.charges++
    const nowMs = performance.now()
    if (nowMs - this.#unlogged.sinceMs < LOG_INTERVAL_MS) return
    const { charges } = this.#unlogged
    this.#deps.log.warn({ order, result, reason, charges }, 'charges neither authorized nor declined')
    this.#unlogged = { charges: 0, sinceMs: nowMs }
  }

  readonly #requeued = batched<ChargeJob & { readonly turnedAwayAtMs: number }>((jobs) => this.#deps.jobs.requeue(jobs))

  readonly #completed = batched<ChargeJob>((jobs) => this.#deps.jobs.done('charge', jobs))

  /**
   * After the last attempt the provider's record counts; without one nothing was authorized. The order is cancelled before
   * a pending charge is, since a charge authorized meanwhile may have confirmed the order.
   */
  async #giveUp(order: string): Promise<void> {
    const { provider, orders } = this.#deps
    const found = await this.#recordOf(order, provider.find(order))
    if (found && isAuthorized(found)) await this.settle(found)
    const cancelled = await orders.cancel(order, ['paying'], 'payment_timeout')
    if (!cancelled || found?.status !== 'pending') return
    // If this fails, the charge is voided when it is reported authorized.
    const current = await this.#recordOf(order, provider.cancel(found.charge))
    if (current) await this.settle(current)
  }

  #recordOf(order: string, request: Promise<ChargeRecord | undefined>): Promise<ChargeRecord | undefined> {
    return request.catch((error) => {
      this.#deps.log.warn({ order, error: String(error) }, 'provider did not respond; giving up')
      return undefined
    })
  }

  /** Gives up charges whose last attempt died with its worker; true if there may be more. */
  async giveUpLost(): Promise<boolean> {
    const jobs = await this.#deps.jobs.take('charge-lost', CONCURRENCY)
    const orders = await this.#findOrders(jobs.map((job) => job.order))
    const paying = orders.flatMap((order) => (order?.status === 'paying' ? [order.order_id] : []))
    await Promise.all(paying.map((order) => this.#giveUp(order)))
    await this.#deps.jobs.done('charge-lost', jobs)
    return jobs.length === CONCURRENCY
  }

  /** Queues charges again that seem forgotten. If the first job still exists, the order's idempotency key covers both. */
  async resume(): Promise<void> {
    const { sql, jobs } = this.#deps
    await sql.begin(async (tx) => jobs.addCharges(tx, await touchForgottenPayments(tx, FORGOTTEN_SECONDS, CONCURRENCY)))
  }

  // -- Settling ----------------------------------------------------------------------------------------------------

  /** Applies the provider's state of a charge: confirms or cancels the order, or gives the money back. */
  async settle(charge: ChargeRecord): Promise<void> {
    if (charge.status === 'refund_failed') return this.#deps.refunds.reopen(charge)
    if (charge.status === 'refunded' || charge.status === 'cancelled') return this.#returned.add(charge)
    if (charge.status === 'pending') return
    // Most reports are known already: a read first spares the product's row.
    const order = await this.#orders.add(charge.order)
    const isOpen = order?.status === 'reserved' || order?.status === 'paying'
    if (isOpen && (!isAuthorized(charge) || isPriceOf(order, charge))) await this.#settling.add(order.sale_id, charge)
    if (!isAuthorized(charge)) return
    if (!order) return this.#noteUnknown(charge)
    await this.#refundUnlessPaid(charge)
    if (charge.status === 'captured') await this.#captured.add(charge.charge)
  }

  /** By sale: locked rows delay the charges of their own sale only. */
  readonly #settling = new BatcherByKey<ChargeRecord, void>(SETTLE, async (_sale, charges) => {
    const { orders } = this.#deps
    await orders.confirm(charges.filter(isAuthorized))
    const declined = charges.filter((c) => c.status === 'declined').map((c) => c.order)
    await orders.move(declined, { from: ['paying'], to: 'cancelled', reason: 'declined' })
    return charges.map(() => undefined)
  })

  readonly #captured = batched<string>((charges) => this.#deps.captures.markDone(charges))

  readonly #returned = batched<ChargeRecord>(async (records) => {
    const charges = records.map(({ charge }) => charge)
    await this.#deps.refunds.recheck(charges)
    for (const kind of ['unknown_charge', 'wrong_amount'] as const)
      await closeAbout(this.#deps.sql, kind, charges, 'given back')
    await this.#noteOutsideRefunds(records.filter(({ status }) => status === 'refunded'))
  })

  readonly #orders = new Batcher<string, OrderRow | undefined>(SETTLE, (ids) => this.#findOrders(ids))

  /** Refunds a charge whose order was cancelled meanwhile, is paid with another charge, or has another price. */
  async #refundUnlessPaid(paid: AuthorizedCharge): Promise<void> {
    const { sql, jobs, metrics } = this.#deps
    const { charge, order: orderId, amountMinor, currency } = paid
    const order = await this.#orders.add(orderId)
    const isPaid = isSold(order?.status)
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

  /** An order refunded by hand stays sold. A person decides whether it is delivered all the same. */
  async #noteOutsideRefunds(refunded: readonly ChargeRecord[]): Promise<void> {
    const { sql, metrics } = this.#deps
    const kind = 'refunded_outside'
    await sql.begin(async (tx) => {
      const inserted = await insertOutsideRefunds(tx, refunded, kind)
      for (const { sale, product, charge, order } of inserted)
        await openFinding(tx, metrics, { sale, product, kind, subject: charge, detail: { order } })
    })
  }

  /** Settles what changed in the provider's own records: this finds charges that are paid but unrecorded. */
  async compare(): Promise<void> {
    const { sql, provider } = this.#deps
    const last = await readProviderCursor(sql, provider.name)
    for await (const { records, cursor } of provider.changes(last)) {
      for (let at = 0; at < records.length; at += SETTLE.size)
        await Promise.all(records.slice(at, at + SETTLE.size).map((record) => this.settle(record)))
      await writeProviderCursor(sql, provider.name, cursor)
    }
  }

  /** The orders, parallel to the ids. */
  async #findOrders(ids: readonly string[]): Promise<(OrderRow | undefined)[]> {
    const byId = new Map((await findOrders(this.#deps.sql, ids)).map((row) => [row.order_id, row]))
    return ids.map((id) => byId.get(id))
  }
}
