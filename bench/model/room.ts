/** The coordinator of the model, with the real controller. */

import { nextSchedule, REFRESH_EVERY_MS } from '../../edge/queue/controller.ts'
import { Block, LEASE_MS } from '../../edge/queue/lease.ts'
import { EMPTY_MEMORY, type Memory, observe } from '../../edge/queue/memory.ts'
import { ANNOUNCE_MS, announce, inEffect, latest, type Timeline } from '../../edge/queue/timeline.ts'
import { stateOf } from '../../edge/testing/simulation.ts'
import { sampleSchedule } from '../lib/sample-schedule.ts'
import { PerSecond, type Scenario } from './scenario.ts'
import type { Shop } from './shop.ts'

/** The Worker's defaults. */
const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 1.2, noShowBoost: 2, answerTargetMs: 500 }
const SEED = '5e'.repeat(32)

export class Room {
  readonly calls = new PerSecond()
  readonly writes = new PerSecond()
  timeline: Timeline
  #next = 1
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

  lease(count: number, nowMs: number): Block {
    this.calls.add(nowMs, 1)
    this.writes.add(nowMs, 1)
    const first = this.#next
    this.#next += count
    return new Block({ id: 1, first, count, lives_ms: LEASE_MS, lapses_in_ms: null }, nowMs, nowMs)
  }

  isOver(nowMs: number): boolean {
    return inEffect(this.timeline, nowMs).phase === 'sold_out'
  }

  /** Refreshes the origin's state once a second, and announces the schedule that follows from it. */
  turn(nowMs: number): void {
    if (nowMs < 0 || nowMs - this.#refreshedAtMs < REFRESH_EVERY_MS) return
    this.#refreshedAtMs = nowMs
    // The record and the next alarm: each is charged as a row.
    this.writes.add(nowMs, 2)
    this.#size ??= this.highest
    const { rate } = this.#s
    const { available, held, sold, arrivals } = this.#shop
    const stock = { available, held, sold, arrivals: Math.floor(arrivals), waiting_for_stock: 0 }
    const arrived_lately = this.#shop.lately.splice(0)
    const state = { ...stateOf({ rate, maxInside: null }, stock, 'ok'), arrived_lately }
    const before = inEffect(this.timeline, nowMs)
    this.#memory = observe(this.#memory, { nowMs, state, schedule: before, highestNumber: this.highest }, SETTINGS)
    const previous = latest(this.timeline)
    const fromMs = Math.max(nowMs + ANNOUNCE_MS, Number.isFinite(previous.from_ms) ? previous.from_ms : 0)
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
