import { expect, it } from 'vitest'
import { type Schedule, servingExactly } from '../../shared/schedule.ts'
import type { RoomConfig } from '../http/config.ts'
import { SETTINGS, stateOf } from '../testing/simulation.ts'
import {
  BEACON_WITHIN_MS,
  closedIfDue,
  drawOf,
  figuresOf,
  newRecord,
  REFRESH_LATE_MS,
  roundAfter,
  type SaleRecord,
  withJoins,
  withNextSchedule,
  withRefresh,
  withState,
} from './sale-record.ts'
import { ANNOUNCE_MS, inEffect, latest } from './timeline.ts'

const CONFIG: RoomConfig = {
  ...SETTINGS,
  internalUrl: '',
  edgeToken: '',
  ticketShards: 1,
  placesRetentionDays: 30,
  beaconUrl: null,
  cachePurgeUrl: null,
  cachePurgeToken: undefined,
}
const OPENS_AT_MS = 1_000_000
const PEOPLE = 5_000
const SEED = 'ab'.repeat(32)

/** The origin's state at a moment of a sale that calls one hundred a second. */
function stateAt(nowMs: number, origin: 'ok' | 'slow' = 'ok') {
  const state = stateOf({ rate: 100, maxInside: null }, { available: 100_000 }, origin)
  const opens_in_ms = OPENS_AT_MS - nowMs
  return { ...state, opens_in_ms, phase: opens_in_ms > 0 ? ('upcoming' as const) : ('open' as const) }
}

const isNew = false

/** A request that takes no time. */
const at = (ms: number) => ({ sentMs: ms, heardMs: ms })

/** The record at a moment, after a refresh every second from a minute before the opening. */
function recordAt(untilMs: number, config = CONFIG, origin: 'ok' | 'slow' = 'ok'): SaleRecord {
  const firstMs = OPENS_AT_MS - 60_000
  let sale = newRecord(stateAt(firstMs), { seed: SEED, beaconAnnounced: true }, at(firstMs))
  for (let nowMs = firstMs; nowMs <= untilMs; nowMs += 1_000) {
    const refresh = { state: stateAt(nowMs, origin), nowMs, highestNumber: PEOPLE }
    sale = closedIfDue(withState(sale, refresh.state, at(nowMs)), PEOPLE, nowMs)
    sale = withNextSchedule(withRefresh(sale, refresh, config), { ...refresh, isNew }, config)
  }
  return sale
}

/** The same record with another line in effect. */
function withLine(sale: SaleRecord, changes: Partial<Schedule>): SaleRecord {
  const schedule = { ...latest(sale.timeline).schedule, ...changes }
  return { ...sale, timeline: [{ from_ms: 0, schedule }] }
}

const LATER_MS = OPENS_AT_MS + 10_000

it('reports the line’s figures, before the opening and while it moves', () => {
  const before = OPENS_AT_MS - 5_000
  const figures = { numbers_given: PEOPLE, boost: 1, throttle: 1 }
  const nobody = {
    called: 0,
    waiting: PEOPLE,
    called_per_second: 0,
    may_come: 0,
    coming_units: 0,
    coming_people: 0,
    likely_people: PEOPLE,
  }
  expect(figuresOf(recordAt(before), PEOPLE, before, CONFIG)).toEqual({ ...figures, ...nobody, clock_ms: before })
  const called = 950 // The first is called half a second after the opening, for which it is announced.
  const waiting = PEOPLE - called
  const coming = {
    may_come: called,
    coming_units: called / CONFIG.admissionsPerUnit,
    coming_people: called,
    likely_people: PEOPLE,
  }
  const moving = { called, waiting, wait_seconds: waiting / 100, called_per_second: 100, ...coming }
  expect(figuresOf(recordAt(LATER_MS), PEOPLE, LATER_MS, CONFIG)).toEqual({ ...figures, ...moving, clock_ms: LATER_MS })
})

it('takes a crowd of one network for as many as can use their places, and those who come no more for none', () => {
  const likely = (sale: SaleRecord) => Math.round(figuresOf(sale, 64, LATER_MS, CONFIG).likely_people)
  const few = { ...recordAt(OPENS_AT_MS), timeline: recordAt(LATER_MS).timeline }
  expect(likely(few)).toBe(64)
  // Sixty places of one address, of which four can buy six units each, and four of others.
  const crowded = withJoins(withJoins(few, { joins: 60, crowded: 56 }, 60, CONFIG), { joins: 4 }, 64, CONFIG)
  expect(likely(crowded)).toBe(8)
  // A crowd that has been called and has gone is forgotten as others join.
  const samples = [{ open_ms: 0, called: 64, arrivals: 64 }]
  const gone = { ...crowded, memory: { ...crowded.memory, open_ms: 1_000_000, arrivals: 64, samples } }
  expect(withJoins(gone, { joins: 64 }, 128, CONFIG).places).toEqual({ joins: 64, crowded: 0 })
})

