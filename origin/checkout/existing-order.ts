/**
 * The existing order that a checkout is answered with when it makes none: by its key, or by a visitor who has all
 * they may. It may be in the ledger, wait as an intent, or be in progress in this process.
 */

import type { Sql } from '../ledger/connection.ts'
import { findByKeys, findOrders, type OrderView } from '../ledger/order-statements.ts'
import { Batcher } from '../lib/batcher.ts'
import { type Runtime, sleep } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Sales } from '../sales/sales.ts'
import type { CheckoutReservation } from '../seats/cart-choice.ts'
import type { Gates } from '../stock/gate/gate.ts'
import type { KnownKey } from '../stock/gate/verdicts.ts'
import type { Attempt, Existing } from './outcome.ts'
import type { PendingReservations } from './pending-reservations.ts'

/** Keys or orders looked up in one statement, and callers who may wait for one. */
const LOOK_UPS = { size: 500, queue: 5_000 }
/** The pause between two look-ups of orders. Most of them are for buyers whose order is being paid, who can wait. */
const PAUSE_MS = 10
/** How long a call waits for an order to be found. */
const FIND_TIMEOUT_MS = 2_000

interface ExistingOrderDeps {
  readonly sql: Sql
  readonly sales: Sales
  readonly gates: Gates
  readonly pending: PendingReservations
  readonly runtime: Runtime
}

export class ExistingOrder {
  readonly #deps: ExistingOrderDeps
  /**
   * The answer of most callers is "sold out", which must cost very little: one statement looks up the keys of many
   * callers.
   */
  readonly #lookUps: Batcher<CheckoutReservation, string | null>
  /**
   * One statement also looks up many orders: of visitors who have reached their limit, and of those who read their
   * own.
   */
  readonly #orders: Batcher<string, OrderView | undefined>

  constructor(deps: ExistingOrderDeps) {
    this.#deps = deps
    const find = async (ids: readonly string[]) => {
      const found = await findOrders(deps.sql, [...new Set(ids)])
      const byId = new Map(found.map((order) => [order.order_id, order]))
      return ids.map((id) => byId.get(id))
    }
    this.#orders = new Batcher({ ...LOOK_UPS, pauseMs: PAUSE_MS }, find, deps.runtime)
    this.#lookUps = new Batcher(LOOK_UPS, (batch) => findByKeys(deps.sql, batch), deps.runtime)
  }

