/**
 * The checkout: one buyer's way through the two gates.
 *
 *     admit     the sale is open, and the request within its limit
 *     reserve   the fast gate (Redis) takes the units or says no, in one script call shared with others
 *     record    the exact gate (ledger) records the order, in one transaction shared with others
 *     respond   with the order; or with the one that exists already; or with a refusal
 *
 * Without Redis the exact gate serves alone. Without the ledger, units taken in Redis are answered with "processing" once a
 * replica has them too, where there is one, and a worker records the intent later (pending-reservations.ts). What neither
 * store is known to have is not promised: the response is try-again, and the same key makes one order at most.
 */
import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { type FieldError, ProblemError } from '../../shared/problem.ts'
import { mayHaveCommitted, type Sql } from '../ledger/connection.ts'
import { isBoxOffice, type RecordVerdict, type Reservation } from '../ledger/record.ts'
import { Overloaded } from '../lib/batcher.ts'
import type { PromoCodeRow } from '../promo-codes/promo-code-queries.ts'
import type { SaleMemory } from '../sales/sale-memory.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { forSale } from '../sales/sale-state.ts'
import { isNamed, isPart } from '../seats/cart-choice.ts'
import { stranded } from '../seats/choice.ts'
import { Free } from '../seats/free.ts'
import { partsOf, usePromoCode } from '../stock/cart.ts'
import type { Gate, Gates } from '../stock/gate/gate.ts'
import { refused } from '../stock/gate/hold-ends.ts'
import { type GateVerdict, quotedOf } from '../stock/gate/verdicts.ts'
import { askedOf, asksForSeats } from './cart.ts'
import { ExistingOrder } from './existing-order.ts'
import {
  type Attempt,
  closedFor,
  inDoubt,
  type Outcome,
  outcomeOf,
  processing,
  refusal,
  soldOut,
  strands,
  untaken,
} from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'
import { needsPrice, quoteOf } from './pricing.ts'
import { type Recorder, type RecorderDeps, recorder, withChosen } from './recorder.ts'
import {
  type Context,
  type ContextDeps,
  contextOf,
  pricingOf,
  requestHash,
  usableCodes,
  withTotals,
  wrongIn,
} from './request-context.ts'
import { SoldOut } from './sold-out.ts'

/** A reservation that a store may have received is recorded again after this pause, which doubles (jittered) .. */
const FIRST_RETRY_MS = 50
/** .. for as long as a buyer waits. */
const RETRY_FOR_MS = 2_000
/** How often the sum of an order is computed, which may change each time before it is recorded. */
const PRICINGS = 3

type Reserved = Extract<GateVerdict, { verdict: 'reserved' }>

interface CheckoutDeps extends RecorderDeps, ContextDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly memory: SaleMemory
  readonly log: Logger
}

export class Checkout {
  readonly #deps: CheckoutDeps
  readonly #pending: PendingReservations
  readonly #soldOut: SoldOut
  readonly #recorder: Recorder
  /** Notes refusals as cancelled orders, for reservations whose intents may be found later. */
  readonly #notingRecorder: Recorder
  readonly existing: ExistingOrder

