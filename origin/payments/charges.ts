/**
 * From a job to money: takes charge jobs, asks the provider, and moves the order by what it says. Every way of learning
 * about a charge (the answer, a webhook, the provider's records) ends in `settle`, which is the only place that decides.
 */
import type { Deps } from '../deps.ts'
import { findOrder } from '../ledger/ledger.ts'
import { CHARGE_ATTEMPTS, type ChargeJob, type ChargeJobs } from './jobs.ts'
import type { ChargeRecord, PaymentProvider } from './provider.ts'

/** Charges under way at once in one worker; the provider is what is slow. */
const CONCURRENCY = 64

export class Charges {
  readonly #deps: Omit<Deps, 'payments'>
  readonly #jobs: ChargeJobs
  readonly #provider: PaymentProvider
  readonly #underWay = new Set<Promise<void>>()

  constructor(deps: Omit<Deps, 'payments'>, jobs: ChargeJobs, provider: PaymentProvider) {
    this.#deps = deps
    this.#jobs = jobs
    this.#provider = provider
  }

  /** Takes as many jobs as there is room for; true if there may be more. */
  async round(): Promise<boolean> {
    await this.#beginAsked()
    const room = CONCURRENCY - this.#underWay.size
    if (room <= 0) {
      await Promise.race(this.#underWay)
      return true
    }
    const jobs = await this.#jobs.take(room)
    for (const job of jobs) {
      const work = this.#work(job)
        .catch((error) =>
          this.#deps.log.warn({ order: job.order, error: String(error) }, 'a charge was interrupted'),
        )
        .finally(() => this.#underWay.delete(work))
      this.#underWay.add(work)
    }
    return jobs.length === room
  }

  /** Waits for the charges under way. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#underWay)
  }

  /** Orders that came with a payment method, and whose charge the process that took them did not live to ask for. */
  async #beginAsked(): Promise<void> {
    const asked = await this.#deps.sql<{ order_id: string; payment_method: string }[]>`
      select order_id, payment_method from orders
      where status = 'reserved' and payment_method is not null and created_at < clock_timestamp() - interval '1 second'
      limit ${CONCURRENCY}`
    for (const { order_id, payment_method } of asked) await this.#deps.orders.pay(order_id, payment_method)
  }

  async #work(job: ChargeJob): Promise<void> {
    const { sql, metrics } = this.#deps
    const order = await findOrder(sql, job.order)
    if (order?.status !== 'paying') return this.#jobs.done(job)
    const answer = await this.#provider.charge({
      order: order.order_id,
      amountMinor: order.unit_price_minor * order.quantity,
      currency: order.currency,
      method: order.payment_method ?? '',
    })
    metrics.payments.inc({ outcome: answer.result })
    switch (answer.result) {
      case 'succeeded':
        await this.settle({ charge: answer.charge, order: order.order_id, status: 'succeeded' })
        return this.#jobs.done(job)
      case 'declined':
        await this.#deps.orders.cancel(order.order_id, ['paying'], `declined: ${answer.reason}`)
        return this.#jobs.done(job)
      case 'unknown':
        if (job.attempt >= CHARGE_ATTEMPTS) await this.#giveUp(order.order_id)
        return this.#jobs.failed(job, 'no answer in time')
    }
  }

  /** After the last attempt: what the provider has on record counts, and nothing on record means nothing was charged. */
  async #giveUp(order: string): Promise<void> {
    const found = await this.#provider.find(order).catch(() => undefined)
    if (found?.status === 'succeeded') return this.settle(found)
    // Should the charge succeed after this, `settle` refunds it when it hears of it.
    await this.#deps.orders.cancel(order, ['paying'], 'payment_timeout')
  }

  /** A charge that the provider says happened: the order is confirmed, or, if it is too late, the money goes back. */
  async settle(charge: ChargeRecord): Promise<void> {
    const { orders, sql, log } = this.#deps
    if (charge.status === 'declined') {
      await orders.cancel(charge.order, ['paying'], 'declined')
      return
    }
    if (charge.status !== 'succeeded') return
    if (await orders.confirm(charge.order, charge.charge)) return
    const order = await findOrder(sql, charge.order)
    const stands = order && (order.status === 'confirmed' || order.status === 'fulfilled')
    if (stands && order.charge_id === charge.charge) return
    await this.#provider.refund(charge.charge)
    log.warn({ order: charge.order, status: order?.status ?? 'unknown' }, 'charged too late, refunded')
  }

  /** Compares with the provider's own records: paid but unrecorded is found here, whatever was lost on the way. */
  async compare(seconds: number): Promise<void> {
    for (const charge of await this.#provider.recent(seconds)) await this.settle(charge)
  }

  /** Charges that seem forgotten: paying for long, and no job that would still work on it. */
  async resume(): Promise<void> {
    const forgotten = await this.#deps.sql<{ order_id: string }[]>`
      select order_id from orders
      where status = 'paying' and updated_at < clock_timestamp() - interval '90 seconds' limit ${CONCURRENCY}`
    for (const { order_id } of forgotten) await this.#giveUp(order_id)
  }
}
