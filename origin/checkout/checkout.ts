/**
 * The checkout: one buyer's way through the two gates.
 *
 *     admit     the sale is open, and the request within its limit
 *     reserve   the fast gate (Redis) takes the units or says no, in one script call shared with others
 *     record    the exact gate (ledger) records the order, in one transaction shared with others
 *     respond   with the order; or with the one that exists already; or with a refusal
 *
 * Without Redis the exact gate serves alone. Without the ledger, units taken in Redis are answered with "processing"
 * once a replica has them too, where there is one, and a worker records the intent later (pending-reservations.ts).
 * What neither store is known to have is not promised: the response is try-again, and the same key makes one order at
 * most.
 */
import type { Logger } from 'pino'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { ProblemError } from '../../shared/problem.ts'
import { partsOf, seatsIn } from '../ledger/cart.ts'
import { mayHaveCommitted, type Sql } from '../ledger/connection.ts'
import type { Recorded, RecordVerdict } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Overloaded } from '../lib/batcher.ts'
import { machine, type Runtime, sleep } from '../lib/runtime.ts'
import type { SaleMemory } from '../sales/sale-memory.ts'
import { forSale } from '../sales/sale-state.ts'
import { type CheckoutReservation, isNamed, isPart, strandedBy } from '../seats/cart-choice.ts'
import type { Gate, Gates } from '../stock/gate/gate.ts'
import { type GateVerdict, quotedOf } from '../stock/gate/verdicts.ts'
import { askedOf, asksForSeats } from './cart/cart.ts'
import { limitsOf } from './cart/limits.ts'
import { needsPrice, quoteOf } from './cart/pricing.ts'
import { usableVouchers, type Voucher } from './cart/vouchers.ts'
import { endingOf, type InGate, type InLedger } from './ending.ts'
import { ExistingOrder } from './existing-order.ts'
import {
  type Attempt,
  closedFor,
  inDoubt,
  type Outcome,
  orderOfAnotherKey,
  outcomeOf,
  processing,
  refusal,
  soldOut,
  strands,
  untaken,
} from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'
import { type Recorder, type RecorderDeps, recorder, withChosen } from './recorder.ts'
import {
  type Buyer,
  type Context,
  type ContextDeps,
  contextOf,
  pricingOf,
  requestHash,
  withTotals,
  wrongIn,
} from './request-context.ts'
import { SoldOut } from './sold-out.ts'

/** The first pause before a reservation that a store may have received is recorded again: it doubles, with jitter. */
const FIRST_RETRY_MS = 50
/** The attempts end after this time, because the buyer waits no longer. */
const RETRY_FOR_MS = 2_000
/** How often the sum of an order is computed, which may change each time before it is recorded. */
const PRICINGS = 3

type VerdictOf<Name> = Extract<GateVerdict, { verdict: Name }>

interface CheckoutDeps extends RecorderDeps, ContextDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly memory: SaleMemory
  readonly log: Logger
}

export class Checkout {
  readonly #deps: CheckoutDeps
  readonly #runtime: Runtime
  readonly #pending: PendingReservations
  readonly #soldOut: SoldOut
  readonly #recorder: Recorder
  /** Notes refusals as cancelled orders, for reservations whose intents may be found later. */
  readonly #notingRecorder: Recorder
  readonly existing: ExistingOrder

  constructor(deps: CheckoutDeps, maxPending?: number) {
    const { sql, gates, sales, memory, log, runtime = machine } = deps
    this.#deps = deps
    this.#runtime = runtime
    this.#pending = new PendingReservations(memory, maxPending, runtime)
    this.#soldOut = new SoldOut(sql, sales, memory, log, runtime)
    this.#recorder = recorder(deps, false)
    this.#notingRecorder = recorder(deps, true)
    this.existing = new ExistingOrder({ sql, sales, gates, pending: this.#pending, runtime })
  }

  /** A refusal that needs no store promises nothing. */
  checkout(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string): Outcome | Promise<Outcome> {
    if (needsPrice(sale, request)) return this.#priced(sale, buyer, request, key)
    // The chart of the hall is needed only for seats, and stays in memory after the first request.
    return asksForSeats(request, sale)
      ? this.#deps.halls.of(sale).then((hall) => this.#begin(sale, buyer, request, key, { hall, presented: [] }))
      : this.#begin(sale, buyer, request, key, { hall: null, presented: [] })
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
        const goesTo = buyer.isBoxOffice ? sale.delivery : delivery
        sale = { ...sale, products, fees, tax, delivery: goesTo, terms_version, chart_version }
      } else return withTotals(outcome, sale, request, context)
    }
  }

