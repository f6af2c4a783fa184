/**
 * What simulations of a queue stand on: the waiting room as the product keeps it, refreshed with invented states, and
 * a virtual clock for what happens later.
 */
import type { SaleState } from '../../shared/api/internal.ts'
import { type Schedule, servingExactly } from '../../shared/schedule.ts'
import type { Memory, Settings } from '../queue/pace/memory.ts'
import {
  closedIfDue,
  newRecord,
  type SaleRecord,
  withNextSchedule,
  withRefresh,
  withState,
} from '../queue/sale-record.ts'
import { inEffect, type Timeline } from '../queue/timeline.ts'

const SEED = '5e'.repeat(32)

export class SimulatedRoom {
  #sale: SaleRecord
  readonly #settings: Settings

  /**
   * The state is the first one that the room hears. `preQueue` is the number of visitors who are drawn: a pre-queue of
   * one leaves every number its position. Without it the opening closes the pre-queue at the highest number.
   */
  constructor(state: SaleState, nowMs: number, settings: Settings, preQueue?: number) {
    const sale = newRecord(state, { seed: SEED, beaconAnnounced: false }, { sentMs: nowMs, heardMs: nowMs })
    this.#sale = { ...sale, closed: preQueue === undefined ? null : { atMs: nowMs, size: preQueue } }
    this.#settings = settings
  }

  get timeline(): Timeline {
    return this.#sale.timeline
  }

  get memory(): Memory {
    return this.#sale.memory
  }

  /** The size of the pre-queue; 0 before it is closed. */
  get preQueueSize(): number {
    return this.#sale.closed?.size ?? 0
  }

  schedule(nowMs: number): Schedule {
    return inEffect(this.timeline, nowMs)
  }

  /** The last position that is called at a moment, with its fraction. */
  serving(nowMs: number): number {
    const schedule = this.schedule(nowMs)
    return schedule.draw_seed === null ? 0 : servingExactly(schedule, nowMs)
  }

  /** Refreshes the room with the origin's state, or without one if the origin does not respond. */
  refresh(state: SaleState | null, nowMs: number, highestNumber: number): void {
    const now = { nowMs, highestNumber }
    const known = state ? withState(this.#sale, state, { sentMs: nowMs, heardMs: nowMs }) : this.#sale
    const seen = withRefresh(closedIfDue(known, highestNumber, nowMs), { state, ...now }, this.#settings)
    this.#sale = withNextSchedule(seen, { ...now, isNew: false }, { ...this.#settings, beaconUrl: null })
  }
}

/** What happens later on a virtual clock, in steps of one tick. */
export class Agenda {
  readonly #tickMs: number
  readonly #due = new Map<number, (() => void)[]>()

  constructor(tickMs: number) {
    this.#tickMs = tickMs
  }

  at(ms: number, act: () => void): void {
    const tick = Math.ceil(ms / this.#tickMs)
    this.#due.set(tick, [...(this.#due.get(tick) ?? []), act])
  }

  /** Does all that is due at a tick, also what is added meanwhile for a later one. */
  run(ms: number): void {
    const tick = ms / this.#tickMs
    for (const act of this.#due.get(tick) ?? []) act()
    this.#due.delete(tick)
  }
}
