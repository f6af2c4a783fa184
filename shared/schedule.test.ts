import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  calledAtMs,
  type Phase,
  type Place,
  placeOf,
  pollAfterMs,
  pollMaxMs,
  type Schedule,
  serving,
  servingExactly,
} from './schedule.ts'

const NOON = Date.parse('2026-11-27T12:00:00Z')

const schedule = (changes: Partial<Schedule> = {}): Schedule => ({
  ...{ sale: 'demo', version: 1, phase: 'open' as const, server_time_ms: NOON, next_read_ms: 8_000 },
  ...{ anchor_at_ms: NOON, anchor_position: 0, rate_per_second: 2_000, ceiling: 1_000_000, missed_through: 0 },
  ...{ draw_commitment: '00'.repeat(32), draw_seed: '00'.repeat(32), draw_beacon: null, beacon_announced: false },
  ...{ pre_queue_size: 0, pre_queue_opens_at: '2026-11-27T11:00:00Z', pre_queue_opens_at_ms: NOON - 3_600_000 },
  ...{ opens_at: '2026-11-27T12:00:00Z', ends_at: null, ends_at_ms: null, products: [], lasts_for_positions: null },
  ...{ announcement: null, feed_version: 0, pause_reason: null },
  ...changes,
})

const line = fc.record({
  anchor_at_ms: fc.integer({ min: NOON - 1e9, max: NOON + 1e9 }),
  anchor_position: fc.double({ min: 0, max: 1e9, noNaN: true }),
  rate_per_second: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1e5, noNaN: true })),
  ceiling: fc.oneof(fc.integer({ min: 0, max: 2e9 }), fc.constant(Number.MAX_SAFE_INTEGER)),
})
const moment = fc.integer({ min: NOON - 1e9, max: NOON + 2e9 })

describe('serving', () => {
  it('moves at the rate from the anchor', () => {
    expect(serving(schedule(), NOON)).toBe(0)
    expect(serving(schedule(), NOON + 1_000)).toBe(2_000)
    expect(serving(schedule(), NOON + 1_500)).toBe(3_000)
    expect(serving(schedule(), NOON - 60_000)).toBe(0)
  })

  it('never moves back, and never past the ceiling unless the anchor is beyond it', () => {
    fc.assert(
      fc.property(line, moment, moment, (someLine, a, b) => {
        const [earlier, later] = [Math.min(a, b), Math.max(a, b)]
        expect(servingExactly(someLine, later)).toBeGreaterThanOrEqual(servingExactly(someLine, earlier))
        expect(servingExactly(someLine, later)).toBeLessThanOrEqual(
          Math.max(someLine.ceiling, someLine.anchor_position),
        )
      }),
    )
  })

  it('reaches a position at calledAtMs, and not before', () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 1e9 }), (someLine, position) => {
        const at = calledAtMs(someLine, position)
        if (!Number.isFinite(at) || position <= someLine.anchor_position) return
        expect(servingExactly(someLine, at + 1)).toBeGreaterThanOrEqual(position - 1e-3)
        if (at - 1 > someLine.anchor_at_ms) expect(servingExactly(someLine, at - 1)).toBeLessThan(position)
      }),
    )
  })
})