  #begin(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string, { hall, presented }: Context) {
    const asked = askedOf(request, sale, hall?.chart ?? null)
    const { visitor, line, number, source, isBoxOffice, contact, networks, errors = [] } = buyer
    const wrong = wrongIn(sale, asked, errors, request)
    if ('type' in asked) return refusal(wrong ?? asked)
    if (wrong) return refusal(wrong)
    const { product, quantity, cart, choice } = asked
    const isPlain = !cart && !choice
    if (isPlain && quantity <= sale.limit_per_visitor && this.#soldOut.isFor(sale, product, visitor)) return SOLD_OUT
    const nowMs = this.#deps.sales.nowMs()
    const usable = usableVouchers(presented)
    const pricing = pricingOf(sale, request, hall, 'type' in usable ? [] : usable)
    const quote = choice || needsPrice(sale, request) ? quoteOf(pricing, request.total_minor, isPlain) : undefined
    const units = cart ?? (isPlain ? partsOf(asked) : undefined)
    const quoted = quote && units ? quote(units) : { ...(cart && { cart }) }
    const unsellable = 'type' in usable ? usable : 'type' in quoted ? quoted : undefined
    const reservation: CheckoutReservation = {
      order: this.#runtime.uuid(),
      sale: sale.sale_id,
      product,
      visitor,
      line,
      number,
      ...(source && { source }),
      ...(isBoxOffice && { isBoxOffice }),
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
    return hall?.refuseSingle && !isBoxOffice
      ? this.#reserveUnlessStranding(sale, reservation, pricing.vouchers)
      : this.#reserve(sale, reservation, pricing.vouchers)
  }

  /** Organisers may forbid to leave a single free seat behind. A repeated key still returns its order. */
  async #reserveUnlessStranding(
    sale: SaleRow,
    reservation: CheckoutReservation,
    vouchers: readonly Voucher[],
  ): Promise<Outcome> {
    const { choice } = reservation
    const bits = choice?.wants.some((want) => isPart(want) && want.seats)
      ? await this.#gateOf(reservation)
          .seats()
          .catch(() => null)
      : null
    const single = choice && bits ? strandedBy(choice, bits) : []
    return single.length > 0
      ? this.#respond({ sale, reservation, closed: strands(single) })
      : this.#reserve(sale, reservation, vouchers)
  }

  async #reserve(sale: SaleRow, reservation: CheckoutReservation, vouchers: readonly Voucher[]): Promise<Outcome> {
    // A gate that was away, or rebuilt meanwhile, does not know the key and would promise a second order.
    if (this.#pending.ofKey(reservation)) return this.#respond({ sale, reservation })
    let gate: GateVerdict
    try {
      const { hold_seconds, limit_per_visitor: limit } = sale
      const demand = this.#deps.arrivals.demand(sale)
      const demandForUses = vouchers.length > 0 ? this.#deps.arrivals.demandForUses(sale.sale_id) : 0
      const terms = { holdMs: hold_seconds * 1000, limit, demand, demandForUses, ...limitsOf(sale, vouchers) }
      gate = await this.#gateOf(reservation).reserve(reservation, terms)
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error
      return untaken('Too many people are checking out at this moment.')
    }
    switch (gate.verdict) {
      // The units are held: the ledger records the order.
      case 'reserved':
        return this.#recordReserved(sale, withChosen(reservation, quotedOf(gate)), gate)
      // The gate may hold the units: the ledger decides, and a worker who finds the intent learns what it said.
      case 'unknown':
        this.#deps.metrics.degraded.inc({ without: 'gate' })
        return this.#recordExactly({ sale, reservation, gate })
      // The gate holds nothing: the ledger decides, unless the order exists already.
      case 'fenced':
        this.#deps.metrics.degraded.inc({ without: 'gate' })
        return this.#respond({ sale, reservation, gate })
      // Refused: the seats cannot be sold so, or somebody else has one.
      case 'priced_out':
        return this.#respond({ sale, reservation, closed: gate.problem })
      case 'seat_taken':
        return this.#respond(await this.#withOffer({ sale, reservation, gate }, gate.seats))
      case 'none':
        return this.#refuseEmpty({ sale, reservation, gate }, gate)
      // Refused for what the visitor has; or the order of the key or of the visitor is the answer.
      case 'replay':
      case 'limit':
      case 'product_limit':
      case 'unpaid':
      case 'network_full':
        return this.#respond({ sale, reservation, gate })
    }
  }