  constructor(deps: CheckoutDeps, maxPending?: number) {
    const { sql, gates, sales, memory, log } = deps
    this.#deps = deps
    this.#pending = new PendingReservations(memory, maxPending)
    this.#soldOut = new SoldOut(sql, sales, memory, log)
    this.#recorder = recorder(deps, false)
    this.#notingRecorder = recorder(deps, true)
    this.existing = new ExistingOrder({ sql, sales, gates, pending: this.#pending })
  }

  /** A refusal that needs no store promises nothing. */
  checkout(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string): Outcome | Promise<Outcome> {
    if (needsPrice(sale, request)) return this.#priced(sale, buyer, request, key)
    // Only a request for seats waits for the hall, which is in memory after the first.
    return asksForSeats(request, sale)
      ? this.#deps.halls.of(sale).then((hall) => this.#begin(sale, buyer, request, key, { hall, codes: [] }))
      : this.#begin(sale, buyer, request, key, { hall: null, codes: [] })
  }

  /** Computed again where the ledger, or the buyer, knows another sum: the sale may have changed since it was read. */
  async #priced(asked: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string): Promise<Outcome> {
    let sale = asked
    for (let pricing = 1; ; pricing++) {
      const context = await contextOf(this.#deps, sale, request, buyer, this.#deps.sales.nowMs()).catch((error) =>
        error instanceof ProblemError ? error.problem : null,
      )
      if (!context) return untaken()
      if ('type' in context) return refusal(context)
      const outcome = await this.#begin(sale, buyer, request, key, context)
      if (outcome.kind !== 'problem') return outcome
      if (outcome.problem.type === '/problems/price-changed' && pricing < PRICINGS) {
        const { products, fees, tax, delivery, terms_version, chart_version } = await this.#latest(sale)
        const goesTo = isBoxOffice(buyer.visitor) ? sale.delivery : delivery
        sale = { ...sale, products, fees, tax, delivery: goesTo, terms_version, chart_version }
      } else return withTotals(outcome, sale, request, context)
    }
  }

  #begin(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string, { hall, codes }: Context) {
    const asked = askedOf(request, sale, hall?.chart ?? null)
    const wrong = wrongIn(sale, asked, buyer.errors ?? [], request)
    if ('type' in asked) return refusal(wrong ?? asked)
    if (wrong) return refusal(wrong)
    const { visitor, line, number, contact, networks } = buyer
    const { product, quantity, choice } = asked
    // The limits of record_reservations are everyone's: what the box office sells is recorded as a cart.
    const cart = asked.cart ?? (isBoxOffice(visitor) && !choice ? partsOf(asked) : undefined)
    const isPlain = !cart && !choice
    if (isPlain && quantity <= sale.limit_per_visitor && this.#soldOut.isFor(sale, product, visitor)) return SOLD_OUT
    const nowMs = this.#deps.sales.nowMs()
    const usable = usableCodes(codes, nowMs)
    const pricing = pricingOf(sale, request, hall, 'type' in usable ? [] : usable)
    const quote = choice || needsPrice(sale, request) ? quoteOf(pricing, request.total_minor, isPlain) : undefined
    const units = cart ?? (isPlain ? partsOf(asked) : undefined)
    const quoted = quote && units ? quote(units) : { ...(cart && { cart }) }
    const unsellable = 'type' in usable ? usable : 'type' in quoted ? quoted : undefined
    const reservation: Reservation = {
      order: randomUUIDv7(),
      sale: sale.sale_id,
      product,
      visitor,
      line,
      number,
      quantity,
      ...('type' in quoted ? cart && { cart } : quoted),
      ...(choice && { choice }),
      ...(quote && { quote }),
      key,
      hash: requestHash(request),
      method: request.payment_method ?? null,
      ...(contact && { contact }),
      ...(networks && { networks }),
    }
    const closed = closedFor(sale, quantity, nowMs) ?? unsellable
    if (closed) return this.#respond({ sale, reservation, closed })
    return hall?.refuseSingle && !isBoxOffice(visitor)
      ? this.#reserveUnlessStranding(sale, reservation, pricing.codes)
      : this.#reserve(sale, reservation, pricing.codes)
  }

  /** As organisers ask: who names seats leaves no single one. A repeated key is answered all the same. */
  async #reserveUnlessStranding(
    sale: SaleRow,
    reservation: Reservation,
    codes: readonly PromoCodeRow[],
  ): Promise<Outcome> {
    const { choice } = reservation
    const bits = await this.#gateOf(reservation)
      .seats()
      .catch(() => null)
    const named = (choice?.wants ?? []).filter(isPart).flatMap(({ seats }) => seats ?? [])
    if (!choice || !bits || named.length === 0) return this.#reserve(sale, reservation, codes)
    const free = new Free(choice.chart, bits)
    const seats = named.flatMap((seat) => choice.chart.at(seat) ?? [])
    // Of taken ones the gate says which.
    if (!seats.every((seat) => free.isFree(seat))) return this.#reserve(sale, reservation, codes)
    const single = stranded(choice.chart, free, seats)
    if (single.length === 0) return this.#reserve(sale, reservation, codes)
    return this.#respond({ sale, reservation, closed: strands(single) })
  }