  /**
   * The order of the call's key, as far as the gates have not said that there is none: a key is answered as it was
   * the first time, also when the sale is over, or when the ledger is away.
   */
  async byKey({ reservation: r, gate, ledger }: Attempt): Promise<Existing | undefined> {
    if (ledger) return ledger.verdict === 'replay' ? this.#load('key', r, ledger.order) : undefined
    const known = gate?.verdict === 'replay' ? gate : !gate && this.#deps.pending.ofKey(r)
    if (known) {
      const found = await this.#loadKnown(r, known)
      // The ledger may have taken another call of the key alone: a worker will refuse the intent of this one.
      const isWaiting = typeof found === 'object' && 'found' in found && !('status' in found.found)
      return (isWaiting && (await this.#keyInLedger(r))) || (found ?? 'unreadable')
    }
    // The next step records the reservation, and so asks the ledger anyway.
    if (gate?.verdict === 'fenced') return this.#keyInGate(r)
    const inLedger = await this.#keyInLedger(r)
    // A gate that was asked does not know the key, and a gate in use knows those of all orders.
    if (inLedger || gate) return inLedger ?? undefined
    const itsGate = this.#deps.gates.of(r.sale)
    const inGate = await itsGate.findKey(r)
    const found = inGate && (await this.#loadKnown(r, inGate))
    if (found || inLedger === undefined) return found
    return !inGate && (await itsGate.isOpen([]).catch(() => false)) ? undefined : 'unreadable'
  }

  /** The order that the gates name for a visitor whose limit is used up. */
  async byVisitor({ sale, reservation: r, gate, ledger }: Attempt): Promise<Existing | undefined> {
    if (ledger?.verdict === 'limit')
      return ledger.order !== null && ledger.units >= sale.limit_per_visitor
        ? this.#load('visitor', r, ledger.order)
        : undefined
    if (ledger || gate?.verdict !== 'limit') return undefined
    const existing = await this.#load('visitor', r, gate.order)
    return existing ?? (this.#deps.sales.isLedgerUnresponsive() ? 'unreadable' : undefined)
  }

  /**
   * An order, or its reservation while it is not recorded; undefined if neither store has it. An intent is removed
   * only once it is in the ledger, so the ledger is asked first and last. Fails if that cannot be known.
   */
  async byId(saleId: string, orderId: string): Promise<OrderView | CheckoutReservation | undefined> {
    const { sales, gates, pending } = this.#deps
    const recorded = () => this.#inTime(this.#orders.add(orderId))
    const known = sales.isLedgerUnresponsive() ? null : await recorded().catch(() => null)
    const found = known ?? pending.get(orderId)?.reservation ?? (await gates.of(saleId).intents.find(orderId))
    if (found) return found
    if (known === null) throw new Error('the ledger does not answer')
    return recorded()
  }

  /** Null if the ledger does not answer. */
  async #keyInLedger(r: CheckoutReservation): Promise<Existing | undefined | null> {
    if (this.#deps.sales.isLedgerUnresponsive()) return null
    const orderId = await this.#inTime(this.#lookUps.add(r)).catch(() => undefined)
    if (orderId === undefined) return null
    return orderId === null ? undefined : ((await this.#load('key', r, orderId)) ?? 'unreadable')
  }

  /** A key that was answered and is not in the ledger: its order waits as an intent, or is another key's. */
  async #keyInGate(r: CheckoutReservation): Promise<Existing | undefined> {
    const known = await this.#deps.gates.of(r.sale).findKey(r)
    return known && this.#loadKnown(r, known)
  }

  async #loadKnown(r: CheckoutReservation, { order, hash }: KnownKey): Promise<Existing | undefined> {
    return hash === r.hash ? this.#load('key', r, order) : 'reused'
  }

  /** The order of this id, if it is the visitor's and still answers the call. */
  async #load(by: 'key' | 'visitor', r: CheckoutReservation, orderId: string): Promise<Existing | undefined> {
    const untilMs = this.#deps.runtime.monotonicMs() + FIND_TIMEOUT_MS
    const inProgress = this.#deps.pending.get(orderId)
    const outcome = inProgress && (await this.#inTime(inProgress.outcome).catch(() => undefined))
    // It made no order. That is the response to its own key, and to no other.
    if (outcome?.kind === 'problem' || outcome?.kind === 'live') return by === 'key' ? { by, outcome } : undefined
    const here = outcome && ('order' in outcome ? outcome.order : outcome.reservation)
    const found = here ?? (await this.#untilRecorded(r.sale, orderId, untilMs))
    if (found?.visitor !== r.visitor) return undefined
    // A refusal, noted for a buyer who was answered "processing": the key may have another order.
    if (by === 'key' && 'status' in found && found.idempotency_key === `${r.key} ${orderId}`)
      return (await this.#keyInLedger(r)) ?? undefined
    return { by, found }
  }

  /** Looks several times until the wait ends, because another process may be recording the order right now. */
  async #untilRecorded(saleId: string, orderId: string, untilMs: number) {
    const { runtime } = this.#deps
    for (let pauseMs = 10; ; pauseMs *= 2) {
      const found = await this.byId(saleId, orderId).catch(() => undefined)
      const isLast = this.#deps.sales.isLedgerUnresponsive() || runtime.monotonicMs() + pauseMs > untilMs
      if (!found || 'status' in found || isLast) return found
      await sleep(runtime, pauseMs * (0.5 + runtime.random() / 2))
    }
  }

  #inTime<T>(found: Promise<T>): Promise<T> {
    return withTimeout(found, FIND_TIMEOUT_MS, this.#deps.runtime)
  }
}