it('reports a throttled line, and no wait while the line stands still', () => {
  const slow = figuresOf(recordAt(LATER_MS, CONFIG, 'slow'), PEOPLE, LATER_MS, CONFIG)
  expect(slow).toMatchObject({ throttle: 1 / 64, called_per_second: 1.563 })
  const paused = figuresOf(withLine(recordAt(LATER_MS), { phase: 'paused' }), PEOPLE, LATER_MS, CONFIG)
  expect(paused).not.toHaveProperty('wait_seconds')
  expect(paused).toMatchObject({ called_per_second: 0 })
})

it.each(['sold_out', 'ended'] as const)('reports nobody waiting once the sale is %s', (phase) => {
  const figures = figuresOf(withLine(recordAt(LATER_MS), { phase }), PEOPLE, LATER_MS, CONFIG)
  expect(figures).toMatchObject({ numbers_given: PEOPLE, waiting: 0, called_per_second: 0 })
})

it('keeps the number of visitors who wait for stock while the origin cannot count them', () => {
  const sale = recordAt(OPENS_AT_MS)
  const waiting = withState(sale, { ...stateAt(OPENS_AT_MS), waiting_for_stock: 7 }, at(OPENS_AT_MS))
  const uncounted = { ...stateAt(OPENS_AT_MS), counted: false, waiting_for_stock: 0 }
  expect(withState(waiting, uncounted, at(OPENS_AT_MS)).state.waiting_for_stock).toBe(7)
  expect(withState(waiting, { ...uncounted, counted: true }, at(OPENS_AT_MS)).state.waiting_for_stock).toBe(0)
})

it('ignores an origin that is cut off from the ledger, as long as another one is not', () => {
  const [pausedAtMs, later] = [OPENS_AT_MS + 10_000, OPENS_AT_MS + 20_000]
  const open = stateAt(later)
  const paused = withState(recordAt(OPENS_AT_MS), { ...open, phase: 'paused' }, at(pausedAtMs))
  const phaseOf = (readAtMs: number, atMs: number) =>
    withState(paused, { ...open, read_ago_ms: atMs - readAtMs }, at(atMs)).state.phase
  expect([phaseOf(pausedAtMs - 5_000, later), phaseOf(later - 250, later)]).toEqual(['paused', 'open'])
  // All cut off: the last reading again, and what the time makes of it.
  expect(phaseOf(pausedAtMs, later)).toBe('open')
  // After the clock was put back, the known reading seems to be in the future.
  expect(phaseOf(pausedAtMs - 10_000, pausedAtMs - 10_000)).toBe('open')
})

it('keeps its moments when a refresh is slow, and when they have passed', () => {
  const ending = (nowMs: number, endsAtMs: number) => ({ ...stateAt(nowMs), ends_in_ms: endsAtMs - nowMs })
  const endsAtMs = OPENS_AT_MS + 600_000
  const later = OPENS_AT_MS + 10_000
  const sale = withState(recordAt(OPENS_AT_MS), ending(later, endsAtMs), at(later))
  expect(sale).toMatchObject({ opensAtMs: OPENS_AT_MS, endsAtMs })
  // The response took half a second: all moments seem to be as much later.
  const { preQueueOpensAtMs, opensAtMs } = sale
  const slow = withState(sale, ending(later, endsAtMs), { sentMs: later, heardMs: later + 500 })
  expect(slow).toMatchObject({ preQueueOpensAtMs, opensAtMs, endsAtMs })
  expect(withState(sale, ending(later, endsAtMs + 60_000), at(later)).endsAtMs).toBe(endsAtMs + 60_000)
  expect(withState(sale, { ...ending(later, 0), ends_in_ms: null }, at(later)).endsAtMs).toBeNull()
})

it('closes the lobby no earlier than the sale opens, though the last look before it is slow one way', () => {
  for (const [thereMs, backMs] of [
    [558, 6],
    [6, 558],
  ] as const) {
    const sentMs = OPENS_AT_MS - 700
    const look = { sentMs, heardMs: sentMs + thereMs + backMs }
    const draw = { seed: SEED, beaconAnnounced: false }
    const known = recordAt(OPENS_AT_MS - 1_000)
    for (const sale of [
      newRecord(stateAt(sentMs + thereMs), draw, look),
      withState(known, stateAt(sentMs + thereMs), look),
    ]) {
      expect(closedIfDue(sale, PEOPLE, OPENS_AT_MS - 1).closed).toBeNull()
      expect(closedIfDue(sale, PEOPLE, OPENS_AT_MS + backMs).closed).not.toBeNull()
    }
    // A quick answer before it is better known.
    expect(withState(known, stateAt(sentMs + thereMs), look).opensAtMs).toBe(OPENS_AT_MS)
  }
})

