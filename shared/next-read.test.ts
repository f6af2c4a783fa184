import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PHASES } from './api/public.ts'
import {
  FINAL_MS,
  JUST_ANNOUNCED_MS,
  JUST_ENDED_MS,
  JUST_ENDED_READ_MS,
  JUST_OPENED_MS,
  nextReadAtMs,
  nextReadMs,
  type Prospect,
  paidPerSecondAfter,
  SOON_MS,
  USUAL_MS,
} from './next-read.ts'
import type { Schedule } from './schedule.ts'

const prospects: fc.Arbitrary<Prospect> = fc.record({
  phase: fc.constantFrom(...PHASES),
  unitsLeft: fc.nat(1_000_000),
  paidPerSecond: fc.double({ min: 0, max: 10_000, noNaN: true }),
  announcedAgoMs: fc.option(fc.integer({ min: -60_000, max: 600_000 })),
  openedAgoMs: fc.option(fc.integer({ min: -60_000, max: 600_000 })),
})
const selling = prospects.map((prospect) => ({ ...prospect, phase: 'open' as const }))

test('is never more often than a cache changes, nor so seldom that an announcement is late before the end', () => {
  fc.assert(
    fc.property(prospects, (prospect) => {
      const ms = nextReadMs(prospect)
      expect(ms).toBeGreaterThanOrEqual(SOON_MS)
      if (prospect.phase !== 'sold_out' && prospect.phase !== 'ended') expect(ms).toBeLessThanOrEqual(USUAL_MS)
    }),
  )
})

test('is no later with fewer units, or a faster sale', () => {
  const [units, pace] = [fc.nat(1_000_000), fc.double({ min: 0, max: 10_000, noNaN: true })]
  fc.assert(
    fc.property(selling, units, pace, (prospect, fewer, faster) => {
      const unitsLeft = Math.max(0, prospect.unitsLeft - fewer)
      expect(nextReadMs({ ...prospect, unitsLeft })).toBeLessThanOrEqual(nextReadMs(prospect))
      const paidPerSecond = prospect.paidPerSecond + faster
      expect(nextReadMs({ ...prospect, paidPerSecond })).toBeLessThanOrEqual(nextReadMs(prospect))
    }),
  )
})

test('is soon for as long as all that is left may be paid for, and just after an announcement and the opening', () => {
  fc.assert(
    fc.property(selling, (prospect) => {
      expect(nextReadMs({ ...prospect, unitsLeft: 1 })).toBe(SOON_MS)
      expect(nextReadMs({ ...prospect, unitsLeft: prospect.paidPerSecond * 9.9 })).toBe(SOON_MS)
      expect(nextReadMs({ ...prospect, announcedAgoMs: JUST_ANNOUNCED_MS - 1 })).toBe(SOON_MS)
      expect(nextReadMs({ ...prospect, openedAgoMs: JUST_OPENED_MS - 1 })).toBe(SOON_MS)
    }),
  )
  const quiet = { phase: 'open', unitsLeft: 100, paidPerSecond: 0, announcedAgoMs: null, openedAgoMs: null } as const
  expect(nextReadMs(quiet)).toBe(USUAL_MS)
  expect(nextReadMs({ ...quiet, announcedAgoMs: JUST_ANNOUNCED_MS, openedAgoMs: JUST_OPENED_MS })).toBe(USUAL_MS)
  expect(nextReadMs({ ...quiet, unitsLeft: 0, phase: 'upcoming' })).toBe(USUAL_MS)
})

test('is within 10 s of a restock for ten minutes after the end, then within a minute', () => {
  const readsAt = (agoMs: number) => {
    const schedule = { phase: 'sold_out', next_read_ms: JUST_ENDED_READ_MS, server_time_ms: 1_000 } as Schedule
    return nextReadAtMs(schedule, 1_000 + agoMs)
  }
  const knownMs = 1_700
  const refreshedMs = 3_000
  expect(readsAt(0) + knownMs + refreshedMs).toBeLessThanOrEqual(10_000)
  expect(readsAt(JUST_ENDED_MS - 1)).toBe(JUST_ENDED_READ_MS)
  expect(readsAt(JUST_ENDED_MS)).toBe(FINAL_MS)
  expect(FINAL_MS + knownMs + refreshedMs).toBeLessThanOrEqual(60_000)
})

test('the pace rises at once, and falls slowly', () => {
  expect(paidPerSecondAfter(10, 500, 1)).toBe(500)
  expect(paidPerSecondAfter(500, 0, 1)).toBe(250)
  expect(paidPerSecondAfter(500, -3, 2)).toBeCloseTo(125)
  expect(paidPerSecondAfter(7, 5, 0)).toBe(7)
})
