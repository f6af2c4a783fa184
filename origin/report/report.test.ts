import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lossesOf } from '../../shared/api/operators/report.ts'
import { rankCorrelation } from '../../shared/lib/rank-correlation.ts'
import {
  holdsOf,
  overtakingOf,
  recountedOf,
  servedBeforeTurn,
  stockOut,
  thinOut,
  waitAccuracy,
  waitsOf,
} from './report.ts'

const minute = (at: number, gauges: Record<string, number>, counts: Record<string, number> = {}) => ({
  minute: new Date(at * 60_000).toISOString(),
  gauges,
  counts,
})

describe('the rank correlation', () => {
  it.each([
    ['the same order', [1, 2, 3, 4], [10, 20, 25, 90], 1],
    ['the opposite order', [1, 2, 3, 4], [9, 7, 5, 1], -1],
    // Calculated by hand: 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15).
    ['two that changed places', [1, 2, 3, 4], [1, 3, 2, 4], 0.8],
    // Ties share their mean rank: 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
    ['equal values', [1, 2, 2, 3], [1, 2, 3, 4], 4.5 / Math.sqrt(4.5 * 5)],
  ])('of %s', (_, a, b, value) => {
    expect(rankCorrelation(a, b)).toBeCloseTo(value, 10)
  })

  it('is unknown for too few, and where all are equal', () => {
    expect(rankCorrelation([1, 2], [1, 2])).toBeNull()
    expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBeNull()
  })
})

describe('overtaking', () => {
  it('is none where all ordered as they were called', () => {
    const served = [1, 2, 3].map((position) => ({ position, atMs: position * 1000 }))
    expect(overtakingOf(served)).toEqual({ overtaken: 0, worst_seconds: 0, worst_positions: 0 })
  })

  it('is what a comparison of all pairs finds', () => {
    const arbitrary = fc.uniqueArray(fc.record({ position: fc.nat(50), atMs: fc.nat(9_000) }), {
      selector: ({ position }) => position,
      maxLength: 30,
    })
    fc.assert(
      fc.property(arbitrary, (served) => {
        const pairs = served.flatMap((one) =>
          served.filter((other) => other.position > one.position && other.atMs < one.atMs).map((other) => [one, other]),
        )
        expect(overtakingOf(served)).toEqual({
          overtaken: new Set(pairs.map(([one]) => one)).size,
          worst_seconds: Math.max(0, ...pairs.map(([one, other]) => (one?.atMs ?? 0) - (other?.atMs ?? 0))) / 1000,
          worst_positions: Math.max(0, ...pairs.map(([one, other]) => (other?.position ?? 0) - (one?.position ?? 0))),
        })
      }),
    )
  })
})

it('those who ordered before their turn are counted by what the minutes say was called', () => {
  const minutes = [minute(0, { called: 10 }), minute(1, { called: 20 })]
  const at = (position: number, seconds: number) => ({ position, atMs: seconds * 1000 })
  expect(servedBeforeTurn([at(10, 30), at(20, 70)], minutes)).toBe(0)
  expect(servedBeforeTurn([at(15, 30), at(21, 70)], minutes)).toBe(2)
  // The edge may report the calls of a minute's end after that end.
  expect(servedBeforeTurn([at(15, 58)], minutes)).toBe(0)
  expect(servedBeforeTurn([at(1, 1)], [minute(0, { sold: 1 })])).toBeNull()
})

it('minutes are put together to points: counts add up, the last gauge stays', () => {
  const minutes = [1, 2, 3, 4, 5].map((at) => minute(at, { waiting: at }, { joined: at }))
  const { points, minutes_per_point } = thinOut(minutes, 2)
  expect(minutes_per_point).toBe(3)
  expect(points.map(({ counts, gauges }) => [counts.joined, gauges.waiting])).toEqual([
    [6, 3],
    [9, 5],
  ])
  expect(thinOut(minutes, 100).points).toEqual(minutes)
})

it('a sale is sold out once nothing is free and nothing is held', () => {
  const minutes = [
    [2, 1],
    [0, 3],
    [0, 0],
  ].map(([available = 0, held = 0], at) => minute(at, { total: 9, available, held }))
  expect(stockOut(minutes)).toEqual({ all_in_carts_at: minutes[1]?.minute, sold_out_at: minutes[2]?.minute })
  expect(stockOut([])).toEqual({ all_in_carts_at: null, sold_out_at: null })
})

it('waits are compared in minutes in which somebody was shown one, and called', () => {
  const waits = waitsOf([
    minute(0, { waiting: 3, wait_shown: 10, wait_real: 15 }),
    minute(1, { waiting: 0, wait_shown: 20, wait_real: 20 }),
    minute(2, { waiting: 0 }),
    minute(3, { waiting: 9, wait_seconds: 40 }),
  ])
  expect(waits.map(({ shown_seconds, real_seconds }) => [shown_seconds, real_seconds])).toEqual([
    [10, 15],
    [20, 20],
    [40, null],
  ])
  expect(waitAccuracy(waits)).toEqual({ compared: 2, median_error_seconds: 0, worst_error_seconds: 5 })
  expect(waitAccuracy([]).median_error_seconds).toBeNull()
})

it('tells the losses of a funnel as shares of each step', () => {
  const row = { key: 'ads', views: 100, joined: 50, turns: 40, reserved: 40, paid: 10, paid_minor: 1 }
  expect(lossesOf(row)).toEqual({
    viewed_to_joined: 0.5,
    joined_to_turn: expect.closeTo(0.2),
    turn_to_reserved: 0,
    reserved_to_paid: 0.75,
  })
  expect(lossesOf({ ...row, views: 0, joined: 0 })).toMatchObject({ viewed_to_joined: null, joined_to_turn: null })
})

it('leaves out of abandonment, mean hold and conversion the orders that are still held', () => {
  const long = { hold_seconds: 300, reserved: 10, paid: 3, abandoned: 1, held_seconds: 500, median_seconds_to_pay: 60 }
  const short = { ...long, hold_seconds: 90, reserved: 4, paid: 1, abandoned: 3, held_seconds: 300 }
  expect(holdsOf([long, short])).toMatchObject({
    abandoned: 4,
    abandonment: 0.5,
    mean_seconds: 100,
    by_length: [
      { hold_seconds: 300, conversion: 0.75 },
      { hold_seconds: 90, conversion: 0.25 },
    ],
  })
  expect(holdsOf([])).toEqual({ abandoned: 0, abandonment: null, mean_seconds: null, by_length: [] })
})

it('sets what was counted live beside what is recorded, and what nobody counted is unknown', () => {
  const units = { sold: 9, held: 0, free: 1, withheld: 0, total: 10 }
  const figures = { joined: 20, reserved: 12, paid: 9, units }
  const live = { counts: { reserved: 12, confirmed: 8 }, last: { sold: 8 } }
  expect(recountedOf(live, figures, [{ joined: 15 }, { joined: 5 }])).toEqual([
    { what: 'joined', live: 20, now: 20 },
    { what: 'reserved', live: 12, now: 12 },
    { what: 'paid', live: 8, now: 9 },
    { what: 'sold', live: 8, now: 9 },
  ])
  expect(recountedOf({ counts: {}, last: {} }, { ...figures, joined: null }, [])[0]).toEqual({
    ...{ what: 'joined', live: null, now: null },
  })
})
