/**
 * Reservations whose unit is taken and which the ledger does not have yet. Their buyers are answered "processing" and will
 * ask for the order, so it must come to exist whatever becomes of this process. Their number is bounded.
 */
import type { Reservation } from '../ledger/record.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Gate } from '../stock/gate.ts'
import type { Outcome } from './outcome.ts'

/** Unrecorded reservations of one process while the ledger is away. */
const MAX_PENDING = 20_000
/** At the maximum, the intents that workers have not recorded yet are counted this often. */
const COUNT_EVERY_MS = 1_000
/** How long the end of a process waits for reservations in progress. */
const DRAIN_TIMEOUT_MS = 5_000

interface InProgress {
  readonly reservation: Reservation
  readonly outcome: Promise<Outcome>
}

export class PendingReservations {
  /** Reservations that this process is recording. */
  readonly #inProgress = new Map<string, InProgress>()
  /** Those of them whose buyers were answered "processing". */
  readonly #answered = new Set<string>()
  /** How many were left to the workers and are not known to be recorded, by gate. */
  readonly #leftBy = new Map<Gate, number>()
  #counting: Promise<void> | undefined

  begin(reservation: Reservation, outcome: Promise<Outcome>): void {
    this.#inProgress.set(reservation.order, { reservation, outcome })
  }

  /** A reservation in progress, with its coming outcome. */
  get(order: string): InProgress | undefined {
    return this.#inProgress.get(order)
  }

  /** Notes that the buyer is answered "processing"; false if the ledger has answered meanwhile. */
  answerProcessing(order: string): boolean {
    if (!this.#inProgress.has(order)) return false
    this.#answered.add(order)
    return true
  }

  /** The ledger has answered or failed; true if the buyer was answered "processing" and will ask for the order. */
  end(order: string): boolean {
    this.#inProgress.delete(order)
    return this.#answered.delete(order)
  }

  /** The intent stays in the gate's stream. */
  leaveToWorkers(gate: Gate): void {
    this.#leftBy.set(gate, (this.#leftBy.get(gate) ?? 0) + 1)
  }

  /** True at the maximum, as far as is known. */
  isFull(): boolean {
    let unrecorded = this.#inProgress.size
    for (const left of this.#leftBy.values()) unrecorded += left
    return unrecorded >= MAX_PENDING
  }

  /** The same, without the intents that workers have recorded meanwhile. */
  async isStillFull(): Promise<boolean> {
    this.#counting ??= this.#countOut().finally(() =>
      setTimeout(() => {
        this.#counting = undefined
      }, COUNT_EVERY_MS).unref(),
    )
    await this.#counting
    return this.isFull()
  }

  /** Of those left in a stream, there cannot be more unrecorded than wait in it. */
  async #countOut(): Promise<void> {
    for (const [gate, left] of [...this.#leftBy]) {
      const waiting = await gate.countIntents().catch(() => left)
      const gone = Math.max(0, left - waiting)
      this.#leftBy.set(gate, (this.#leftBy.get(gate) ?? 0) - gone)
    }
  }

  /** Waits, within a bound, until no reservation is in progress. */
  async drain(): Promise<void> {
    const outcomes = Array.from(this.#inProgress.values(), ({ outcome }) => outcome)
    await withTimeout(Promise.allSettled(outcomes), DRAIN_TIMEOUT_MS).catch(() => {})
  }
}
