/** The forecast knows openings, scheduled actions and the curve, and never forecasts what cannot be. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Minute } from '../../../shared/api/operators/report.ts'
import { forecast, forecastAccuracy, type SaleAhead } from './forecast.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:30Z')
const inMinutes = (minutes: number) => NOW_MS + minutes * 60_000

/** The minute that began so many minutes ago. */
const minuteAgo = (ago: number, joined: number, gauges: Record<string, number> = {}): Minute => ({
  minute: new Date(Math.floor(NOW_MS / 60_000) * 60_000 - ago * 60_000).toISOString(),
  counts: { joined },
  gauges,
})

/** A sale that is open, to which nobody has come. */
const open: SaleAhead = {
  nowMs: NOW_MS,
  joinsFromMs: inMinutes(-60),
  opensAtMs: inMinutes(-30),
  endsAtMs: null,
  paused: false,
  ratePerSecond: 10,
  expectedVisitors: null,
  minutes: [],
  actions: [],
}

const anyEffect = fc.oneof(
  fc.record({ action: fc.constant('rate' as const), rate_per_second: fc.nat(1_000) }),
  fc.constantFrom({ action: 'pause' as const }, { action: 'resume' as const }, { action: 'end' as const }),
)
const anySale: fc.Arbitrary<SaleAhead> = fc
  .record({
    opens: fc.integer({ min: -60, max: 30 }),
    lobby: fc.nat(60),
    ends: fc.option(fc.integer({ min: -5, max: 30 })),
    paused: fc.boolean(),
    ratePerSecond: fc.nat(1_000),
    expectedVisitors: fc.option(fc.nat(1_000_000)),
    joined: fc.array(fc.nat(100_000), { maxLength: 8 }),
    gauges: fc.record({ waiting: fc.nat(100_000), joined: fc.nat(100_000) }),
    actions: fc.array(fc.record({ at: fc.integer({ min: 0, max: 20 }), effect: anyEffect }), { maxLength: 5 }),
  })
  .map(({ opens, lobby, ends, joined, gauges, actions, ...sale }) => ({
    ...sale,
    nowMs: NOW_MS,
    opensAtMs: inMinutes(opens),
    joinsFromMs: inMinutes(opens - lobby),
    endsAtMs: ends === null ? null : inMinutes(ends),
    minutes: joined.map((count, i) => minuteAgo(joined.length - i, count, i === joined.length - 1 ? gauges : {})),
    actions: actions.map(({ at, effect }) => ({ atMs: inMinutes(at), effect })).sort((a, b) => a.atMs - b.atMs),
  }))

test('calls nobody faster than the line may, and nobody who has not come', () => {
  fc.assert(
    fc.property(anySale, (sale) => {
      const made = forecast(sale)
      for (const figure of Object.values(made)) expect(figure >= 0 && Number.isFinite(figure)).toBe(true)
      const rates = sale.actions.flatMap(({ effect }) => (effect.action === 'rate' ? [effect.rate_per_second] : []))
      expect(made.checkouts_per_second).toBeLessThanOrEqual(Math.max(sale.ratePerSecond, ...rates))
      const waited = sale.minutes.at(-1)?.gauges.waiting ?? 0
      expect(made.checkouts_per_second * 60).toBeLessThanOrEqual(waited + made.joins_per_second * 600 + 1e-6)
      if (sale.endsAtMs !== null && sale.endsAtMs <= NOW_MS)
        expect([made.joins_per_second, made.checkouts_per_second]).toEqual([0, 0])
      if (sale.opensAtMs >= inMinutes(10)) expect(made.checkouts_per_second).toBe(0)
    }),
  )
})

test('more expected visitors are never fewer joins', () => {
  fc.assert(
    fc.property(anySale, fc.nat(100_000), (sale, more) => {
      const expectedVisitors = sale.expectedVisitors ?? 0
      const [few, many] = [expectedVisitors, expectedVisitors + more].map((count) =>
        forecast({ ...sale, expectedVisitors: count }),
      )
      expect(many?.joins_per_second).toBeGreaterThanOrEqual(few?.joins_per_second ?? 0)
    }),
  )
})

test.each<[string, Partial<SaleAhead>, { joins: number; checkouts: number }]>([
  ['nobody comes', {}, { joins: 0, checkouts: 0 }],
  [
    'an opening in nine minutes',
    { expectedVisitors: 12_000, opensAtMs: inMinutes(8.5) },
    { joins: 100, checkouts: 10 },
  ],
  ['an opening in eleven minutes', { expectedVisitors: 12_000, opensAtMs: inMinutes(11) }, { joins: 0, checkouts: 0 }],
  ['a steady curve', { minutes: [6, 5, 4, 3, 2, 1].map((ago) => minuteAgo(ago, 60)) }, { joins: 1, checkouts: 1 }],
  ['a line at its rate', { minutes: [minuteAgo(1, 0, { waiting: 100_000 })] }, { joins: 0, checkouts: 10 }],
  [
    'a rate that will be raised',
    {
      minutes: [minuteAgo(1, 0, { waiting: 100_000 })],
      actions: [{ atMs: inMinutes(7), effect: { action: 'rate', rate_per_second: 80 } }],
    },
    { joins: 0, checkouts: 80 },
  ],
  ['a pause', { paused: true, minutes: [minuteAgo(1, 0, { waiting: 100_000 })] }, { joins: 0, checkouts: 0 }],
  [
    'a pause that ends',
    {
      paused: true,
      minutes: [minuteAgo(1, 0, { waiting: 100_000 })],
      actions: [{ atMs: inMinutes(3), effect: { action: 'resume' } }],
    },
    { joins: 0, checkouts: 10 },
  ],
])('forecasts %s', (_, changes, { joins, checkouts }) => {
  const made = forecast({ ...open, ...changes })
  expect(made.joins_per_second).toBeCloseTo(joins, 1)
  expect(made.checkouts_per_second).toBeCloseTo(checkouts, 1)
})

test('a rising curve is followed, but not for ever', () => {
  const minutes = [6, 5, 4, 3, 2, 1].map((ago) => minuteAgo(ago, (7 - ago) * 600))
  const { joins_per_second } = forecast({ ...open, minutes })
  expect(joins_per_second).toBeGreaterThan(50)
  expect(joins_per_second).toBeLessThan(100)
})

test('tells how far the forecasts were from what came, once their ten minutes are over', () => {
  const came = (ago: number) => (ago === 5 ? 6_000 : 600)
  const minutes = Array.from({ length: 20 }, (_, i) => 20 - i).map((ago) =>
    minuteAgo(ago, came(ago), ago === 20 ? { forecast_joins: 8 } : { forecast_joins: 100 }),
  )
  const accuracy = forecastAccuracy(minutes)
  // The ten minutes of the first forecast had 10 a second at most, those from the fifth on 100 a second.
  expect(accuracy).toMatchObject({ compared: 10, median_error: 0, worst_error: 0.9 })
  expect(forecastAccuracy([])).toEqual({ compared: 0, median_error: null, worst_error: null })
})
