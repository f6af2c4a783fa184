/**
 * From a job to an authorization: takes charge jobs, asks the provider, and moves the order by what it says. The money itself
 * is taken after that (due.ts). Every way of learning about a charge (the answer, a webhook, the provider's records) ends
 * in `settle`, which is the only place that decides, for many charges at a time.
 */
import { isSold, SOLD } from '../../shared/order-status.ts'
import type { Deps } from '../deps.ts'
import { closeAbout, NO_SALE, note } from '../ledger/findings.ts'
import type { OrderRow } from '../ledger/orders.ts'
import { Batcher, BatcherByKey } from '../lib/batcher.ts'
import { CHARGE_ATTEMPTS, type Job, type PaymentJobs } from './jobs.ts'
import type { Due } from './outbox.ts'
import type { ChargeRecord, PaymentProvider } from './provider.ts'

/** Charges under way at once in one worker: the provider is what is slow, and a few that hang must not hold up the rest. */
const CONCURRENCY = 256
/** Charges settled, and jobs ended, in one transaction: the product's row is taken once for all of them. */
const SETTLE = { size: 200, queue: 20_000 }
/** An order that came with its payment method is left to the process that took it for so long. */
const BEGIN_AFTER_MS = 1_000
/**
 * A worker whose charge was turned away takes no others until the next of these begins, since providers count by the second:
 * it asks for no more than CONCURRENCY a second in vain, and leaves no second out.
 */
const PAUSE_MS = 1_000
/**
 * What is turned away for so long is given up. Of a provider that takes 25 charges a second one worker gets nearly all
 * (24.8 measured): 20,000 in less, and of a longer line not all. What was turned away goes behind the others, so that where
 * nothing is taken the time of all runs at once.
 */
const TURNED_AWAY_MS = 15 * 60_000
/** What goes wrong does so for many charges at once: it is told once in so long, with how many there were since. */
const TELL_EVERY_MS = 10_000
/**
 * Paying for so long without a word: the job may be gone, but more likely the workers or the ledger were away, or a long
 * line waits. Which of them cannot be told from here.
 */
const FORGOTTEN_SECONDS = 120

/** What is captured was authorized: by hand, say, before this system heard of it. */
const isAuthorized = (charge: ChargeRecord): charge is AuthorizedCharge =>
  charge.status === 'authorized' || charge.status === 'captured'
type AuthorizedCharge = Extract<ChargeRecord, { amountMinor: number }>

type ChargesDeps = Pick<Deps, 'sql' | 'sales' | 'orders' | 'metrics' | 'log'>

type OrderState = Pick<
  OrderRow,
  | 'order_id'
  | 'sale_id'
  | 'product_id'
  | 'status'
  | 'charge_id'
  | 'unit_price_minor'
  | 'quantity'
  | 'currency'
>

const amountOf = ({ unit_price_minor, quantity }: OrderState) => unit_price_minor * quantity
const isPriceOf = (order: OrderState, { amountMinor, currency }: AuthorizedCharge) =>
  amountMinor === amountOf(order) && currency === order.currency

export class Charges {
  readonly #deps: ChargesDeps
  readonly #jobs: PaymentJobs
  readonly #captures: Due
  readonly #refunds: Due
  readonly #provider: PaymentProvider
  readonly #underWay = new Set<Promise<void>>()
  #pausedUntilMs = 0
  #untold = { charges: 0, sinceMs: Number.NEGATIVE_INFINITY }

  constructor(
    deps: ChargesDeps,
    jobs: PaymentJobs,
    due: { readonly captures: Due; readonly refunds: Due },
    provider: PaymentProvider,
  ) {
    this.#deps = deps
    this.#jobs = jobs
    this.#captures = due.captures
    this.#refunds = due.refunds
    this.#provider = provider
  }

  // -- Charging ----------------------------------------------------------------------------------------------------

