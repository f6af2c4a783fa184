/** How true the waits are that people are told, as operators see it. */
import { expect, it } from 'vitest'
import type { Schedule } from '../../shared/schedule.ts'
import { stateOf } from '../testing/simulation.ts'
import { newRecord } from './sale-record.ts'
import { NOTHING_FORETOLD, waitRatio, watch } from './wait-accuracy.ts'

const STOCK = { available: 100_000, held: 0, sold: 0, arrivals: 0, hopeful: 0 }
const [{ schedule: AT_FIRST }] = newRecord(
  stateOf({ rate: 100, maxInside: null }, STOCK, 'ok'),
  '00',
  0,
  0,
).timeline
/** A line that moves from a moment and a position on. */
const line = (anchor_at_ms: number, anchor_position: number, rate_per_second: number): Schedule => ({
  ...AT_FIRST,
  ...{ phase: 'open', anchor_at_ms, anchor_position, rate_per_second, ceiling: 1_000_000 },
})
const PEOPLE = 50_000

/** What operators are told after each of so many seconds of a line, looked at once a second. */
function told(seconds: number, lineAt: (second: number) => Schedule, highestNumber = PEOPLE) {
  let foretold = NOTHING_FORETOLD
  return Array.from({ length: seconds + 1 }, (_, second) => {
    foretold = watch(foretold, lineAt(second), highestNumber, second * 1_000)
    return waitRatio(foretold, second * 1_000)
  })
}

it('is exact for a line that goes as it was told, once the first turn has come that was watched', () => {
  const steady = told(130, () => line(0, 0, 100))
  expect(steady.slice(0, 60)).toEqual(Array(60).fill(null))
  expect(new Set(steady.slice(60))).toEqual(new Set([1]))
})

it('is two where a turn took twice as long as was told', () => {
  const slower = told(119, (second) => (second < 1 ? line(0, 0, 100) : line(1_000, 100, 50)))
  expect(slower.at(-1)).toBeCloseTo(2, 1)
})

it('grows while the line stands, and is right again with the next turn that is told right', () => {
  const stood = told(300, (second) => {
    if (second < 30) return line(0, 0, 100)
    return second < 120 ? { ...line(30_000, 3_000, 0), phase: 'paused' } : line(120_000, 3_000, 100)
  })
  expect(stood.slice(61, 120)).toEqual([...stood.slice(61, 120)].sort((a, b) => Number(a) - Number(b)))
  expect(stood[119]).toBeCloseTo(119 / 60, 1)
  expect(stood[151]).toBeCloseTo(150 / 60, 1)
  expect(stood.at(-1)).toBe(1)
})

it('says nothing of a line in which nobody waits for long, and nothing more of a place that is given back', () => {
  expect(new Set(told(100, () => line(0, 0, 100), 900))).toEqual(new Set([null]))
  const watched = watch(NOTHING_FORETOLD, line(0, 0, 1), 40, 0)
  expect(watched.watched).toMatchObject({ position: 40, told_seconds: 40 })
  expect(watch(watched, line(0, 0, 1), 5, 1_000).watched).toBeNull()
})

it('says nothing more once it is sold out or has ended, however long the page is read', () => {
  for (const phase of ['sold_out', 'ended'] as const) {
    const over = told(300, (second) => (second < 70 ? line(0, 0, 100) : { ...line(70_000, 7_000, 0), phase }))
    expect(over[69]).toBe(1)
    expect(new Set(over.slice(70))).toEqual(new Set([null]))
  }
})

it('says nothing more when nobody waits for long any more, and keeps what it said while the line is held back', () => {
  const gone = told(90, () => line(0, 0, 100), 8_000)
  expect(new Set(gone.slice(60, 81))).toEqual(new Set([1]))
  expect(new Set(gone.slice(81))).toEqual(new Set([null]))
  const twice = { watched: null, ratio: 2 }
  expect(watch(twice, line(0, 0, 100), 500, 0)).toEqual(NOTHING_FORETOLD)
  expect(watch(twice, { ...line(0, 0, 100), ceiling: 0 }, PEOPLE, 0)).toEqual(twice)
  expect(watch(twice, { ...line(0, 0, 100), ceiling: 700 }, 700, 7_000)).toEqual(NOTHING_FORETOLD)
})

it('forgets the place it watched when the clock is put back', () => {
  const watched = watch(NOTHING_FORETOLD, line(0, 0, 100), PEOPLE, 3_600_000)
  const again = watch(watched, line(0, 0, 100), PEOPLE, 1_000)
  expect(again.watched).toMatchObject({ position: 6_100, at_ms: 1_000 })
})
