import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinedOf, soldOutAtMs, turnsOf, withCallsMade, withPeople } from './figures.ts'

const people = fc.option(fc.nat(1_000), { nil: undefined })
const arbitraryGauges = fc
  .record({ called: people, arrived: people, may_come: people, waiting: people, joined: people })
  .map((gauges) => JSON.parse(JSON.stringify(gauges)) as Record<string, number>)

it('those called have arrived, may come or did not come, whatever is counted when', () => {
  const phase = fc.constantFrom('open', 'paused', 'all_in_carts', 'sold_out', 'ended')
  fc.assert(
    fc.property(phase, arbitraryGauges, (phase, gauges) => {
      const { called, arrived, may_come, did_not_come } = turnsOf(phase, { most: gauges, last: gauges })
      if (called !== null) expect(arrived).toBeLessThanOrEqual(gauges.joined ?? called)
      expect(did_not_come === null).toBe(may_come === null)
      if (called === null || may_come === null) return
      expect(called - (did_not_come ?? 0) - may_come).toBe(arrived)
      expect(Math.min(arrived ?? 0, may_come, did_not_come ?? 0)).toBeGreaterThanOrEqual(0)
    }),
  )
})

it('nobody waits or may come once the sale is over', () => {
  const gauges = { called: 9, arrived: 4, may_come: 3, waiting: 8 }
  const turns = (phase: 'open' | 'sold_out') => turnsOf(phase, { most: gauges, last: gauges })
  expect(turns('open')).toMatchObject({ waiting: 8, may_come: 3, did_not_come: 2 })
  expect(turns('sold_out')).toMatchObject({ waiting: 0, may_come: 0, did_not_come: 5 })
})

it('numbers that nobody has are no people: those who joined wait or were called', () => {
  const gauges = { called: 419, arrived: 408, may_come: 11, waiting: 694, joined: 1_100 }
  expect(turnsOf('open', { most: gauges, last: gauges })).toMatchObject({ called: 419, waiting: 681 })
  expect(turnsOf('ended', { most: gauges, last: { ...gauges, called: 1_113 } })).toMatchObject({ called: 1_100 })
  const minutes = [7, 10].map((joined, i) => ({
    minute: `${i}`,
    counts: {},
    gauges: { called: 9 * i, waiting: 20, joined },
  }))
  expect(withPeople(minutes).map((minute) => minute.gauges)).toMatchObject([
    { called: 0, waiting: 7 },
    { called: 9, waiting: 1 },
  ])
})

it('a count that missed some bounds nothing that is known', () => {
  const gauges = { called: 0, waiting: 151, joined: 151 }
  const counted = { joined: 96 }
  const [minute] = withPeople([{ minute: '0', counts: counted, gauges }])
  expect(minute?.gauges).toMatchObject({ waiting: 151 })
  expect(joinedOf({ most: gauges }, counted)).toBe(151)
  expect(withPeople([{ minute: '0', counts: { joined: 1 }, gauges: { called: 60, waiting: 91 } }])[0]?.gauges).toEqual({
    called: 60,
    waiting: 91,
  })
})

it('calls are those that were made: since the opening in its minute, unknown where the edge said nothing', () => {
  const minute = (at: number, called: number, atSeconds: number) => ({
    minute: new Date(at * 60_000).toISOString(),
    counts: {},
    gauges: { called, edge_at_ms: atSeconds * 1000, rate: 50 },
  })
  const minutes = [minute(0, 0, 59), minute(1, 60, 119), minute(2, 60, 179), minute(3, 60, 179), minute(9, 90, 599)]
  const made = (opensAtSeconds: number) =>
    withCallsMade(minutes, opensAtSeconds * 1000).map(
      ({ gauges }) => (gauges as Record<string, number>).called_per_second,
    )
  expect(made(99)).toEqual([0, 3, 0, undefined, 0.1])
  expect(made(0)).toEqual([0, 1, 0, undefined, 0.1])
  // The sale opens at the end of a minute, so that this minute ends without a call and the next one is read soon
  // afterwards.
  const opened = withCallsMade([minute(0, 0, 59), minute(1, 7, 64)], 57_000)
  expect(opened.at(-1)?.gauges).toMatchObject({ called_per_second: 1 })
})

describe('the forecast', () => {
  const minute = (at: number, sold: number, gauges: Record<string, number> = {}) => ({
    minute: new Date(at * 60_000).toISOString(),
    gauges: { total: 1_100, available: 1_000 - sold, held: 0, sold, waiting: 9, ...gauges },
  })
  it('goes on at the pace of the last minutes', () => {
    const minutes = [0, 1, 2, 3, 4, 5].map((at) => minute(at, 100 * at))
    expect(soldOutAtMs(minutes, 6 * 60_000)).toBe(11 * 60_000)
  })
  it('forgets the pace of hours ago, and counts neither the buffer nor what is sold', () => {
    const minutes = [minute(0, 0), minute(2, 400), minute(120, 500)]
    expect(soldOutAtMs(minutes, 121 * 60_000)).toBe((121 + 25) * 60_000)
  })
  it('says nothing while nothing is sold, when all is, when all is in carts, and when nobody waits', () => {
    expect(soldOutAtMs([minute(0, 5), minute(1, 5)], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 1_000)], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 980, { available: 0, held: 20 })], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 980, { waiting: 0 })], 120_000)).toBeNull()
    expect(soldOutAtMs([], 0)).toBeNull()
  })
})
