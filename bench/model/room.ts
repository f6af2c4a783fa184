/** The coordinator of the model, with the real controller. */

import { nextSchedule, REFRESH_EVERY_MS } from '../../edge/queue/controller.ts'
import { Block, LEASE_MS } from '../../edge/queue/lease.ts'
import { EMPTY_MEMORY, type Memory, observe } from '../../edge/queue/memory.ts'
import { ANNOUNCE_MS, announce, inEffect, latest, type Timeline } from '../../edge/queue/timeline.ts'
import { stateOf } from '../../edge/testing/simulation.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { PerSecond } from './per-second.ts'
import type { Scenario } from './scenario.ts'
import type { Shop } from './shop.ts'

/** The Worker's defaults. */
const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 1.2, noShowBoost: 2 }
const SEED = '5e'.repeat(32)

export class Room {
  readonly calls = new PerSecond()
  readonly writes = new PerSecond()
  timeline: Timeline
  #next = 1
  #memory: Memory = { ...EMPTY_MEMORY, reached_at_ms: Number.MIN_SAFE_INTEGER }
  #size: number | null = null
  #lookedAtMs = Number.NEGATIVE_INFINITY
  readonly #s: Scenario
  readonly #shop: Shop

  constructor(s: Scenario, shop: Shop) {
    this.#s = s
    this.#shop = shop
    this.timeline = [{ from_ms: Number.NEGATIVE_INFINITY, schedule: lobby(s) }]
  }

  get highest(): number {
    return this.#next - 1
  }

  lease(count: number, nowMs: number): Block {
    this.calls.add(nowMs, 1)
    this.writes.add(nowMs, 1)
    const first = this.#next
    this.#next += count
    return new Block({ first, count, lives_ms: LEASE_MS, lapses_in_ms: null }, nowMs, nowMs)
  }

  isOver(nowMs: number): boolean {
    return inEffect(this.timeline, nowMs).phase === 'sold_out'
  }

  /** Looks at the origin once a second, and announces what follows from it. */
  turn(nowMs: number): void {
    if (nowMs < 0 || nowMs - this.#lookedAtMs < REFRESH_EVERY_MS) return
    this.#lookedAtMs = nowMs
    // The record, and the alarm for the next look: each is charged as a row.
    this.writes.add(nowMs, 2)
    this.#size ??= this.highest
    const { rate } = this.#s
    const { available, held, sold, arrivals } = this.#shop
    const stock = { available, held, sold, arrivals: Math.floor(arrivals), hopeful: 0 }
    const arrived_lately = this.#shop.lately.splice(0)
    const state = { ...stateOf({ rate, maxInside: null }, stock, 'ok'), arrived_lately }
    const before = inEffect(this.timeline, nowMs)
    this.#memory = observe(
      this.#memory,
      { nowMs, state, schedule: before, highestNumber: this.highest },
      SETTINGS,
    )
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
    if (schedule !== previous.schedule)
      this.timeline = announce(this.timeline, { from_ms: fromMs, schedule }, nowMs)
  }
}

function lobby(s: Scenario): Schedule {
  return {
    sale: 'model',
    version: 1,
    phase: 'pre_queue',
    anchor_at_ms: 0,
    anchor_position: 0,
    rate_per_second: s.rate,
    ceiling: 0,
    missed_through: 0,
    pre_queue_size: 0,
    draw_commitment: SEED,
    draw_seed: null,
    draw_beacon: null,
    pre_queue_opens_at: new Date(0).toISOString(),
    opens_at: new Date(0).toISOString(),
    ends_at: null,
    pre_queue_opens_at_ms: 0,
    ends_at_ms: null,
    server_time_ms: 0,
  }
}
