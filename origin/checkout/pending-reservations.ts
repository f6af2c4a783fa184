/**
 * Promises: reservations whose unit is taken, and which the ledger does not have yet. While it is slow or away their buyers
 * hear "processing": from then on there must come to be an order, whatever becomes of this process, since somebody will
 * ask for it. What a process may promise so is bounded, by what the workers record in their time. Only where neither store
 * may have heard of a reservation is it for this process to record it, for as long as it lives.
 */

import type { Reservation } from '../ledger/record.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Gate } from '../stock/gate.ts'
import type { Outcome } from './outcome.ts'

/** Unrecorded reservations one process may promise while the ledger is away. */
const MAX_PROMISES = 20_000
/** When there are so many, what workers have recorded of them is found out so often. */
const COUNT_AGAIN_MS = 1_000
/** How long the end of a process waits for what is on its way. */
const SETTLE_WITHIN_MS = 5_000

export class PendingReservations {
  /** Reservations of this process on their way into the ledger, with what they will come to. */
  readonly #underWay = new Map<
    string,
    { readonly reservation: Reservation; readonly outcome: Promise<Outcome> }
  >()
  /** Those of them whose buyers were told "processing". */
  readonly #told = new Set<string>()
  /** How many were left to the workers and are not known to be recorded, by gate. */
  readonly #leftBy = new Map<Gate, number>()
  #counting: Promise<void> | undefined

  /** A reservation sets out for the ledger. */
  begin(reservation: Reservation, outcome: Promise<Outcome>): void {
    this.#underWay.set(reservation.order, { reservation, outcome })
  }

  /** What a reservation will come to that is on its way. */
  outcomeOf(order: string): Promise<Outcome> | undefined {
    return this.#underWay.get(order)?.outcome
  }

  /** A reservation that is on its way. */
  reservationOf(order: string): Reservation | undefined {
    return this.#underWay.get(order)?.reservation
  }

  /** Notes that a buyer is told "processing"; false when the ledger has spoken meanwhile, and there is more to tell. */
  tell(order: string): boolean {
    if (!this.#underWay.has(order)) return false
    this.#told.add(order)
    return true
  }

  /** The ledger has spoken, or failed; true if the buyer was told "processing" and will ask for the order. */
  end(order: string): boolean {
    this.#underWay.delete(order)
    return this.#told.delete(order)
  }

  /** The intent stays in the gate's stream: a worker records it, or notes that it was refused. */
  leaveToWorkers(gate: Gate): void {
    this.#leftBy.set(gate, (this.#leftBy.get(gate) ?? 0) + 1)
  }

  /** True when no more may be promised, as far as is known. */
  areMany(): boolean {
    let unrecorded = this.#underWay.size
    for (const left of this.#leftBy.values()) unrecorded += left
    return unrecorded >= MAX_PROMISES
  }

  /** The same once those that workers have kept meanwhile are counted out. */
  async areStillMany(): Promise<boolean> {
    this.#counting ??= this.#countOut().finally(() =>
      setTimeout(() => {
        this.#counting = undefined
      }, COUNT_AGAIN_MS).unref(),
    )
    await this.#counting
    return this.areMany()
  }

  /** Of those left in a stream there cannot be more than wait in it. */
  async #countOut(): Promise<void> {
    for (const [gate, left] of [...this.#leftBy]) {
      const waiting = await gate.countIntents().catch(() => left)
      const gone = Math.max(0, left - waiting)
      this.#leftBy.set(gate, (this.#leftBy.get(gate) ?? 0) - gone)
    }
  }

  /** Waits, within a bound, until nothing is on its way any more. */
  async settled(): Promise<void> {
    await withTimeout(
      Promise.allSettled([...this.#underWay.values()].map(({ outcome }) => outcome)),
      SETTLE_WITHIN_MS,
    ).catch(() => {})
  }
}
