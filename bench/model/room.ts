/** The coordinator in the model, with the real controller. */
import { Grants, type Lease, type UnusedRange } from '../../edge/queue/numbers/lease.ts'
import { REFRESH_EVERY_MS } from '../../edge/queue/pace/controller.ts'
import type { Timeline } from '../../edge/queue/timeline.ts'
import { SimulatedRoom } from '../../edge/testing/simulated-room.ts'
import { stateOf } from '../../edge/testing/simulation.ts'
import type { Shop } from '../../shared/model/shop-model.ts'
import { Loads, PerSecond, type Scenario } from './scenario.ts'

/** The Worker's defaults. */
export const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 1.2, noShowBoost: 2, answerTargetMs: 300 }
/** The origin notifies the room of the end within this time. */
export const NOTIFIED_MS = 200

export class Room {
  readonly calls = new Loads(1)
  readonly writes = new PerSecond()
  #next = 1
  readonly #grants = new Grants()
  readonly #queue: SimulatedRoom
  #refreshedAtMs = Number.NEGATIVE_INFINITY
  readonly #s: Scenario
  readonly #shop: Shop

  /** The sale opens at 0; the pre-queue begins before. */
  constructor(s: Scenario, shop: Shop, beginMs: number) {
    this.#s = s
    this.#shop = shop
    const state = stateOf({ rate: s.rate, maxInside: null }, { available: s.stock })
    const beforeOpening = { pre_queue_opens_in_ms: 0, opens_in_ms: -beginMs, phase: 'upcoming' } as const
    this.#queue = new SimulatedRoom({ ...state, ...beforeOpening }, beginMs, SETTINGS)
  }

  get timeline(): Timeline {
    return this.#queue.timeline
  }

  get highest(): number {
    return this.#next - 1
  }

  lease(count: number, lives_ms: number, unused: UnusedRange | null, nowMs: number, isShared: boolean): Lease {
    if (!isShared) {
      this.calls.add(0, nowMs)
      this.writes.add(nowMs, 1)
    }
    if (unused) this.#takeBack(unused)
    const first = this.#next
    this.#next += count
    return { id: this.#grants.grant(first, count), first, count, lives_ms, lapses_in_ms: null }
  }

  takeBack(unused: UnusedRange, nowMs: number): void {
    this.calls.add(0, nowMs)
    this.#takeBack(unused)
  }

  /** A closed pre-queue keeps its numbers. */
  #takeBack(unused: UnusedRange): void {
    this.#next = Math.max(this.#grants.takeBack(unused, this.#next), this.#queue.preQueueSize + 1)
  }

  isOver(nowMs: number): boolean {
    return this.#queue.schedule(nowMs).phase === 'sold_out'
  }

  /** Refreshes the origin's state once a second, and announces the resulting schedule. */
  turn(nowMs: number): void {
    const { soldOutAtMs } = this.#shop
    const isNotified = soldOutAtMs !== null && this.#refreshedAtMs < soldOutAtMs && nowMs >= soldOutAtMs + NOTIFIED_MS
    if (nowMs < 0 || (nowMs - this.#refreshedAtMs < REFRESH_EVERY_MS && !isNotified)) return
    this.#refreshedAtMs = nowMs
    // The record and the next alarm are each charged as a row.
    this.writes.add(nowMs, 2)
    const { rate } = this.#s
    const { available, held, sold, arrivals } = this.#shop
    const stock = { available, held, sold, arrivals: Math.floor(arrivals), waiting_for_stock: 0 }
    const arrived_lately = this.#shop.lately.splice(0)
    const state = { ...stateOf({ rate, maxInside: null }, stock, 'ok'), arrived_lately }
    this.#queue.refresh(state, nowMs, this.highest)
  }
}
