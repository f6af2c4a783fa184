/** The coordinator in the model, with the real controller. */
import { Grants, type Lease, type UnusedRange } from '../../edge/queue/numbers/lease.ts'
import { nextSchedule, REFRESH_EVERY_MS } from '../../edge/queue/pace/controller.ts'
import { EMPTY_MEMORY, type Memory, observe, ranMs } from '../../edge/queue/pace/memory.ts'
import { announce, inEffect, latest, nextFromMs, type Timeline } from '../../edge/queue/timeline.ts'
import { stateOf } from '../../edge/testing/simulation.ts'
import { sampleSchedule } from '../lib/sample-schedule.ts'
import { Loads, PerSecond, type Scenario } from './scenario.ts'
import type { Shop } from './shop.ts'

/** The Worker's defaults. */
export const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 1.2, noShowBoost: 2, answerTargetMs: 500 }
/** The origin notifies the room of the end within this time. */
export const NOTIFIED_MS = 200
const SEED = '5e'.repeat(32)

export class Room {
  readonly calls = new Loads(1)
  readonly writes = new PerSecond()
  timeline: Timeline
  #next = 1
  readonly #grants = new Grants()
  #memory: Memory = { ...EMPTY_MEMORY, reached_at_ms: Number.MIN_SAFE_INTEGER }
  #size: number | null = null
  #refreshedAtMs = Number.NEGATIVE_INFINITY
  readonly #s: Scenario
  readonly #shop: Shop

  constructor(s: Scenario, shop: Shop) {
    this.#s = s
    this.#shop = shop
    const schedule = sampleSchedule({
      phase: 'pre_queue',
      rate_per_second: s.rate,
      draw_seed: null,
      draw_commitment: SEED,
    })
    this.timeline = [{ from_ms: Number.NEGATIVE_INFINITY, schedule }]
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
    this.#next = Math.max(this.#grants.takeBack(unused, this.#next), (this.#size ?? 0) + 1)
  }

  isOver(nowMs: number): boolean {
    return inEffect(this.timeline, nowMs).phase === 'sold_out'
  }

  /** Refreshes the origin's state once a second, and announces the resulting schedule. */
  turn(nowMs: number): void {
    const { soldOutAtMs } = this.#shop
    const isNotified = soldOutAtMs !== null && this.#refreshedAtMs < soldOutAtMs && nowMs >= soldOutAtMs + NOTIFIED_MS
    if (nowMs < 0 || (nowMs - this.#refreshedAtMs < REFRESH_EVERY_MS && !isNotified)) return
    this.#refreshedAtMs = nowMs
    // The record and the next alarm are each charged as a row.
    this.writes.add(nowMs, 2)
    this.#size ??= this.highest
    const { rate } = this.#s
    const { available, held, sold, arrivals } = this.#shop
    const stock = { available, held, sold, arrivals: Math.floor(arrivals), waiting_for_stock: 0 }
    const arrived_lately = this.#shop.lately.splice(0)
    const state = { ...stateOf({ rate, maxInside: null }, stock, 'ok'), arrived_lately }
    const before = inEffect(this.timeline, nowMs)
    const ran = ranMs(this.timeline, this.#memory.polled_at_ms, nowMs)
    const seen = { nowMs, state, schedule: before, highestNumber: this.highest, ranMs: ran }
    this.#memory = observe(this.#memory, seen, SETTINGS)
    const previous = latest(this.timeline)
    const fromMs = nextFromMs(previous, state.phase, nowMs)
    const schedule = nextSchedule(
      {
        nowMs,
        fromMs,
        previous: previous.schedule,
        state,
        memory: this.#memory,
        highestNumber: this.highest,
        preQueueOpensAtMs: Number.MIN_SAFE_INTEGER,
        opensAtMs: 0,
        endsAtMs: null,
        draw: { size: this.#size, seed: SEED, beacon: null },
      },
      SETTINGS,
    )
    if (schedule !== previous.schedule) this.timeline = announce(this.timeline, { from_ms: fromMs, schedule }, nowMs)
  }
}