  async #reserve(sale: SaleRow, reservation: Reservation, codes: readonly PromoCodeRow[]): Promise<Outcome> {
    // A gate that was away, or rebuilt meanwhile, does not know the key and would promise a second order.
    if (this.#pending.ofKey(reservation)) return this.#respond({ sale, reservation })
    let gate: GateVerdict
    try {
      const { hold_seconds, limit_per_visitor: limit } = sale
      const demand = this.#deps.arrivals.demand(sale)
      const demandForUses = codes.length > 0 ? this.#deps.arrivals.demandForUses(sale.sale_id) : 0
      const terms = { holdMs: hold_seconds * 1000, limit, demand, demandForUses, limits: limitsOf(sale, codes) }
      gate = await this.#gateOf(reservation).reserve(reservation, terms)
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error
      return untaken('Too many people are checking out at this moment.')
    }
    if (gate.verdict === 'reserved') {
      return this.#recordReserved(sale, withChosen(reservation, quotedOf(gate)), gate)
    }
    if (gate.verdict === 'priced_out') return this.#respond({ sale, reservation, closed: gate.problem })
    if (gate.verdict === 'seat_taken')
      return this.#respond(await this.#withOffer({ sale, reservation, gate }, gate.seats))
    if (gate.verdict === 'fenced' || gate.verdict === 'unknown') this.#deps.metrics.degraded.inc({ without: 'gate' })
    if (gate.verdict === 'unknown') return this.#recordExactly({ sale, reservation, gate })
    if (gate.verdict !== 'none' || gate.available > 0 || gate.held > 0)
      return this.#respond({ sale, reservation, gate })
    // While a unit returns, or right after a rebuild, the gate may count it nowhere: the ledger knows whether all are sold.
    const product = sale.products.find((p) => p.product_id === (gate.product ?? reservation.product))
    const latest = product && product.sold < forSale(product) ? await this.#latest(sale) : sale
    if (product) this.#soldOut.noteEmpty(latest, product.product_id)
    return this.#respond({ sale: latest, reservation, gate })
  }

  /** Looks up an existing order, before any refusal leaves. The ledger is read only where it alone can decide. */
  async #respond(attempt: Attempt): Promise<Outcome> {
    const existing = (await this.existing.byKey(attempt)) ?? (await this.existing.byVisitor(attempt))
    const outcome = outcomeOf(attempt, existing)
    if (!outcome) return this.#recordExactly(attempt)
    // The ledger has what it names.
    if (outcome.kind === 'processing' && !attempt.ledger)
      return (await this.#isSafe(outcome.reservation)) ? outcome : inDoubt()
    // The key returns this order from now on, whatever becomes of it.
    if (outcome.kind === 'live' && !outcome.replayed)
      await this.#gateOf(attempt.reservation)
        .rememberKey(attempt.reservation, outcome.order.order_id)
        .catch(() => {})
    return outcome
  }

