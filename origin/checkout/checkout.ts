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
import { hash, randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { FieldError, Problem } from '../../shared/problem.ts'
import { mayHaveCommitted, type Queryable, type Sql } from '../ledger/connection.ts'
import { isBoxOffice, type Quoted, type RecordVerdict, type Reservation, record } from '../ledger/record.ts'
import type { WarmConnections } from '../ledger/warm-connections.ts'
import { BatcherByKey, Overloaded } from '../lib/batcher.ts'
import type { Metrics } from '../metrics.ts'
import { type AskedCode, clashOf, isValidAt, unknownCode } from '../promo-codes/promo-code.ts'
import type { PromoCodeRow } from '../promo-codes/promo-code-queries.ts'
import type { PromoCodes } from '../promo-codes/promo-codes.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { forSale } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { bitsOf } from '../seats/bits.ts'
import { chooseCart, isNamed, isPart } from '../seats/cart-choice.ts'
import type { Chart } from '../seats/chart.ts'
import { stranded } from '../seats/choice.ts'
import { Free } from '../seats/free.ts'
import type { Hall, Halls } from '../seats/halls.ts'
import { takenSeats } from '../seats/seat-queries.ts'
import { partsOf } from '../stock/cart.ts'
import { type Gate, type Gates, type GateVerdict, quotedOf, refused } from '../stock/gate.ts'
import { type Asked, askedOf, asksForSeats, invalid, mustAccept } from './cart.ts'
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
import { needsPrice, type Pricing, priceOf, quoteOf } from './pricing.ts'
import { SoldOut } from './sold-out.ts'

/** Orders in one transaction: enough to pay for the commit many times over, few enough to hold the row briefly. */
const RECORD_BATCH = 500
/** Reservations waiting for the ledger; more get try-again, and keep their place. */
const RECORD_QUEUE = 5_000
/** A reservation that a store may have received is recorded again after this pause, which doubles (jittered) .. */
const FIRST_RETRY_MS = 50
/** .. for as long as a buyer waits. */
const RETRY_FOR_MS = 2_000
/** How often the sum of an order is computed, which may change each time before it is recorded. */
const PRICINGS = 3

type Reserved = Extract<GateVerdict, { verdict: 'reserved' }>
type Recorder = BatcherByKey<Reservation, RecordVerdict>

interface CheckoutDeps {
  readonly sql: Sql
  /** Connections for recording orders. */
  readonly warm: WarmConnections
  readonly gates: Gates
  readonly sales: Sales
  readonly halls: Halls
  readonly promoCodes: PromoCodes
  readonly arrivals: Pick<Arrivals, 'demand'>
  readonly metrics: Metrics
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
    const { sql, gates, sales, log } = deps
    this.#deps = deps
    this.#pending = new PendingReservations(maxPending)
    this.#soldOut = new SoldOut(sql, sales, log)
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
      const context = await this.#contextOf(sale, request).catch(() => null)
      if (!context) return untaken()
      const outcome = await this.#begin(sale, buyer, request, key, context)
      if (outcome.kind !== 'problem') return outcome
      if (outcome.problem.type === '/problems/price-changed' && pricing < PRICINGS) {
        const { products, fees, tax, delivery, terms_version, chart_version } = await this.#latest(sale)
        const goesTo = isBoxOffice(buyer.visitor) ? sale.delivery : delivery
        sale = { ...sale, products, fees, tax, delivery: goesTo, terms_version, chart_version }
      } else return withTotals(outcome, sale, request, context)
    }
  }

  /** What it takes to read a request, and to compute what it costs. Fails as the ledger does. */
  async #contextOf(sale: SaleRow, request: CheckoutRequest): Promise<Context> {
    const { halls, promoCodes } = this.#deps
    const [hall, codes] = await Promise.all([
      asksForSeats(request, sale) ? halls.of(sale) : null,
      promoCodes.find(sale, namedCodes(request)),
    ])
    return { hall, codes }
  }

  #begin(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string, { hall, codes }: Context) {
    const asked = askedOf(request, sale, hall?.chart ?? null)
    const wrong = wrongIn(sale, asked, buyer, request)
    if ('type' in asked) return refusal(wrong ?? asked)
    if (wrong) return refusal(wrong)
    const { visitor, line, number, contact } = buyer
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
    let gate: GateVerdict
    try {
      const { hold_seconds, limit_per_visitor: limit } = sale
      const demand = this.#deps.arrivals.demand(sale)
      const terms = { holdMs: hold_seconds * 1000, limit, demand, limits: withLimitsOf(codes, limitsOf(sale)) }
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
    this.#pending.leaveToWorkers(this.#gateOf(r))
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

type Buyer = Pick<Reservation, 'visitor' | 'line' | 'number' | 'contact'> & {
  /** What is missing or wrong in what the buyer says of themselves. */
  readonly errors?: readonly FieldError[]
}

/** What was read for a request: the hall, if it asks for seats, and the promo codes that it names. */
interface Context {
  readonly hall: Hall | null
  readonly codes: readonly AskedCode[]
}

const namedCodes = ({ promo_code: named = [] }: CheckoutRequest) => (typeof named === 'string' ? [named] : named)

/** All that is wrong in a request, at once. */
function wrongIn(
  sale: SaleRow,
  asked: Asked | Problem,
  { errors: ofBuyer = [] }: Buyer,
  request: CheckoutRequest,
): Problem | undefined {
  const ofCart = 'type' in asked ? (asked.errors ?? []) : []
  if ('type' in asked && asked.type !== '/problems/invalid-fields') return asked
  const isUnaccepted = !('type' in asked) && mustAccept(sale, asked, request)
  if (ofCart.length === 0 && ofBuyer.length === 0 && !isUnaccepted) return undefined
  const ofTerms = isUnaccepted ? [{ field: 'accept', detail: 'the terms must be accepted: "terms"' }] : []
  return invalid([...ofCart, ...ofTerms, ...ofBuyer])
}

/** The codes that may be used now, or why one may not. */
function usableCodes(codes: readonly AskedCode[], nowMs: number): readonly PromoCodeRow[] | Problem {
  if (codes.length === 0) return []
  const wrong = codes.find(({ row }) => !row || !isValidAt(row, nowMs))
  return (wrong ? unknownCode(wrong.code) : clashOf(codes)) ?? codes.flatMap(({ row }) => row ?? [])
}

const pricingOf = (
  sale: SaleRow,
  { delivery }: CheckoutRequest,
  hall: Hall | null,
  codes: readonly PromoCodeRow[],
): Pricing => ({ sale, codes, chart: hall?.chart ?? null, country: delivery?.country })

/** A refusal for its price with the new one; and one of a code, with what it costs without. Seats not chosen have no price. */
function withTotals(outcome: Outcome, sale: SaleRow, request: CheckoutRequest, { hall, codes }: Context): Outcome {
  if (outcome.kind !== 'problem') return outcome
  const { type, promo_code, total_minor } = outcome.problem
  const isWithout = type === '/problems/promo-code-used-up'
  if (!isWithout && (type !== '/problems/price-changed' || total_minor !== undefined)) return outcome
  const asked = askedOf(request, sale, hall?.chart ?? null)
  if ('type' in asked || (asked.choice && !asked.cart)) return outcome
  const left = codes.flatMap(({ code, row }) => (row && !(isWithout && code === promo_code) ? row : []))
  const price = priceOf(pricingOf(sale, request, hall, left), partsOf(asked))
  return 'type' in price ? outcome : { ...outcome, problem: { ...outcome.problem, ...price.totals } }
}

const withChosen = (r: Reservation, quoted: Quoted): Reservation =>
  quoted.cart ? { ...r, ...quoted, product: quoted.cart[0]?.product ?? r.product } : r

const withLimitsOf = (codes: readonly PromoCodeRow[], limits: Readonly<Record<string, number>>) => {
  if (codes.length === 0) return limits
  const ofCodes = codes.flatMap(({ code, uses_per_visitor: most }) => (most === null ? [] : [[`%${code}`, most]]))
  return { ...limits, ...Object.fromEntries(ofCodes) }
}

const limited = new WeakMap<SaleRow, Record<string, number>>()

/** The products of a sale of which a visitor may have only so many. */
function limitsOf(sale: SaleRow): Readonly<Record<string, number>> {
  const known = limited.get(sale)
  if (known) return known
  const limits = Object.fromEntries(
    sale.products.flatMap(({ product_id, limit_per_visitor: limit }) => (limit === null ? [] : [[product_id, limit]])),
  )
  limited.set(sale, limits)
  return limits
}

/** Chooses seats for those whose carts have none yet, from what the ledger has free. */
async function chosen(
  sql: Queryable,
  saleId: string,
  batch: readonly Reservation[],
): Promise<readonly (Reservation | Problem)[]> {
  if (!batch.some(({ choice, cart }) => choice && !cart)) return batch
  const taken = bitsOf(await takenSeats(sql, saleId))
  const frees = new Map<Chart, Free>()
  return batch.map((r) => {
    if (!r.choice || r.cart) return r
    const { chart } = r.choice
    const free = frees.get(chart) ?? new Free(chart, taken)
    frees.set(chart, free)
    const cart = chooseCart(r.choice, free)
    const quoted = r.quote && cart.length > 0 ? r.quote(cart) : { cart }
    return 'type' in quoted ? quoted : withChosen(r, quoted)
  })
}

/** Chooses and records. What cannot be sold at the price of its seats the ledger is not asked for. */
async function recordChosen(
  sql: Queryable,
  saleId: string,
  batch: readonly Reservation[],
  noteRefusals: boolean,
  demand: readonly number[],
): Promise<RecordVerdict[]> {
  const all = await chosen(sql, saleId, batch)
  if (all === batch) return record(sql, saleId, batch, noteRefusals, demand)
  const sellable = all.flatMap((one) => ('type' in one ? [] : one))
  const recorded = (sellable.length > 0 ? await record(sql, saleId, sellable, noteRefusals, demand) : []).values()
  return all.map((one): RecordVerdict => {
    if ('type' in one) return { verdict: 'priced_out', problem: one }
    const verdict = recorded.next().value
    if (!verdict) throw new Error('a reservation has no verdict')
    return verdict.verdict === 'recorded' ? { ...verdict, chosen: quotedOf(one) } : verdict
  })
}

/** Records reservations in batches. A sale's batches follow each other: those who would wait join a larger one instead. */
function recorder({ warm, sales, arrivals, metrics }: CheckoutDeps, noteRefusals: boolean): Recorder {
  return new BatcherByKey({ size: RECORD_BATCH, queue: RECORD_QUEUE }, async (sale, batch) => {
    metrics.recordSize.observe(batch.length)
    const done = metrics.recordSeconds.startTimer()
    try {
      const row = sales.get(sale)
      const demand = row ? arrivals.demand(row) : []
      const verdicts = await warm.use((sql) => recordChosen(sql, sale, batch, noteRefusals, demand))
      const recorded = verdicts.filter(({ verdict }) => verdict === 'recorded').length
      if (recorded > 0) metrics.orders.inc({ sale, status: 'reserved' }, recorded)
      return verdicts
    } finally {
      done()
    }
  })
}

/** Of what was sent only, because an operator may change the rest: which product comes first, for instance. */
function requestHash(request: CheckoutRequest): string {
  const { lines, product_id = null, quantity = 1, payment_method = null, contact, ...others } = request
  const asked = lines ? [lines] : [product_id, quantity]
  const { promo_code, delivery, accept, total_minor } = others
  const more = Object.keys(others).length > 0 ? [{ promo_code, delivery, accept, total_minor }] : []
  const sent = JSON.stringify([...asked, payment_method, ...(contact ? [contact.email] : []), ...more])
  // Not remembered: addresses differ, and are personal data.
  if (contact || delivery || lines) return hash('sha256', sent, 'base64url')
  const known = hashes.get(sent)
  if (known !== undefined) return known
  const hashed = hash('sha256', sent, 'base64url')
  hashes.set(sent, hashed)
  return hashed
}

/** Most requests of a sale are alike. */
const hashes = new RecentMap<string, string>(100)

const SOLD_OUT: Outcome = refusal(soldOut())
