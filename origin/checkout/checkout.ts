/**
 * The checkout: one buyer's way through the two gates, and what they are told at the end of it.
 *
 *     fast gate (Redis)   takes the unit or says no, in one script call shared with others
 *     exact gate (ledger) records the order, in one transaction shared with others; only then is anything promised
 *
 * Without Redis the exact gate serves alone. Without the ledger a unit taken in Redis is promised as `processing`, and
 * its intent waits in the stream until a worker has recorded it (promises.ts). Without both nothing can be promised.
 */
import { hash, randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { problem } from '../../shared/problem.ts'
import { ORDER_TOKEN_TTL_SECONDS } from '../../shared/tokens.ts'
import { isUnheard, type Sql } from '../ledger/connection.ts'
import { type Recorded, type RecordVerdict, type Reservation, record } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sales.ts'
import type { WarmConnections } from '../ledger/warm-connections.ts'
import { BatcherByKey, Overloaded } from '../lib/batcher.ts'
import type { Metrics } from '../lib/metrics.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { remainingIn, type Sales } from '../sales/sales.ts'
import { type Gate, type GateVerdict, refused, type Stock } from '../stock/gate.ts'
import type { Gates } from '../stock/gates.ts'
import { ExistingOrder } from './existing-order.ts'
import {
  closedFor,
  noStock,
  type Outcome,
  orderFrom,
  overLimit,
  processing,
  refusal,
  soldOut,
  tooMany,
  tryAgain,
  unreadable,
} from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'
import { SoldOut } from './sold-out.ts'

/** Orders in one transaction: enough to pay for the commit many times over, few enough to hold the row briefly. */
const RECORD_BATCH = 500
/** Reservations waiting for the ledger; more are told to try again, and keep their place. */
const RECORD_QUEUE = 5_000
/** How long an answer waits for the commit before it says "processing". */
const RECORD_WAIT_MS = 2_000
/** A ledger that was not heard is asked again after so long, and then each time after twice as long; jittered .. */
const ASK_AGAIN_MS = 50
/** .. and no longer than this, which is how late it may be found to be back .. */
const MAX_ASK_AGAIN_MS = 2_000
/** .. for as long as anybody can ask for the order. */
const ASKED_FOR_MS = ORDER_TOKEN_TTL_SECONDS * 1000

interface Buyer {
  readonly visitor: string
  readonly number: number
}

interface CheckoutDeps {
  readonly sql: Sql
  /** For recording orders. */
  readonly warm: WarmConnections
  readonly gates: Gates
  readonly sales: Sales
  readonly metrics: Metrics
  readonly log: Logger
}

export class Checkout {
  readonly #deps: CheckoutDeps
  readonly #promises = new PendingReservations()
  readonly #soldOut: SoldOut
  readonly standing: ExistingOrder

  constructor(deps: CheckoutDeps) {
    this.#deps = deps
    this.#soldOut = new SoldOut(deps)
    this.standing = new ExistingOrder({ ...deps, promises: this.#promises })
  }

  #gateOf(r: Reservation): Gate {
    return this.#deps.gates.of(r.sale, r.product)
  }

  async checkout(sale: SaleRow, buyer: Buyer, request: CheckoutRequest, key: string): Promise<Outcome> {
    const product = request.product_id
      ? sale.products.find((p) => p.product_id === request.product_id)
      : sale.products[0]
    if (!product) {
      const detail = `There is no product ${request.product_id} in this sale.`
      return refusal(problem('unknown-product', { detail, errors: [{ field: 'product_id', detail }] }))
    }
    const asked = { visitor: buyer.visitor, product: product.product_id }
    if (request.quantity <= sale.limit_per_visitor && this.#soldOut.isAllFor(asked, sale)) return SOLD_OUT
    const reservation: Reservation = {
      order: randomUUIDv7(),
      sale: sale.sale_id,
      ...asked,
      number: buyer.number,
      quantity: request.quantity,
      key,
      hash: requestHash(request),
      method: request.payment_method ?? null,
    }
    if (request.quantity > sale.limit_per_visitor)
      return (await this.standing.underKey(sale, reservation)) ?? refusal(overLimit(sale))
    const closed = closedFor(sale, this.#deps.sales.nowMs())
    if (closed)
      return (
        (await this.standing.underKey(sale, reservation)) ??
        (await this.standing.underKeyInGate(sale, reservation)) ??
        refusal(closed)
      )

    let answer: GateVerdict
    try {
      const terms = { holdMs: sale.hold_seconds * 1000, limit: sale.limit_per_visitor }
      answer = await this.#gateOf(reservation).reserve(reservation, terms)
    } catch (error) {
      if (error instanceof Overloaded)
        return refusal(tryAgain('Too many people are checking out at this moment.'))
      answer = { verdict: 'fenced' }
    }
    switch (answer.verdict) {
      case 'reserved':
        return this.#recordReserved(sale, reservation, answer)
      case 'replay':
        return (await this.standing.replay(sale, reservation, answer, answer.available)) ?? unreadable()
      case 'limit':
        return (await this.standing.underKey(sale, reservation)) ?? this.#atLimit(sale, reservation, answer)
      case 'none':
        if (answer.available === 0 && answer.held === 0) this.#soldOut.emptied(product.product_id, sale)
        return (
          (await this.standing.underKey(sale, reservation)) ??
          refusal(noStock(product, answer, request.quantity))
        )
      case 'fenced':
      case 'unknown':
        // The fast gate is out of use, or does not answer.
        this.#deps.metrics.degraded.inc({ without: 'gate' })
        if (answer.verdict === 'unknown') return this.#recordInDoubt(sale, reservation)
        return (
          (await this.standing.underKeyInGate(sale, reservation)) ?? this.#recordExactly(sale, reservation)
        )
    }
  }

  /**
   * The visitor has units, and wants more than they may have. The gate knows which order came last, not whether it still
   * lives, and what they have of this product, not of others: where that leaves room for doubt the exact gate knows more.
   */
  async #atLimit(
    sale: SaleRow,
    r: Reservation,
    { order, units, available }: { order: string; units: number } & Stock,
  ): Promise<Outcome> {
    const standing = await this.standing.of(sale, r, order, 'limit', available)
    if (standing && units >= sale.limit_per_visitor) return this.standing.remembered(r, standing)
    // What is not recorded yet, the gate alone has counted.
    if (standing?.kind === 'processing') return refusal(overLimit(sale, units))
    return this.#deps.sales.isLedgerUnresponsive() ? unreadable() : this.#recordExactly(sale, r)
  }

  /** A unit is taken in the fast gate: record it, and wait for that as long as a person would. */
  async #recordReserved(
    sale: SaleRow,
    r: Reservation,
    { entry, available }: { entry: string } & Stock,
  ): Promise<Outcome> {
    if (this.#promises.areMany() && (await this.#promises.areStillMany())) {
      return (await this.#giveBack(r, entry))
        ? refusal(tryAgain('Orders cannot be recorded at this moment.'))
        : this.#leaveToWorkers(r)
    }
    return this.#inTime(r, this.#untilRecorded(sale, r, entry, available))
  }

  #inTime(r: Reservation, outcome: Promise<Outcome>): Promise<Outcome> {
    this.#promises.begin(r, outcome)
    return withTimeout(outcome, RECORD_WAIT_MS).catch(() =>
      // Where there is a verdict already, what follows from it is on its way.
      this.#promises.tell(r.order) ? processing(r) : outcome,
    )
  }

  async #untilRecorded(sale: SaleRow, r: Reservation, entry: string, left: number): Promise<Outcome> {
    let verdict: RecordVerdict
    let told: boolean
    try {
      verdict = await this.#records.add(r.sale, r)
    } catch (error) {
      this.#deps.log.warn({ order: r.order, error: String(error) }, 'not recorded yet; its intent waits')
      return this.#leaveToWorkers(r)
    } finally {
      told = this.#promises.end(r.order)
    }
    if (verdict.verdict === 'recorded') {
      this.#gateOf(r).acknowledgeSoon(entry)
      return { kind: 'recorded', order: orderFrom(r, verdict), replayed: false, remaining: left }
    }
    // Whoever was told "processing" comes back for the order: the worker that finds its intent notes the refusal.
    if (told) return this.#leaveToWorkers(r)
    // A worker may have been first.
    if (verdict.verdict === 'replay' && verdict.order === r.order) this.#gateOf(r).acknowledgeSoon(entry)
    else if (!(await this.#giveBack(r, entry))) return this.#recordInDoubt(sale, r)
    return this.#afterRefusal(sale, r, verdict, left)
  }

  /** Leaves an intent to the workers, who record it or note that it was refused. */
  #leaveToWorkers(r: Reservation): Outcome {
    this.#promises.leaveToWorkers(this.#gateOf(r))
    return processing(r)
  }

  /** The exact gate alone, while the fast one is away or being rebuilt. */
  async #recordExactly(sale: SaleRow, r: Reservation): Promise<Outcome> {
    const wasSilent = this.#deps.sales.isLedgerUnresponsive()
    let verdict: RecordVerdict
    try {
      verdict = await this.#records.add(r.sale, r)
    } catch (error) {
      if (!(error instanceof Overloaded))
        this.#deps.log.error({ error: String(error) }, 'neither gate can serve')
      // To one that was silent before, no more than an attempt to connect was made.
      return !wasSilent && isUnheard(error as Error) ? this.#recordInDoubt(sale, r) : untaken()
    }
    return this.#afterVerdict(sale, r, verdict)
  }

  /**
   * Where a gate may have taken the unit unheard: a worker who finds the intent then must not make an order of it whose buyer
   * was told that there is none.
   */
  #recordInDoubt(sale: SaleRow, r: Reservation): Promise<Outcome> | Outcome {
    return this.#promises.areMany() ? untaken() : this.#inTime(r, this.#untilHeard(sale, r))
  }

  /**
   * The ledger may have made an order of it unheard, or a worker may yet, by its intent: neither yes nor no would be true.
   * To record it again tells which, since it is recorded once. Whoever has waited long enough hears "processing": that comes
   * true because this goes on, and would not if it were left to workers, who may have nothing to find.
   */
  async #untilHeard(sale: SaleRow, r: Reservation): Promise<Outcome> {
    const untilMs = performance.now() + ASKED_FOR_MS
    for (let pauseMs = ASK_AGAIN_MS; ; pauseMs = Math.min(MAX_ASK_AGAIN_MS, 2 * pauseMs)) {
      try {
        const verdict = await this.#noted.add(r.sale, r)
        this.#promises.end(r.order)
        return this.#afterVerdict(sale, r, verdict)
      } catch (error) {
        const about = { order: r.order, error: String(error) }
        if (pauseMs === ASK_AGAIN_MS)
          this.#deps.log.warn(about, 'not known whether recorded; it is tried again')
        if (performance.now() > untilMs) {
          this.#promises.end(r.order)
          this.#deps.log.error(about, 'a promised order was given up')
          return unreadable()
        }
      }
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false })
    }
  }

  #afterVerdict(sale: SaleRow, r: Reservation, verdict: RecordVerdict): Outcome | Promise<Outcome> {
    const remaining = remainingIn(sale, r.product)
    if (verdict.verdict === 'recorded') {
      // Behind the answer: a gate that is away reads it from the ledger.
      this.#gateOf(r)
        .adopt(r, verdict.reservedUntil.getTime())
        .catch(() => {})
      return { kind: 'recorded', order: orderFrom(r, verdict), replayed: false, remaining }
    }
    return this.#afterRefusal(sale, r, verdict, remaining)
  }

  async #afterRefusal(
    sale: SaleRow,
    r: Reservation,
    verdict: Exclude<RecordVerdict, Recorded>,
    left: number,
  ): Promise<Outcome> {
    switch (verdict.verdict) {
      case 'too_many':
        return refusal(tooMany())
      case 'no_stock':
        return this.standing.noStockNow(r)
      case 'limit':
        // Who may have some more has not used up their limit: no order stands for what they asked.
        if (verdict.order === null || verdict.units < sale.limit_per_visitor)
          return refusal(overLimit(sale, verdict.units))
        return this.standing.remembered(
          r,
          (await this.standing.of(sale, r, verdict.order, 'limit', left)) ?? unreadable(),
        )
      case 'replay':
        return (
          (await this.standing.of(sale, r, verdict.order, 'replay', left)) ??
          // This very call's is there, recorded by a worker, though it cannot be read.
          (verdict.order === r.order ? processing(r) : unreadable())
        )
    }
  }

  readonly #records = this.#recorder(false)
  /** The same for those whose intents may be found later: what they are refused is noted. */
  readonly #noted = this.#recorder(true)

  /** The ledger takes one batch of a sale after the other: those who would wait there travel in a larger one instead. */
  #recorder(noteRefusals: boolean): BatcherByKey<Reservation, RecordVerdict> {
    return new BatcherByKey({ size: RECORD_BATCH, queue: RECORD_QUEUE }, async (sale, batch) => {
      const { metrics, warm } = this.#deps
      metrics.recordSize.observe(batch.length)
      const done = metrics.recordSeconds.startTimer()
      try {
        const verdicts = await warm.use((sql) => record(sql, sale, batch, noteRefusals))
        const recorded = verdicts.filter(({ verdict }) => verdict === 'recorded').length
        if (recorded > 0) metrics.orders.inc({ sale, status: 'reserved' }, recorded)
        return verdicts
      } finally {
        done()
      }
    })
  }

  /** False where Redis may not have heard of it: the intent may be found later. */
  async #giveBack(r: Reservation, entry: string): Promise<boolean> {
    const gate = this.#gateOf(r)
    try {
      await gate.settle([refused(r)])
      await gate.acknowledge([entry])
      return true
    } catch (error) {
      this.#deps.log.warn({ order: r.order, error: String(error) }, 'unit not given back; a worker will')
      return false
    }
  }

  /** Waits, within a bound, until nothing is on its way into the ledger any more. */
  async drain(): Promise<void> {
    await this.#promises.settled()
  }
}

/** Of what was sent, and not of what an operator may change about it: which product comes first, for instance. */
function requestHash(request: CheckoutRequest): string {
  const asked = [request.product_id ?? null, request.quantity, request.payment_method ?? null]
  return hash('sha256', JSON.stringify(asked), 'base64url')
}

const SOLD_OUT = refusal(soldOut())

const untaken = () => refusal(tryAgain('Orders cannot be taken at this moment.'))