  async #recordReserved(sale: SaleRow, r: Reservation, gate: Reserved): Promise<Outcome> {
    // Checking and taking the place is one step, so that simultaneous calls cannot exceed the maximum.
    if (!this.#pending.takePlace() && !(await this.#pending.takePlaceOnceCounted())) return this.#takeBack(r, false)
    const late = async () => ((await this.#isSafe(r)) ? processing(r) : inDoubt())
    return this.#inTime(r, this.#untilRecorded(sale, r, gate), late)
  }

  async #untilRecorded(sale: SaleRow, r: Reservation, gate: Reserved): Promise<Outcome> {
    try {
      const ledger = await this.#recorder.add(r.sale, r).catch((error: Error) => error)
      const isAnswered = this.#pending.end(r.order)
      if (ledger instanceof Error) {
        this.#deps.log.warn({ order: r.order, error: String(ledger) }, 'order not recorded; left to workers')
        if (!isAnswered && !(await this.#isSafe(r))) return await this.#takeBack(r, mayHaveCommitted(ledger))
        return this.#leaveToWorkers(r)
      }
      const attempt = { sale, reservation: r, gate, ledger }
      if (ledger.verdict === 'recorded') {
        this.#gateOf(r).intents.removeSoon(r.order)
        return outcomeOf(attempt)
      }
      // A buyer who was answered "processing" will ask for the order: a worker notes the refusal.
      if (isAnswered) return this.#leaveToWorkers(r)
      // A worker may have been faster.
      if (ledger.verdict === 'replay' && ledger.order === r.order) this.#gateOf(r).intents.removeSoon(r.order)
      else if (!(await this.#giveBack(r))) return this.#recordExactly({ ...attempt, gate: { verdict: 'unknown' } })
      return this.#afterRefusal(attempt)
    } finally {
      this.#pending.freePlace()
    }
  }

  #leaveToWorkers(r: Reservation): Outcome {
    this.#pending.leaveToWorkers(r.sale, this.#gateOf(r))
    return processing(r)
  }

  /** Gives back what cannot be promised, unless it may be an order by now: such an order expires if its buyer does not come. */
  async #takeBack(r: Reservation, mayBeOrder: boolean): Promise<Outcome> {
    if (!mayBeOrder && (await this.#giveBack(r))) return untaken()
    this.#leaveToWorkers(r)
    return inDoubt()
  }

  /** False if Redis may have missed it: the intent may be found later. */
  async #giveBack(r: Reservation): Promise<boolean> {
    try {
      await this.#gateOf(r).settle([refused(r)])
      return true
    } catch (error) {
      this.#deps.log.warn({ order: r.order, error: String(error) }, 'unit not given back; left to workers')
      return false
    }
  }

  /** True if the order will exist even if this process is lost, or the Redis that has its intent. */
  #isSafe(r: Reservation): Promise<boolean> {
    return this.#gateOf(r)
      .intents.isSafe(r.order)
      .catch((error) => {
        this.#deps.log.warn({ order: r.order, error: String(error) }, 'cannot promise an order')
        return false
      })
  }

  /** The exact gate alone, while the fast gate is fenced or does not know. */
  #recordExactly(attempt: Attempt): Promise<Outcome> {
    return this.#inTime(attempt.reservation, this.#untilHeard(attempt), inDoubt)
  }

  /**
   * A store that does not answer may have heard of the reservation, so neither yes nor no would be true: it is recorded again
   * until the ledger answers. A worker who finds its intent must not make an order that was refused, so refusals are noted.
   */
  async #untilHeard(attempt: Attempt): Promise<Outcome> {
    const { order, sale } = attempt.reservation
    const { sales, log } = this.#deps
    const untilMs = performance.now() + RETRY_FOR_MS
    let mayBeTaken = attempt.gate?.verdict === 'unknown'
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs *= 2) {
      // A ledger that was unresponsive before is sent no more than an attempt to connect.
      const wasUnresponsive = sales.isLedgerUnresponsive()
      const recorder = mayBeTaken ? this.#notingRecorder : this.#recorder
      const ledger = await recorder.add(sale, attempt.reservation).catch((error: Error) => error)
      if (!(ledger instanceof Error)) {
        this.#pending.end(order)
        return this.#afterExact({ ...attempt, ledger })
      }
      mayBeTaken ||= !wasUnresponsive && mayHaveCommitted(ledger)
      if (!mayBeTaken || performance.now() + pauseMs > untilMs) {
        this.#pending.end(order)
        if (!(ledger instanceof Overloaded)) log.error({ order, error: String(ledger) }, 'neither gate can serve')
        return mayBeTaken ? inDoubt() : untaken()
      }
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false })
    }
  }

  #afterExact(attempt: Attempt & { ledger: RecordVerdict }): Outcome | Promise<Outcome> {
    const { ledger } = attempt
    if (ledger.verdict !== 'recorded') return this.#afterRefusal(attempt)
    const r = withChosen(attempt.reservation, ledger.chosen ?? {})
    // Behind the response: a gate that is away reads it from the ledger.
    this.#gateOf(r)
      .adopt(r, ledger.reservedUntil.getTime())
      .catch(() => {})
    return outcomeOf({ ...attempt, reservation: r })
  }

  async #afterRefusal(attempt: Attempt & { ledger: RecordVerdict }): Promise<Outcome> {
    const { ledger, reservation: r } = attempt
    // The gate learns only here of orders from before Redis was emptied.
    if (ledger.verdict === 'unpaid')
      this.#gateOf(r)
        .learnUnpaid(r.visitor, ledger.unpaid)
        .catch(() => {})
    if (ledger.verdict === 'seat_taken') {
      // The gate took them for free: it learns, and what it chose is chosen again, from what the ledger has.
      if (ledger.seats)
        await this.#gateOf(r)
          .markTaken(ledger.seats)
          .catch(() => {})
      if (r.choice && !ledger.seats?.some(isNamed(r.choice))) return this.#chooseAgain(attempt)
      return this.#respond(await this.#withOffer(attempt, ledger.seats ?? []))
    }
    if (ledger.verdict === 'priced_out')
      return this.#respond({ sale: attempt.sale, reservation: r, closed: ledger.problem })
    if (ledger.verdict !== 'no_stock') return this.#respond(attempt)
    // Which refusal it is depends on how many units there are now.
    return this.#respond({ ...attempt, sale: await this.#latest(attempt.sale) })
  }

  /** Names the taken seats, and offers the nearest of their kind, held for nobody. */
  async #withOffer(attempt: Attempt, taken: readonly number[]): Promise<Attempt> {
    const { reservation: r } = attempt
    if (!r.choice) return attempt
    const { chart, wants } = r.choice
    const all = wants
      .filter(isPart)
      .flatMap(({ seats }) => seats ?? [])
      .flatMap((i) => chart.at(i) ?? [])
    const seats = taken.flatMap((i) => chart.at(i) ?? [])
    // Without Redis there is no offer; the answer is true without one.
    const offer = await this.#gateOf(r)
      .offers.of(chart, all, taken)
      .catch(() => null)
    return { ...attempt, taken: { seats, offer } }
  }

  /** By the exact gate, as a new order: the refused one may have been noted. */
  async #chooseAgain({ sale, reservation: { cart: _, ...r } }: Attempt): Promise<Outcome> {
    return this.#recordExactly({ sale, reservation: { ...r, order: randomUUIDv7() }, gate: { verdict: 'fenced' } })
  }

  /** The sale as the ledger has it now; as it was, while the ledger is away. */
  async #latest(sale: SaleRow): Promise<SaleRow> {
    const { sales } = this.#deps
    await sales.refresh().catch(() => {})
    return sales.get(sale.sale_id) ?? sale
  }

  /** The outcome; after as long as a person waits, what can be said by then. */
  #inTime(r: Reservation, outcome: Promise<Outcome>, late: () => Outcome | Promise<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#pending.begin(r, outcome, () => resolve(late()))
      outcome.then(resolve, reject)
    })
  }

  #gateOf(r: Reservation): Gate {
    return this.#deps.gates.of(r.sale)
  }

  /** Waits, within a bound, until no order is being recorded. */
  drain(): Promise<void> {
    return this.#pending.drain()
  }
}

type Buyer = Pick<Reservation, 'visitor' | 'line' | 'number' | 'contact' | 'networks'> & {
  /** What is missing or wrong in what the buyer says of themselves. */
  readonly errors?: readonly FieldError[]
}

const limited = new WeakMap<SaleRow, Record<string, number>>()

/** The products of a sale of which a visitor may have only so many, and the codes. */
function limitsOf(sale: SaleRow, codes: readonly PromoCodeRow[]): Readonly<Record<string, number>> {
  const limits = limited.get(sale) ?? limitsBy(sale.products.map((p) => [p.product_id, p.limit_per_visitor]))
  limited.set(sale, limits)
  return codes.length === 0
    ? limits
    : { ...limits, ...limitsBy(codes.map((code) => [usePromoCode(code.code).product, code.uses_per_visitor])) }
}

const limitsBy = (all: readonly (readonly [string, number | null])[]): Record<string, number> =>
  Object.fromEntries(all.flatMap(([id, limit]) => (limit === null ? [] : [[id, limit]])))

const SOLD_OUT: Outcome = refusal(soldOut())