describe('a place in line', () => {
  it("matches the contract's example", () => {
    const now = NOON + 1_000.5
    const place = placeOf(schedule(), 4_012, now)
    const numbers = { now_serving: 2_001, position_in_queue: 2_011, estimated_wait_time: 1 }
    expect(place).toMatchObject({ status: 'waiting', ...numbers })
    expect(pollAfterMs(place, 0.5)).toBe(1_200)
  })

  it('has no position before the draw', () => {
    const before = schedule({ phase: 'pre_queue', draw_seed: null, pre_queue_size: 9_000 })
    const nowhere = { position: null, position_in_queue: null, now_serving: 0 }
    const place = placeOf(before, 17, NOON - 90_000)
    expect(place).toEqual({ status: 'pre_queue', ...nowhere, estimated_wait_time: 90 })
  })

  it.each<[Phase, string]>([
    ['open', 'waiting'],
    ['paused', 'paused'],
    ['all_in_carts', 'all_in_carts'],
    ['sold_out', 'sold_out'],
    ['ended', 'ended'],
  ])('of a sale that is %s is %s', (phase, status) => {
    expect(placeOf(schedule({ phase }), 5_000, NOON).status).toBe(status)
  })

  it('stays ready while the line stands still', () => {
    for (const phase of ['open', 'paused', 'all_in_carts'] as const) {
      const place = placeOf(schedule({ phase, anchor_position: 10, rate_per_second: 0 }), 10, NOON)
      expect(place).toMatchObject({ status: 'ready', position_in_queue: 0, estimated_wait_time: 0 })
    }
  })

  it('is missed when it was not claimed in time', () => {
    expect(placeOf(schedule({ anchor_position: 100, missed_through: 50 }), 50, NOON).status).toBe('missed_turn')
    expect(placeOf(schedule({ anchor_position: 100, missed_through: 50 }), 51, NOON).status).toBe('ready')
  })

  it('has no estimate while the ceiling holds the line back', () => {
    const held = schedule({ anchor_position: 100, ceiling: 100 })
    expect(placeOf(held, 500, NOON + 9_000)).toMatchObject({ position_in_queue: 400, estimated_wait_time: null })
  })

  it('is consistent: ready exactly when nobody is ahead, else now_serving + position_in_queue = position', () => {
    const [numbers, sizes] = [fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 1e5 })]
    fc.assert(
      fc.property(line, numbers, sizes, moment, (l, number, size, now) => {
        const place = placeOf(schedule({ ...l, pre_queue_size: size }), number, now)
        if (place.status === 'ready') expect(place.position_in_queue).toBe(0)
        else expect(place.now_serving + (place.position_in_queue ?? 0)).toBe(place.position)
      }),
    )
  })
})

describe('polling', () => {
  const place = (seconds: number | null, ahead = 0) => ({
    status: 'waiting' as const,
    position: 1 + ahead,
    position_in_queue: 1 + ahead,
    now_serving: 0,
    estimated_wait_time: seconds,
  })

  const polledMs = (at: Place, random: number, claimSeconds = 180) =>
    Math.min(pollMaxMs(claimSeconds), pollAfterMs(at, random))

  it('misses no turn that comes at once and can be claimed for a short time', () => {
    const pollMs = [null, 30, 3_600].map((seconds) => polledMs(place(seconds, 999_999), 0.5, 15))
    expect(pollMs).toEqual([10_000, 10_000, 10_000])
  })

  it('takes from a second to two minutes, longer the further away the turn', () => {
    const waits = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }))
    fc.assert(
      fc.property(waits, fc.double({ min: 0, max: 0.999999, noNaN: true }), (wait, random) => {
        const ms = polledMs(place(wait), random)
        expect(ms).toBeGreaterThanOrEqual(750)
        expect(ms).toBeLessThanOrEqual(120_000)
      }),
    )
  })

  it('is frequent near the front of a line that stands still, and rarer the further back', () => {
    const pollMs = [0, 999, 9_999, 99_999, 999_999].map((ahead) => polledMs(place(null, ahead), 0.5))
    expect(pollMs).toEqual([5_000, 5_000, 15_811, 50_000, 120_000])
    const means = [1, 10, 60, 300].map((seconds) => pollAfterMs(place(seconds), 0.5))
    expect(means).toEqual([...means].sort((a, b) => a - b))
  })

  it('waits for the draw before the opening, and asks only whether it was put forward', () => {
    const lobby = (seconds: number) => ({ ...place(seconds), status: 'pre_queue' as const, position: null })
    expect([0, 5, 90, 400].map((seconds) => polledMs(lobby(seconds), 0.5))).toEqual([1_800, 6_800, 91_800, 120_000])
  })
})