it('learns nothing of a reading that it refuses, but that the origin is reached', () => {
  const later = LATER_MS + 1_000
  const sale = recordAt(LATER_MS)
  const old = { ...stateAt(later), products: [], read_ago_ms: 5_000, arrivals: 7 }
  expect(withState(sale, old, at(later))).toBe(sale)
  const refresh = { state: null, nowMs: later, highestNumber: PEOPLE }
  const { memory } = withRefresh(sale, { ...refresh, isRefused: true }, CONFIG)
  expect(memory).toEqual({ ...withRefresh(sale, refresh, CONFIG).memory, reached_at_ms: later })
})

it('runs claim windows only while the line is open, even if a pause ended between two refreshes', () => {
  const pausedAt = (sale: SaleRecord, from_ms: number): SaleRecord => {
    const { schedule } = latest(sale.timeline)
    return {
      ...sale,
      timeline: [
        { from_ms: 0, schedule: { ...schedule, phase: 'paused' } },
        { from_ms, schedule },
      ],
    }
  }
  const before = recordAt(LATER_MS)
  const nowMs = LATER_MS + 1_000
  const refresh = { state: stateAt(nowMs), nowMs, highestNumber: PEOPLE }
  const { memory } = withRefresh(pausedAt(before, nowMs - 100), refresh, CONFIG)
  expect(memory.open_ms - before.memory.open_ms).toBe(100)
})

it('resumes without a jump after the edge was away, and keeps the claim time of those called', () => {
  const lastMs = OPENS_AT_MS + 10_000
  const [before, backMs] = [recordAt(lastMs), lastMs + 25_000]
  const refreshAt = (sale: SaleRecord, nowMs: number) =>
    withRefresh(sale, { state: stateAt(nowMs), nowMs, highestNumber: PEOPLE }, CONFIG)
  const served = ({ timeline }: SaleRecord, atMs: number) => servingExactly(inEffect(timeline, atMs), atMs)
  // Until then readers may have seen it.
  const servedMs = lastMs + REFRESH_LATE_MS + ANNOUNCE_MS
  const back = refreshAt(before, backMs)
  expect(served(back, backMs)).toBe(served(before, servedMs))
  expect(served(back, backMs + 1_000)).toBe(served(before, servedMs + 1_000))
  expect(back.memory.open_ms - before.memory.open_ms).toBe(servedMs - lastMs)
  // A refresh that is late, but within that time, leaves the line as it is.
  expect(refreshAt(before, servedMs).timeline).toBe(before.timeline)
})

it('does not shift a line that did not move meanwhile', () => {
  const opened = recordAt(LATER_MS)
  const held = withLine(opened, { ceiling: 500 })
  const paused = withLine(opened, { phase: 'paused', rate_per_second: 0 })
  for (const sale of [recordAt(OPENS_AT_MS - 60_000), held, paused]) {
    const nowMs = sale.memory.polled_at_ms + 50_000
    const refresh = { state: stateAt(nowMs), nowMs, highestNumber: PEOPLE }
    expect(withRefresh(sale, refresh, CONFIG).timeline).toBe(sale.timeline)
  }
})

it('waits for the announced beacon, and goes without it in the end', () => {
  const sale = recordAt(OPENS_AT_MS, { ...CONFIG, beaconUrl: 'https://beacon.test/{round}' })
  const closedAtMs = sale.closed?.atMs ?? Number.NaN
  const soon = closedAtMs + BEACON_WITHIN_MS - 1
  expect(drawOf(sale, soon, true)).toBeNull()
  expect(drawOf({ ...sale, beacon: 'cd' }, soon, true)).toEqual({ size: PEOPLE, seed: SEED, beacon: 'cd' })
  const without = { size: PEOPLE, seed: SEED, beacon: null }
  expect(drawOf(sale, soon, false)).toEqual(without)
  expect(drawOf(sale, soon + 1, true)).toEqual(without)
  // A published draw stays when the beacon comes after all.
  const late = withLine({ ...sale, beacon: 'cd' }, { draw_seed: SEED })
  expect(drawOf(late, soon + 2, true)).toEqual(without)
})

it('takes the first beacon round published after the opening', () => {
  // Round 1 at 1692803367 s, and one every 3 s.
  const publishedAtMs = (round: number) => (1_692_803_367 + 3 * (round - 1)) * 1000
  for (let opensAtMs = Date.parse('2026-11-27T12:00:00Z'); opensAtMs % 7_000 !== 0; opensAtMs += 500) {
    const round = roundAfter(opensAtMs)
    expect(publishedAtMs(round)).toBeGreaterThan(opensAtMs)
    expect(publishedAtMs(round - 1)).toBeLessThanOrEqual(opensAtMs)
  }
})
