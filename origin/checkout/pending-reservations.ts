/**
 * Reservations that this process is recording, and those in Redis that the ledger does not have yet. Buyers answered
 * with "processing" will ask for the order, so it must come to exist whatever becomes of this process. Their number
 * is bounded.
 */

import { machine, type Runtime } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import type { CheckoutReservation } from '../seats/cart-choice.ts'
import type { Gate } from '../stock/gate/gate.ts'
import type { Outcome } from './outcome.ts'

/** The time that a response waits for the commit. */
const RECORD_TIMEOUT_MS = 2_000
/** The wait may be longer by up to this time, because one timer checks all responses. */
const LATE_CHECK_MS = 50
/**
 * The limit of unrecorded reservations of one process while the ledger is away. Workers have to record them later.
 */
const MAX_PENDING = 20_000
/** At the maximum, the intents that workers have not recorded yet are counted this often. */
const COUNT_EVERY_MS = 1_000
/** How long the end of a process waits for reservations in progress. */
const DRAIN_TIMEOUT_MS = 5_000

interface InProgress {
  readonly reservation: CheckoutReservation
  readonly outcome: Promise<Outcome>
  readonly answerLate: () => void
  readonly beganMs: number
}

export class PendingReservations {
  readonly #max: number
  readonly #runtime: Runtime
  /** Reservations that this process is recording and whose buyers wait for it, the oldest first. */
  readonly #inProgress = new Map<string, InProgress>()
  /** Reservations whose buyers were answered before the recording ended. */
  readonly #answered = new Map<string, InProgress>()
  /** The same reservations by idempotency key, because the buyers' pages repeat their calls. */
  readonly #answeredByKey = new Map<string, CheckoutReservation>()
  #isChecking = false
  /** Reservations of the fast gate that this process is recording. */
  #places = 0
  /** How many were left to the workers and are not known to be recorded. */
  readonly #left: PerSale<{ readonly gate: Gate; orders: number }>
  #counting: Promise<void> | undefined

  constructor(memory: SaleMemory, max = MAX_PENDING, runtime = machine) {
    this.#left = memory.map('left to workers')
    this.#max = max
    this.#runtime = runtime
  }

  /** Calls `answerLate` if the reservation has not ended in time. */
  begin(reservation: CheckoutReservation, outcome: Promise<Outcome>, answerLate: () => void): void {
    this.#inProgress.set(reservation.order, { reservation, outcome, answerLate, beganMs: this.#runtime.monotonicMs() })
    this.#checkSoon()
  }

  /** One timer checks all responses, and none while nobody waits. */
  #checkSoon(): void {
    if (this.#isChecking || this.#inProgress.size === 0) return
    this.#isChecking = true
    this.#runtime.after(LATE_CHECK_MS, () => {
      this.#answerLate()
      this.#isChecking = false
      this.#checkSoon()
    })
  }

  #answerLate(): void {
    const beforeMs = this.#runtime.monotonicMs() - RECORD_TIMEOUT_MS
    for (const [order, late] of this.#inProgress) {
      if (late.beganMs > beforeMs) break
      this.#inProgress.delete(order)
      this.#answered.set(order, late)
      this.#answeredByKey.set(keyOf(late.reservation), late.reservation)
      late.answerLate()
    }
  }

  /** A reservation in progress, with its coming outcome. */
  get(order: string): InProgress | undefined {
    return this.#inProgress.get(order) ?? this.#answered.get(order)
  }

  /** An earlier reservation of this key that is still being recorded, though its buyer was answered. */
  ofKey(again: Keyed): CheckoutReservation | undefined {
    return this.#answeredByKey.size > 0 ? this.#answeredByKey.get(keyOf(again)) : undefined
  }

  /** The ledger has answered or failed; true if the buyer was answered before, and may ask for the order. */
  end(order: string): boolean {
    if (this.#inProgress.delete(order)) return false
    const answered = this.#answered.get(order)
    if (answered) this.#answeredByKey.delete(keyOf(answered.reservation))
    return this.#answered.delete(order)
  }

  /** Takes a place for a reservation that is to be recorded; false at the maximum. `freePlace` ends it. */
  takePlace(): boolean {
    let taken = this.#places
    for (const { orders } of this.#left.values()) taken += orders
    if (taken >= this.#max) return false
    this.#places++
    return true
  }

  /** The same, once the intents that workers have recorded meanwhile are counted out. */
  async takePlaceOnceCounted(): Promise<boolean> {
    this.#counting ??= this.#countOut().finally(() => {
      this.#runtime.after(COUNT_EVERY_MS, () => {
        this.#counting = undefined
      })
    })
    await this.#counting
    return this.takePlace()
  }

  /** The reservation is recorded, refused, given back, or left to the workers. */
  freePlace(): void {
    this.#places--
  }

  /** The intent stays in the gate's hash of intents, and counts until a worker has recorded it. */
  leaveToWorkers(saleId: string, gate: Gate): void {
    this.#left.getOrAdd(saleId, () => ({ gate, orders: 0 })).orders++
  }

  /** The unrecorded reservations of a sale cannot outnumber the intents that wait in its hash. */
  async #countOut(): Promise<void> {
    for (const left of [...this.#left.values()]) {
      const { orders } = left
      const waiting = await left.gate.intents.count().catch(() => orders)
      left.orders -= Math.max(0, orders - waiting)
    }
  }

  /** Waits, within a bound, until no reservation is in progress. */
  async drain(): Promise<void> {
    const outcomes = [...this.#inProgress.values(), ...this.#answered.values()].map(({ outcome }) => outcome)
    await withTimeout(Promise.allSettled(outcomes), DRAIN_TIMEOUT_MS, this.#runtime).catch(() => {})
  }
}

type Keyed = Pick<CheckoutReservation, 'sale' | 'visitor' | 'key'>
const keyOf = ({ sale, visitor, key }: Keyed) => JSON.stringify([sale, visitor, key])
