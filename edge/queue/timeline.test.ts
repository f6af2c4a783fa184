import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SaleState } from '../../shared/api/internal.ts'
import { type Schedule, servingExactly } from '../../shared/schedule.ts'
import { SimulatedRoom } from '../testing/simulated-room.ts'
import { beforeOpening, SETTINGS, stateOf } from '../testing/simulation.ts'
import { LAPSE_MS } from './numbers/lease.ts'
import { ANNOUNCE_MS, FRESH_MS, inEffect, MIRROR_MS, nextFromMs, type Timeline, USABLE_MS } from './timeline.ts'

const CROWD = 100_000

/** The position served, for an isolate that read `timeline`. */
function servedBy(timeline: Timeline, atMs: number): number {
  const schedule: Schedule = inEffect(timeline, atMs)
  return schedule.draw_seed === null ? 0 : servingExactly(schedule, atMs)
}

it('lets no two isolates contradict each other, however old their copies', () => {
  const change = fc.record({
    afterMs: fc.integer({ min: 1, max: 900 }),
    rate: fc.constantFrom(1, 20, 100, 750),
    phase: fc.constantFrom<SaleState['phase']>('open', 'open', 'open', 'paused', 'all_in_carts', 'sold_out'),
    available: fc.constantFrom(0, 3, 50_000),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 2, maxLength: 30, size: 'max' }), (changes) => {
      let nowMs = 1_000_000
      // A pre-queue of one leaves every number its position.
      const room = new SimulatedRoom(stateOf({ rate: 100, maxInside: null }, { available: 50_000 }), nowMs, SETTINGS, 1)
      const read: { atMs: number; timeline: Timeline }[] = []
      for (const { afterMs, rate, phase, available } of changes) {
        nowMs += afterMs
        const state = { ...stateOf({ rate, maxInside: null }, { available }), phase }
        room.refresh(state, nowMs, CROWD)
        read.push({ atMs: nowMs, timeline: room.timeline })
      }
      let before = 0
      for (let atMs = 1_000_000; atMs < nowMs; atMs += 37) {
        // Any isolate that read it at most ANNOUNCE_MS ago may answer.
        const served = read
          .filter((one) => one.atMs <= atMs && atMs <= one.atMs + ANNOUNCE_MS)
          .map((one) => servedBy(one.timeline, atMs))
        for (const position of served) {
          expect(position).toBeCloseTo(served[0] ?? 0, 6)
          expect(position).toBeGreaterThanOrEqual(before - 1e-6)
        }
        before = Math.max(before, ...served)
      }
    }),
    { numRuns: 100 },
  )
})

it('ends a line that stands at once, and one that moves as announced', () => {
  const from = { from_ms: 0, schedule: { ...beforeOpening(100), draw_seed: '00', rate_per_second: 0 } }
  expect(nextFromMs(from, 'sold_out', 1_000)).toBe(1_000)
  expect(nextFromMs({ ...from, from_ms: 1_300 }, 'ended', 1_000)).toBe(1_300)
  expect(nextFromMs(from, 'open', 1_000)).toBe(1_000 + ANNOUNCE_MS)
  for (const moving of [{ rate_per_second: 1 }, { draw_seed: null }])
    expect(nextFromMs({ from_ms: 0, schedule: { ...from.schedule, ...moving } }, 'sold_out', 1_000)).toBe(1_500)
})

it('refreshes a copy before it is too old to use, and reveals the seed after the last earlier lease has lapsed', () => {
  const ages = [MIRROR_MS, FRESH_MS, USABLE_MS, ANNOUNCE_MS]
  expect(ages).toEqual([...new Set(ages)].sort((a, b) => a - b))
  expect(ANNOUNCE_MS).toBeGreaterThan(LAPSE_MS)
})
