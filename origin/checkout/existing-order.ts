/**
 * The order that stands for a call that makes none: the first one under its key, or the live one of a visitor whose limit is
 * used up. It may be in the ledger, wait in the stream, or be on its way at this very moment.
 */
import { isLive } from '../../shared/order-status.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { findByKeys, findOrder, type OrderView } from '../ledger/orders.ts'
import type { Reservation } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sales.ts'
import { Batcher } from '../lib/batcher.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { available, remainingIn, type Sales } from '../sales/sales.ts'
import type { KnownKey } from '../stock/gate.ts'
import type { Gates } from '../stock/gates.ts'
import { noStock, type Outcome, overLimit, processing, refusal, tooMany, unreadable } from './outcome.ts'
import type { PendingReservations } from './pending-reservations.ts'

/** Keys looked for in one statement, and callers who may wait for one. */
const LOOK_UPS = { size: 500, queue: 5_000 }
/** How long a call waits for what can be found. */
const FOUND_WITHIN_MS = 2_000

interface StandingDeps {
  readonly sql: Sql
  readonly sales: Sales
  readonly promises: PendingReservations
  readonly gates: Gates
}

export class ExistingOrder {
  readonly #deps: StandingDeps
  constructor(deps: StandingDeps) {
    this.#deps = deps
  }

  /** A key answers as it did the first time, also when the sale is over by now, or the gate was rebuilt and forgot it. */
  async underKey(sale: SaleRow, r: Reservation): Promise<Outcome | undefined> {
    if (this.#deps.sales.isLedgerUnresponsive()) return undefined
    const known = await withTimeout(this.#lookUps.add(r), FOUND_WITHIN_MS).catch(() => null)
    if (known === null) return undefined
    const remaining = remainingIn(sale, r.product)
    return (await this.of(sale, r, known, 'replay', remaining)) ?? unreadable()
  }

  /** Looks for the orders of many keys in one statement: most who ask hear "sold out", and it must cost next to nothing. */
  readonly #lookUps = new Batcher<Reservation, string | null>(LOOK_UPS, (batch) =>
    findByKeys(this.#deps.sql, batch),
  )

  /** A key that the ledger does not know, though it was answered: its order waits in the stream, or is another key's. */
  async underKeyInGate(sale: SaleRow, r: Reservation): Promise<Outcome | undefined> {
    const known = await this.#deps.gates.of(r.sale, r.product).findKey(r)
    return known && this.replay(sale, r, known, remainingIn(sale, r.product))
  }

  /** The gate knows the key. */
  async replay(
    sale: SaleRow,
    r: Reservation,
    known: KnownKey,
    remaining: number,
  ): Promise<Outcome | undefined> {
    if (known.hash !== r.hash) return refusal(problem('idempotency-key-reused'))
    return this.of(sale, r, known.order, 'replay', remaining)
  }

  /**
   * Another order stands for this call: the first one under its key, or the visitor's live one. Undefined when nobody
   * has it, or when it stands for nothing any more.
   */
  async of(
    sale: SaleRow,
    r: Reservation,
    order: string,
    why: 'replay' | 'limit',
    remaining: number,
  ): Promise<Outcome | undefined> {
    const untilMs = performance.now() + FOUND_WITHIN_MS
    const underWay = this.#deps.promises.outcomeOf(order)
    const outcome = underWay && (await withTimeout(underWay, FOUND_WITHIN_MS).catch(() => undefined))
    // What it came to is the answer to its key, and to no other.
    if (outcome?.kind === 'problem') return why === 'replay' ? outcome : undefined
    if (outcome?.kind === 'live') return why === 'replay' ? { ...outcome, replayed: true } : undefined
    const told = outcome?.kind === 'recorded' ? outcome.order : outcome?.reservation
    const found = told ?? (await this.#recordedOrWaiting(r.sale, order, untilMs))
    if (found?.visitor !== r.visitor) return undefined
    const recorded = 'status' in found
    if (why === 'limit') {
      if (!recorded) return processing(found)
      return isLive(found.status) ? { kind: 'live', order: found, replayed: false, remaining } : undefined
    }
    // This very call's, when a worker or another attempt was faster than the answer.
    const replayed = order !== r.order
    if (recorded && found.idempotency_key === `${r.key} ${order}`) {
      if (!replayed && found.reason === 'no_stock') return this.noStockNow(r)
      if (!replayed && found.reason === 'limit') return refusal(overLimit(sale))
      if (!replayed && found.reason === 'too_many') return refusal(tooMany())
      // Noted, for who was told to ask for it: the key is another order's, or free, as the gate hears in a moment.
      return this.underKey(sale, r)
    }
    // A key that was remembered; what was asked for by it, the gate has compared.
    if (recorded && found.idempotency_key !== r.key)
      return { kind: 'live', order: found, replayed: true, remaining }
    if ((recorded ? found.request_hash : found.hash) !== r.hash)
      return refusal(problem('idempotency-key-reused'))
    if (!recorded) return { kind: 'processing', reservation: found, replayed }
    return { kind: 'recorded', order: found, replayed, remaining }
  }

  /** An order that another process may be recording at this very moment: asked for a few times, within the wait. */
  async #recordedOrWaiting(
    sale: string,
    order: string,
    untilMs: number,
  ): Promise<OrderView | Reservation | undefined> {
    for (let pauseMs = 10; ; pauseMs *= 2) {
      const found = await this.find(sale, order).catch(() => undefined)
      if (
        !found ||
        'status' in found ||
        this.#deps.sales.isLedgerUnresponsive() ||
        performance.now() + pauseMs > untilMs
      )
        return found
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)))
    }
  }

  /** A key that is answered with the visitor's live order hears of that again, whatever has become of it by then. */
  async remembered(r: Reservation, outcome: Outcome): Promise<Outcome> {
    if (outcome.kind === 'live')
      await this.#deps.gates
        .of(r.sale, r.product)
        .rememberKey(r, outcome.order.order_id)
        .catch(() => {})
    return outcome
  }

  /**
   * An order, or its reservation while it is on its way from here, or waits in the stream; undefined when neither store has
   * it. It leaves the stream only once it is in the ledger, which is therefore asked first and last. Fails when that cannot
   * be known.
   */
  async find(sale: string, order: string): Promise<OrderView | Reservation | undefined> {
    const recorded = () => withTimeout(findOrder(this.#deps.sql, order), FOUND_WITHIN_MS)
    const known = this.#deps.sales.isLedgerUnresponsive() ? null : await recorded().catch(() => null)
    const found = known ?? this.#deps.promises.reservationOf(order) ?? (await this.#findIntent(sale, order))
    if (found) return found
    if (known === null) throw new Error('the ledger does not answer')
    return recorded()
  }

  /** A reservation that is in the stream and not in the ledger yet. */
  async #findIntent(sale: string, order: string): Promise<Reservation | undefined> {
    const products = this.#deps.sales.get(sale)?.products ?? []
    const looks = products.map(({ product_id }) => this.#deps.gates.of(sale, product_id).findIntent(order))
    return (await Promise.all(looks)).find((waiting) => waiting !== undefined)
  }

  /** There are not so many units: which answer that is depends on how many there are by now. */
  async noStockNow(r: Reservation): Promise<Outcome> {
    await this.#deps.sales.refresh().catch(() => {})
    const product = this.#deps.sales.get(r.sale)?.products.find((p) => p.product_id === r.product)
    if (!product) return refusal(problem('unknown-product'))
    return refusal(noStock(product, { available: available(product), held: product.held }, r.quantity))
  }
}