  /** Refused for want of stock, unless the gate counts units that are coming back: then they may be had again. */
  async #refuseEmpty(attempt: Attempt, { available, held, product: named }: VerdictOf<'none'>): Promise<Outcome> {
    if (available > 0 || held > 0) return this.#respond(attempt)
    const { sale, reservation } = attempt
    // While a unit returns, or right after a rebuild, the gate may count it nowhere: the ledger knows whether all are
    // sold.
    const product = sale.products.find((p) => p.product_id === (named ?? reservation.product))
    const latest = product && product.sold < forSale(product) ? await this.#latest(sale) : sale
    if (product) this.#soldOut.noteEmpty(latest, product.product_id)
    return this.#respond({ ...attempt, sale: latest })
  }

  /** Looks up an existing order, before any refusal leaves. The ledger is read only where it alone can decide. */
  async #respond(attempt: Attempt): Promise<Outcome> {
    const existing = (await this.existing.byKey(attempt)) ?? (await this.existing.byVisitor(attempt))
    const decided = outcomeOf(attempt, existing)
    if (!decided) return this.#recordExactly(attempt)
    // If the ledger has responded, it has the reservation that the outcome names, and no promise is needed.
    const isPromise = decided.kind === 'processing' && !attempt.ledger
    const outcome = isPromise ? await this.#promised(decided, decided.reservation) : decided
    const { reservation: r } = attempt
    const other = orderOfAnotherKey(outcome, r.key)
    // The key returns this order from now on, whatever becomes of it.
    if (other !== undefined)
      await this.#gateOf(r)
        .rememberKey(r, other)
        .catch(() => {})
    return outcome
  }

  async #recordReserved(sale: SaleRow, r: CheckoutReservation, gate: VerdictOf<'reserved'>): Promise<Outcome> {
    const attempt = { sale, reservation: r, gate }
    // Checking and taking the place is one step, so that simultaneous calls cannot exceed the maximum.
    if (!this.#pending.takePlace() && !(await this.#pending.takePlaceOnceCounted()))
      return this.#withdraw(attempt, 'nothing')
    return this.#inTime(r, this.#untilRecorded(attempt), () => this.#promised(processing(r), r))
  }

  async #untilRecorded(reserved: Attempt): Promise<Outcome> {
    const { reservation: r } = reserved
    try {
      const ledger = await this.#recorder.add(r.sale, r).catch((error: Error) => error)
      const isAnswered = this.#pending.end(r.order)
      if (ledger instanceof Error) {
        this.#deps.log.warn({ order: r.order, error: String(ledger) }, 'order not recorded; left to workers')
        if (isAnswered || (await this.#promise(r))) return this.#leaveToWorkers(r)
        return await this.#withdraw(reserved, mayHaveCommitted(ledger) ? 'perhaps an order' : 'nothing')
      }
      const attempt = { ...reserved, ledger }
      // A worker may have recorded the reservation first.
      const isByWorker = ledger.verdict === 'replay' && ledger.order === r.order
      if (ledger.verdict !== 'recorded' && !isByWorker) return await this.#withdraw(attempt, 'refused')
      this.#gateOf(r).intents.removeSoon(r.order)
      return isByWorker ? await this.#afterRefusal(attempt) : outcomeOf(attempt)
    } finally {
      this.#pending.freePlace()
    }
  }

  /** A 202 response is sent only after the promise is stored. */
  #promised = async (outcome: Outcome, r: CheckoutReservation) => ((await this.#promise(r)) ? outcome : inDoubt())

  #leaveToWorkers(r: CheckoutReservation): Outcome {
    this.#pending.leaveToWorkers(r.sale, this.#gateOf(r))
    return processing(r)
  }

  /**
   * Ends an attempt whose units the gate has taken. What may be an order keeps them: it expires if its buyer does not
   * come.
   */
  async #withdraw(attempt: Attempt, ledger: InLedger): Promise<Outcome> {
    const { reservation: r } = attempt
    if (ledger === 'perhaps an order') return this.#end(attempt, 'unknown', ledger)
    const gate = await this.#gateOf(r)
      .giveBack(r)
      .catch((error): InGate => {
        this.#deps.log.warn({ order: r.order, error: String(error) }, 'unit not given back; left to workers')
        return 'unknown'
      })
    return this.#end(attempt, gate, ledger)
  }

  /** Ends an attempt that has not become an order: the only place from which a refusal of its intent leaves. */
  #end(attempt: Attempt, gate: InGate, ledger: InLedger): Outcome | Promise<Outcome> {
    const { reservation: r, ledger: verdict } = attempt
    switch (endingOf(gate, ledger)) {
      case 'final':
        return verdict ? this.#afterRefusal({ ...attempt, ledger: verdict }) : untaken()
      case 'note':
        return this.#recordExactly({ ...attempt, gate: { verdict: 'unknown' } })
      case 'processing':
        return this.#leaveToWorkers(r)
      case 'doubt':
        if (gate !== 'none') this.#leaveToWorkers(r)
        return inDoubt()
    }
  }

  /** True if the order will exist even if this process is lost, or the Redis that has its intent. */
  #promise(r: CheckoutReservation): Promise<boolean> {
    return this.#gateOf(r)
      .intents.promise(r.order)
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
   * A store that does not answer may have heard of the reservation, so neither yes nor no would be true: it is
   * recorded again until the ledger answers. A worker who finds its intent must not make an order that was refused,
   * so refusals are noted.
   */
  async #untilHeard(attempt: Attempt): Promise<Outcome> {
    const { order, sale } = attempt.reservation
    const untilMs = this.#runtime.monotonicMs() + RETRY_FOR_MS
    const inGate = attempt.gate?.verdict === 'unknown' ? 'unknown' : 'none'
    let inLedger: InLedger = 'nothing'
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs *= 2) {
      const isNoted = endingOf(inGate, inLedger) !== 'final'
      const recorder = isNoted ? this.#notingRecorder : this.#recorder
      const ledger = await recorder.add(sale, attempt.reservation).catch((error: Error) => error)
      if (!(ledger instanceof Error)) {
        this.#pending.end(order)
        const heard = { ...attempt, ledger }
        return ledger.verdict === 'recorded'
          ? this.#adopted(heard, ledger)
          : this.#end(heard, inGate, isNoted ? 'noted' : 'refused')
      }
      if (mayHaveCommitted(ledger)) inLedger = 'perhaps an order'
      if (endingOf(inGate, inLedger) === 'final' || this.#runtime.monotonicMs() + pauseMs > untilMs) {
        this.#pending.end(order)
        if (!(ledger instanceof Overloaded))
          this.#deps.log.error({ order, error: String(ledger) }, 'neither gate can serve')
        return this.#end(attempt, inGate, inLedger)
      }
      await sleep(this.#runtime, pauseMs * (0.5 + this.#runtime.random() / 2))
    }
  }

  #adopted(attempt: Attempt & { ledger: RecordVerdict }, { chosen = {}, reservedUntil }: Recorded): Outcome {
    const r = withChosen(attempt.reservation, chosen)
    // This runs after the response. A gate that is unreachable now reads the order from the ledger later.
    this.#gateOf(r)
      .adopt(r, reservedUntil.getTime())
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
      // The owner of the seats informs the gate. Seats that the gate chose are chosen again, from what the ledger has
      // free.
      if (r.choice && !ledger.seats?.some(isNamed(r.choice))) return this.#chooseAgain(attempt)
      // Which seats were taken is not known of a refusal that was noted for an earlier call.
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
    const { chart, wants } = assertExists(r.choice, 'Seats are taken from those who ask for seats.')
    const all = chart.seatsAt(seatsIn(wants.filter(isPart)))
    const seats = chart.seatsAt(taken)
    // If Redis is away, the response contains no offer of other seats, and is still correct.
    const offer = await this.#gateOf(r)
      .offers.of(chart, all, taken)
      .catch(() => null)
    return { ...attempt, taken: { seats, offer } }
  }

  /** Uses the exact gate and a new order id, because the refused order may have been recorded. */
  async #chooseAgain({ sale, reservation: { cart: _, ...r } }: Attempt): Promise<Outcome> {
    const reservation = { ...r, order: this.#runtime.uuid() }
    return this.#recordExactly({ sale, reservation, gate: { verdict: 'fenced' } })
  }

  /** The sale as the ledger has it now; as it was, while the ledger is away. */
  async #latest(sale: SaleRow): Promise<SaleRow> {
    const { sales } = this.#deps
    await sales.refresh().catch(() => {})
    return sales.get(sale.sale_id) ?? sale
  }

  /** The outcome; after as long as a person waits, what can be said by then. */
  #inTime(r: CheckoutReservation, outcome: Promise<Outcome>, late: () => Outcome | Promise<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#pending.begin(r, outcome, () => resolve(late()))
      outcome.then(resolve, reject)
    })
  }

  #gateOf(r: CheckoutReservation): Gate {
    return this.#deps.gates.of(r.sale)
  }

  /** Waits, within a bound, until no order is being recorded. */
  drain(): Promise<void> {
    return this.#pending.drain()
  }
}

const SOLD_OUT: Outcome = refusal(soldOut())