  /** Takes as many jobs as there is room for; true if there may be more. */
  async round(): Promise<boolean> {
    await this.#beginAsked()
    if (performance.now() < this.#pausedUntilMs) return false
    const room = CONCURRENCY - this.#underWay.size
    if (room <= 0) {
      await Promise.race(this.#underWay)
      return true
    }
    const jobs = await this.#jobs.take('charge', room)
    const orders = await this.#read(jobs.map((job) => job.order))
    for (const job of jobs) {
      const work = this.#work(job, orders.get(job.order))
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
    // By now(), and not clock_timestamp(), which is no bound that an index is searched by.
    const asked = await this.#deps.sql<{ order_id: string; payment_method: string }[]>`
      select order_id, payment_method from orders
      where status = 'reserved' and payment_method is not null
        and created_at < now() - ${BEGIN_AFTER_MS} * interval '1 millisecond'
      order by created_at limit ${CONCURRENCY}`
    await Promise.all(asked.map((o) => this.#deps.orders.pay(o.order_id, o.payment_method)))
  }

  async #work(job: Job, order: OrderRow | undefined): Promise<void> {
    if (order?.status !== 'paying') return this.#ended.add(job)
    const amountMinor = amountOf(order)
    if (amountMinor === 0) {
      // A provider takes no charge of nothing.
      await this.#deps.orders.confirmFree(order.order_id)
      return this.#ended.add(job)
    }
    const { currency } = order
    const answer = await this.#provider.authorize({
      order: order.order_id,
      amountMinor,
      currency,
      method: order.payment_method ?? '',
    })
    this.#deps.metrics.payments.inc({ outcome: answer.result })
    if (answer.result === 'unknown' || answer.result === 'turned_away') this.#tell(order.order_id, answer)
    switch (answer.result) {
      case 'authorized':
        await this.settle({
          ...{ charge: answer.charge, order: order.order_id },
          ...{ status: 'authorized', amountMinor, currency },
        })
        return this.#ended.add(job)
      case 'declined':
        await this.#deps.orders.cancel(order.order_id, ['paying'], `declined: ${answer.reason}`)
        return this.#ended.add(job)
      case 'unknown':
        if (job.attempt < CHARGE_ATTEMPTS) return this.#jobs.failed('charge', job, answer.reason)
        await this.#giveUp(order.order_id)
        return this.#ended.add(job)
      case 'turned_away': {
        this.#pausedUntilMs = PAUSE_MS * (Math.floor(performance.now() / PAUSE_MS) + 1)
        const nowMs = this.#deps.sales.nowMs()
        const { turnedAwayAtMs = nowMs } = job
        if (nowMs - turnedAwayAtMs < TURNED_AWAY_MS) return this.#putBack.add({ ...job, turnedAwayAtMs })
        await this.#giveUp(order.order_id)
        return this.#ended.add(job)
      }
    }
  }

  #tell(order: string, { result, reason }: { readonly result: string; readonly reason: string }): void {
    this.#untold.charges++
    const nowMs = performance.now()
    if (nowMs - this.#untold.sinceMs < TELL_EVERY_MS) return
    const { charges } = this.#untold
    this.#deps.log.warn({ order, result, reason, charges }, 'charges are neither authorized nor declined')
    this.#untold = { charges: 0, sinceMs: nowMs }
  }

  readonly #putBack = new Batcher<Job & { readonly turnedAwayAtMs: number }, void>(SETTLE, async (jobs) => {
    await this.#jobs.putBack(jobs)
    return jobs.map(() => undefined)
  })

  readonly #ended = new Batcher<Job, void>(SETTLE, async (jobs) => {
    await this.#jobs.done('charge', jobs)
    return jobs.map(() => undefined)
  })

  /**
   * After the last attempt: what the provider has on record counts, and nothing on record means nothing was authorized. The
   * ledger is asked before a charge under way is ended, since one that is authorized meanwhile may have confirmed the order.
   */
  async #giveUp(order: string): Promise<void> {
    const found = await this.#answerAbout(order, this.#provider.find(order))
    if (found && isAuthorized(found)) await this.settle(found)
    const cancelled = await this.#deps.orders.cancel(order, ['paying'], 'payment_timeout')
    if (!cancelled || found?.status !== 'pending') return
    // A charge that is not reached here, or whose worker dies here, is voided as soon as it is heard to be authorized.
    const stands = await this.#answerAbout(order, this.#provider.cancel(found.charge))
    if (stands) await this.settle(stands)
  }

  async #answerAbout(
    order: string,
    asked: Promise<ChargeRecord | undefined>,
  ): Promise<ChargeRecord | undefined> {
    return asked.catch((error) => {
      this.#deps.log.warn({ order, error: String(error) }, 'given up without an answer from the provider')
      return undefined
    })
  }

  /** Charges whose last attempt died with its worker; true if there may be more. */
  async lost(): Promise<boolean> {
    const jobs = await this.#jobs.take('charge-lost', CONCURRENCY)
    const orders = await this.#read(jobs.map((job) => job.order))
    const paying = jobs.filter((job) => orders.get(job.order)?.status === 'paying')
    await Promise.all(paying.map((job) => this.#giveUp(job.order)))
    await this.#jobs.done('charge-lost', jobs)
    return jobs.length === CONCURRENCY
  }

  /**
   * Charges that seem forgotten are asked for once more, and not given up: waiting says nothing about the charge. Where
   * the first job is there after all, the order's idempotency key makes the second harmless.
   */
  async resume(): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const forgotten = await tx<{ order_id: string }[]>`
        update orders set updated_at = clock_timestamp()
        where order_id in (
          select order_id from orders
          where status = 'paying' and updated_at < now() - ${FORGOTTEN_SECONDS} * interval '1 second'
          order by updated_at limit ${CONCURRENCY} for update skip locked)
        returning order_id`
      await this.#jobs.addCharges(
        tx,
        forgotten.map((o) => o.order_id),
      )
    })
  }

  // -- Settling ----------------------------------------------------------------------------------------------------

  /** What the provider says of a charge: the order is confirmed or cancelled, or the money goes back. */
  async settle(charge: ChargeRecord): Promise<void> {
    if (charge.status === 'refund_failed') return this.#refunds.undone(charge)
    if (charge.status === 'refunded' || charge.status === 'cancelled') return this.#returned.add(charge)
    if (charge.status === 'pending') return
    // Most of what is told is known already: it is looked at first, and the product's row left alone.
    const before = await this.#states.add(charge.order)
    const isOpen = before?.status === 'reserved' || before?.status === 'paying'
    if (isOpen && (!isAuthorized(charge) || isPriceOf(before, charge)))
      await this.#settling.add(before.sale_id, charge)
    if (!isAuthorized(charge)) return
    if (!before) return this.#noteUnknown(charge)
    await this.#returnUnlessPaid(charge)
    if (charge.status === 'captured') await this.#captured.add(charge.charge)
  }

  /** A sale whose rows are taken for a while holds up its own charges, and no other's. */
  readonly #settling = new BatcherByKey<ChargeRecord, void>(SETTLE, async (_sale, charges) => {
    const { orders } = this.#deps
    await orders.confirm(charges.filter(isAuthorized))
    const declined = charges.filter((c) => c.status === 'declined').map((c) => c.order)
    await orders.move(declined, { from: ['paying'], to: 'cancelled', reason: 'declined' })
    return charges.map(() => undefined)
  })

  readonly #captured = new Batcher<string, void>(SETTLE, async (charges) => {
    await this.#captures.happened(charges)
    return charges.map(() => undefined)
  })

  readonly #returned = new Batcher<ChargeRecord, void>(SETTLE, async (records) => {
    const charges = records.map(({ charge }) => charge)
    await this.#refunds.lookAgain(charges)
    for (const kind of ['unknown_charge', 'wrong_amount'] as const)
      await closeAbout(this.#deps.sql, kind, charges, 'given back')
    await this.#noteRefundedOutside(records.filter(({ status }) => status === 'refunded'))
    return records.map(() => undefined)
  })

  readonly #states = new Batcher<string, OrderState | undefined>(SETTLE, async (orders) => {
    const rows = await this.#deps.sql<OrderState[]>`
      select order_id, sale_id, product_id, status, charge_id, unit_price_minor, quantity, currency
      from orders where order_id = any(${orders as string[]}::uuid[])`
    const byId = new Map(rows.map((row) => [row.order_id, row]))
    return orders.map((order) => byId.get(order))
  })

  /** A charge that no order stands for, which was cancelled meanwhile, is paid with another, or has another price. */
  async #returnUnlessPaid(paid: AuthorizedCharge): Promise<void> {
    const { charge, order, amountMinor, currency } = paid
    const now = await this.#states.add(order)
    const isPaid = isSold(now?.status)
    if (isPaid && now?.charge_id === charge) return
    const isWrong = now !== undefined && !isPriceOf(now, paid)
    const reason = isPaid ? 'paid twice' : isWrong ? 'wrong amount' : `paid when ${now?.status}`
    await this.#deps.sql.begin(async (tx) => {
      const asked = await this.#jobs.addRefunds(tx, [{ charge, order, reason }])
      if (!isWrong || asked.length === 0) return
      const about = {
        sale: now.sale_id,
        product: now.product_id,
        kind: 'wrong_amount',
        subject: charge,
      } as const
      await note(tx, { ...about, units: 0, detail: { order, amount_minor: amountMinor, currency } })
      this.#deps.metrics.findings.inc({ sale: about.sale, kind: about.kind })
    })
  }

  /** Whose money it is cannot be told from here: another system may share the account. A person decides. */
  async #noteUnknown({ charge, order }: ChargeRecord): Promise<void> {
    this.#deps.log.error({ order, charge }, 'a charge, and there is no such order')
    const about = { sale: NO_SALE, product: '', kind: 'unknown_charge', subject: charge } as const
    await note(this.#deps.sql, { ...about, units: 0, detail: { order } })
    this.#deps.metrics.findings.inc({ sale: about.sale, kind: about.kind })
  }

  /** An order stays sold whose money was given back by hand; whether it is sent all the same a person decides. */
  async #noteRefundedOutside(refunded: readonly ChargeRecord[]): Promise<void> {
    const kind = 'refunded_outside'
    const told = await this.#deps.sql.begin(async (tx) => {
      const rows = await tx<{ sale: string; product: string; charge: string; order: string }[]>`
        with told as (
          insert into refunds (charge_id, order_id, reason, refunded_at)
          select charge_id, order_id, ${kind}, clock_timestamp() from orders
          where order_id = any(${refunded.map((r) => r.order)}::uuid[]) and status in ${tx(SOLD)}
            and charge_id = any(${refunded.map((r) => r.charge)}::text[])
          order by charge_id
          on conflict do nothing returning order_id, charge_id as charge)
        select sale_id as sale, product_id as product, charge, order_id as "order"
        from told join orders using (order_id)`
      for (const { sale, product, charge, order } of rows)
        await note(tx, { sale, product, kind, subject: charge, units: 0, detail: { order } })
      return rows
    })
    for (const { sale } of told) this.#deps.metrics.findings.inc({ sale, kind })
  }

  /** Compares with the provider's own records: paid but unrecorded is found here, whatever was lost on the way. */
  async compare(): Promise<void> {
    const { sql } = this.#deps
    const { name } = this.#provider
    const [last] = await sql<{ cursor: string }[]>`select cursor from comparisons where provider = ${name}`
    for await (const { records, cursor } of this.#provider.changes(last?.cursor ?? null)) {
      for (let at = 0; at < records.length; at += SETTLE.size) {
        await Promise.all(records.slice(at, at + SETTLE.size).map((record) => this.settle(record)))
      }
      await sql`
        insert into comparisons (provider, cursor) values (${name}, ${cursor})
        on conflict (provider) do update set cursor = excluded.cursor, compared_at = clock_timestamp()`
    }
  }

  async #read(orders: readonly string[]): Promise<Map<string, OrderRow>> {
    if (orders.length === 0) return new Map()
    const rows = await this.#deps.sql<OrderRow[]>`
      select * from orders where order_id = any(${orders as string[]}::uuid[])`
    return new Map(rows.map((row) => [row.order_id, row]))
  }
}
