import { describe, expect, it } from 'vitest'
import type { SaleState } from '../../../shared/api/internal.ts'
import { beforeOpening, type Moment, must, play, type Scenario, SETTINGS, stateOf } from '../../testing/simulation.ts'
import { REFRESH_LATE_MS } from '../sale-record.ts'
import { ANNOUNCE_MS } from '../timeline.ts'
import { nextSchedule } from './controller.ts'
import { calledBeforeClaimWindow, EMPTY_MEMORY, newMemory, observe, ranMs, uncalled } from './memory.ts'

const SEEDS = [1, 8, 17, 26, 35, 44, 58]

const plain: Omit<Scenario, 'seed'> = {
  rate: 100,
  stock: 1_000_000,
  crowd: 1_000_000,
  showShare: 1,
  maxInside: null,
  seconds: 60,
  slowestArrivalMs: 2_000,
  slowestPaymentMs: 20_000,
  abandoned: 0.1,
}

/** Plays a scenario, checks the invariants at every tick, and returns all moments. */
function played(scenario: Scenario): Moment[] {
  const moments: Moment[] = []
  let before: Moment | undefined
  for (const moment of play(scenario)) {
    if (before) {
      const seconds = (moment.atMs - before.atMs) / 1000
      const moved = moment.serving - before.serving
      const said = (what: string) => () => `seed ${scenario.seed} at ${moment.atMs}: ${what} by ${moved}`
      must(moved >= 0, said('moved back'))
      const most = scenario.rate * SETTINGS.noShowBoost * seconds + 1e-6
      if (!scenario.clockStepMs) must(moved <= most, said('leapt'))
    }
    before = moment
    moments.push(moment)
  }
  return moments
}

const servingIn = (moments: readonly Moment[]) => (second: number) => moments[second * 20]?.serving ?? Number.NaN
const rateIn = (moments: readonly Moment[]) => (second: number) =>
  moments[second * 20]?.schedule.rate_per_second ?? Number.NaN

const DRAW = { size: 0, seed: '00', beacon: null }

/** A line of `rate` since its opening, refreshed at a second with a stock: the next schedule, and the memory. */
function refreshed(rate: number, maxInside: number | null, ceiling: number, settings = SETTINGS) {
  const previous = { ...beforeOpening(rate), draw_seed: '00', ceiling, phase: 'open' as const }
  const opensAtMs = previous.anchor_at_ms
  let memory = { ...EMPTY_MEMORY, polled_at_ms: opensAtMs, reached_at_ms: opensAtMs }
  return (
    second: number,
    stock: Parameters<typeof stateOf>[1],
    origin: 'ok' | 'uncounted' = 'ok',
    more: Partial<SaleState> = {},
  ) => {
    const state = { ...stateOf({ rate, maxInside }, stock, origin), ...more }
    const nowMs = opensAtMs + second * 1000
    const now = { nowMs, state, highestNumber: 1e6 }
    const ran = ranMs([{ from_ms: opensAtMs, schedule: previous }], memory.polled_at_ms, nowMs)
    memory = observe(memory, { ...now, schedule: previous, ranMs: ran }, settings)
    const moments = { fromMs: nowMs, preQueueOpensAtMs: 0, opensAtMs, endsAtMs: null }
    return { memory, ...nextSchedule({ ...now, ...moments, previous, memory, draw: DRAW }, settings) }
  }
}

/** How many were called (or arrived) in every window of so many seconds. */
function* windows(moments: readonly Moment[], seconds: number, of: 'serving' | 'arrivals', fromMs = 1_000) {
  const ticks = (seconds * 1000) / 50
  for (let i = moments.findIndex((m) => m.atMs >= fromMs); i + ticks < moments.length; i += 10) {
    yield (moments[i + ticks]?.[of] ?? 0) - (moments[i]?.[of] ?? 0)
  }
}

describe('the controller', () => {
  it('keeps the configured rate within 2 % over any 10 s, however irregular its refreshes', () => {
    for (const seed of SEEDS) {
      for (const rate of [1, 37.5, 100]) {
        // After a longer time no reader is served before a refresh, and that time does not count.
        const refreshEveryMs = (random: () => number) => 100 + random() * (REFRESH_LATE_MS + ANNOUNCE_MS - 150)
        for (const called of windows(played({ ...plain, seed, rate, seconds: 30, refreshEveryMs }), 10, 'serving'))
          must(Math.abs(called - rate * 10) <= rate * 10 * 0.02, () => `seed ${seed}, rate ${rate}: ${called} in 10 s`)
      }
    }
  })

  it('makes up for no-shows, so that arrivals meet the rate', () => {
    for (const seed of SEEDS) {
      const showShare = 0.55 + (seed % 40) / 100
      const slowestArrivalMs = 500 + seed * 100
      const scenario = { ...plain, seed, showShare, rate: 200, seconds: 150, slowestArrivalMs }
      for (const arrived of windows(played(scenario), 40, 'arrivals', 90_000))
        must(Math.abs(arrived / 40 / 200 - 1) < 0.04, () => `seed ${seed}, share ${showShare}: ${arrived} in 40 s`)
    }
  })

  it('speeds up no further than its limit, however few turn up', () => {
    const moments = played({ ...plain, seed: 1, showShare: 0.05, seconds: 120 })
    const fastest = Math.max(...moments.map((m) => m.schedule.rate_per_second))
    expect(fastest).toBeCloseTo(plain.rate * SETTINGS.noShowBoost, 3)
  })

  it('before a site without units here calls by its rate, as many as have left the site', () => {
    const ceilingWith = (maxInside: number | null, on_site: number) =>
      refreshed(10, maxInside, 0)(1, {}, 'ok', { products: [], phase: 'open', on_site }).ceiling
    expect(ceilingWith(null, 400)).toBe(600)
    expect([ceilingWith(50, 20), ceilingWith(50, 50)]).toEqual([30, 0])
  })

  it('never lets in more than max_inside', () => {
    for (const seed of SEEDS) {
      const maxInside = 50 + seed * 20
      const scenario = { ...plain, seed, maxInside, showShare: 0.5 + (seed % 50) / 100, seconds: 90 }
      for (const { onTheirWay, held, atMs } of played(scenario))
        must(onTheirWay + held <= maxInside, () => `seed ${seed} at ${atMs}: ${onTheirWay + held} inside`)
    }
  })

  describe('while the origin cannot count arrivals', () => {
    const away = { from: 40, to: 100 }
    const origin = (second: number) => (second >= away.from && second < away.to ? 'uncounted' : 'ok')
    const blind = { ...plain, seconds: 180, slowestArrivalMs: 8_000, origin }

    it('counts nobody as a no-show, then or when the count catches up', () => {
      for (const rate of [10, 100]) {
        const rates = played({ ...blind, seed: 1, rate }).map((m) => m.schedule.rate_per_second)
        expect(Math.max(...rates)).toBe(rate)
      }
    })

    it('does not count late reports as arrivals of those called last', () => {
      const maxInside = 400
      const refresh = refreshed(10, maxInside, 1e6)
      const refreshAt = (second: number) => {
        const counted = second < 30 || second >= 90
        const stock = { available: 1_000, arrivals: 10 * (counted ? second : 30) }
        return refresh(second, stock, counted ? 'ok' : 'uncounted')
      }
      for (let second = 1; second < 90; second++) refreshAt(second)
      const called = 900
      const calledWithinClaimWindow = 10 * SETTINGS.claimSeconds
      const { ceiling, memory } = refreshAt(90)
      expect(ceiling).toBe(called + maxInside - calledWithinClaimWindow)
      // Arrivals since the refresh before are not known either.
      expect(memory.uncounted_until_ms).toBe(90_000)
    })

    it('makes up for no-shows before and after, but not meanwhile', () => {
      const moments = played({ ...blind, seed: 1, showShare: 0.6 })
      const rateAt = rateIn(moments)
      expect(rateAt(away.from)).toBeGreaterThan(1.3 * plain.rate)
      for (let second = away.from + 3; second <= away.to; second++) expect(rateAt(second)).toBe(plain.rate)
      expect(rateAt(170)).toBeGreaterThan(1.3 * plain.rate)
    })

    it('never lets in more than max_inside, also when the origin counts again', () => {
      for (const seed of SEEDS) {
        const maxInside = 600 + seed * 20
        const scenario = { ...blind, seed, maxInside, showShare: 0.4 + (seed % 60) / 100 }
        for (const { onTheirWay, held, atMs } of played({ ...scenario, slowestArrivalMs: 250 * seed }))
          must(onTheirWay + held <= maxInside, () => `seed ${seed} at ${atMs}: ${onTheirWay + held} inside`)
      }
    })

    it('does not count a new sale’s earlier arrivals and units', () => {
      const [away, back] = (['uncounted', 'ok'] as const).map((origin) => {
        const stock = { available: 100, held: 50, sold: 5_000, arrivals: origin === 'ok' ? 6_000 : 0 }
        return stateOf({ rate: 10, maxInside: null }, stock, origin)
      }) as [SaleState, SaleState]
      let memory = newMemory(away, 1_000)
      for (const [i, state] of [away, away, back, back].entries()) {
        const seen = { nowMs: 1_000 * (i + 1), state, schedule: beforeOpening(10), highestNumber: 1, ranMs: 0 }
        memory = observe(memory, seen, SETTINGS)
      }
      // Before the opening nobody can arrive: everything counts from then on.
      expect(memory).toMatchObject({ arrivals: 0, uncounted_until_ms: 0 })
    })

    it('goes on calling: whoever takes a unit has arrived', () => {
      for (const seed of SEEDS) {
        const moments = played({ ...blind, seed, maxInside: 4_000 })
        const servingAt = servingIn(moments)
        expect(servingAt(away.to) - servingAt(away.to - 20), `seed ${seed}`).toBeGreaterThan(19 * plain.rate)
      }
    })

    it('counts one arrival per limit_per_visitor units, and no unit twice', () => {
      const arrivalsBy = (limit_per_visitor: number, held: readonly number[]) => {
        let memory = EMPTY_MEMORY
        for (const [i, units] of held.entries()) {
          const stock = { available: 100, held: units }
          const state = { ...stateOf({ rate: 10, maxInside: null }, stock, 'uncounted'), limit_per_visitor }
          const look = { nowMs: 1_000 * i, state, schedule: beforeOpening(10), highestNumber: 1, ranMs: 0 }
          memory = observe(memory, look, SETTINGS)
        }
        return memory.arrivals
      }
      expect([arrivalsBy(4, [8]), arrivalsBy(1, [8, 5, 8])]).toEqual([2, 8])
    })
  })

  it('never calls more people than can find something', () => {
    for (const seed of SEEDS) {
      const stock = 50 + seed * 13
      let version = 0
      for (const { schedule, called } of played({
        ...plain,
        seed,
        stock,
        showShare: 0.6 + (seed % 40) / 100,
      })) {
        // New calls must be within the bound that the stock of the last refresh allows.
        if (schedule.version !== version && schedule.phase === 'open')
          expect(schedule.ceiling - called).toBeLessThanOrEqual(SETTINGS.admissionsPerUnit * stock)
        version = schedule.version
      }
    }
  })

  it('calls as many fewer as wait inside for stock', () => {
    const ceilingWith = (waiting_for_stock: number) =>
      refreshed(1, null, 0)(1, { available: 10, waiting_for_stock }).ceiling
    expect(ceilingWith(0) - ceilingWith(12)).toBe(12)
  })

  it('calls nobody for a unit that somebody inside waits for', () => {
    for (const seed of SEEDS) {
      const stock = 50 + seed * 13
      const scenario = { ...plain, seed, stock, abandoned: 0.4, asksAgainMs: 3_000, seconds: 200 }
      const moments = played(scenario)
      const [last] = moments.slice(-1)
      expect(last, `seed ${seed}`).toMatchObject({ available: 0, held: 0, waiting_for_stock: 0 })
      const most = Math.max(...moments.map((m) => m.waiting_for_stock + m.onTheirWay))
      expect(most, `seed ${seed}`).toBeLessThanOrEqual(SETTINGS.admissionsPerUnit * stock)
      // Two in five units come back, and go to those inside.
      expect(last?.arrivals, `seed ${seed}`).toBeLessThanOrEqual(1.1 * SETTINGS.admissionsPerUnit * stock)
    }
  })

  it('finds buyers for what comes back behind numbers that nobody holds, before their turn has passed', () => {
    const settings = { ...SETTINGS, claimSeconds: 180 }
    for (const seed of SEEDS) {
      const units = 10 + seed
      const called = settings.admissionsPerUnit * units
      const scenario = { ...plain, seed, stock: units, crowd: 1_000, abandoned: 0.3, seconds: 180 }
      const moments = [...play({ ...scenario, gap: [called + 1, called + 40] }, settings)]
      expect(moments.at(-1), `seed ${seed}`).toMatchObject({ available: 0, held: 0, sold: units })
    }
  })

  it.each([300, 3_000])('sells the one unit given back to the five who are there behind %i who never came', (gone) => {
    const settings = { ...SETTINGS, claimSeconds: 180, admissionsPerUnit: 1.2 }
    for (const seed of SEEDS.slice(0, 3)) {
      const stock = 60
      const people = { crowd: stock + gone + 5, gap: [stock + 1, stock + gone] as const, abandoned: 0, givesBack: 40 }
      const moments = [...play({ ...plain, ...people, seed, stock, seconds: 220 }, settings)]
      const isOver = ({ available, held, sold }: Moment) => available === 1 && held + sold === stock - 1
      const backAtMs = moments.findLast((moment) => isOver(moment) && moment.called <= 1.2 * stock)?.atMs ?? Number.NaN
      const soldAtMs = moments.find(({ sold }) => sold === stock)?.atMs ?? Number.POSITIVE_INFINITY
      expect(soldAtMs - backAtMs, `seed ${seed}`).toBeLessThan(150_000)
    }
  })

  it('counts nobody as a no-show where everybody is late', () => {
    for (const seed of SEEDS) {
      const slow = { ...plain, seed, rate: 500, stock: 2_000, slowestArrivalMs: 10_000 + 3_000 * (seed % 20) }
      const moments = [...play({ ...slow, abandoned: 0, seconds: 90 }, { ...SETTINGS, claimSeconds: 180 })]
      const called = Math.max(...moments.map((m) => m.called))
      expect(called, `seed ${seed}`).toBeLessThanOrEqual(SETTINGS.admissionsPerUnit * slow.stock)
    }
  })

  it('counts nobody as a no-show before the first arrivals, for half the claim time', () => {
    const settings = { ...SETTINGS, claimSeconds: 180 }
    const room = settings.admissionsPerUnit * 1_000
    const refresh = refreshed(1_000, null, room, settings)
    const ceilingAt = (second: number) => refresh(second, { available: 1_000 }).ceiling
    for (let second = 1; second < 90; second++) expect(ceilingAt(second), `second ${second}`).toBe(room)
    for (let second = 90; second < 95; second++) ceilingAt(second)
    expect(ceilingAt(95)).toBeGreaterThan(room)
  })

  describe('with as many squatters as units, the first in line', () => {
    const stock = 50
    const squat = { ...plain, rate: 5, stock, crowd: 600, squatters: stock, asksAgainMs: 3_000, seconds: 1_200 }

    it('sells the units to others', () => {
      for (const seed of SEEDS.slice(0, 3)) {
        const moments = played({ ...squat, seed })
        const soldAfter = (seconds: number) => moments[seconds * 20]?.sold
        expect(soldAfter(300), `seed ${seed}`).toBeGreaterThanOrEqual(0.98 * stock)
        expect(moments.at(-1), `seed ${seed}`).toMatchObject({ sold: stock, squatted: 0 })
      }
    })

    it('lets their turn pass while all is in carts, so that they join again at the end', () => {
      const moments = played({ ...squat, seed: 1, abandoned: 1 })
      const firstPassed = moments.find(({ schedule }) => schedule.missed_through >= stock)
      expect(firstPassed?.atMs).toBeLessThanOrEqual(3 * SETTINGS.claimSeconds * 1000)
    })
  })

  it('lets turns pass while all is in carts', () => {
    const carts = { rate: 50, stock: 100, crowd: 1_000, slowestPaymentMs: 10_000_000, asksAgainMs: 3_000 }
    const last = played({ ...plain, ...carts, seed: 1, seconds: 60 }).at(-1)
    expect(last).toMatchObject({ available: 0, schedule: { phase: 'all_in_carts', missed_through: last?.called } })
  })

  it('goes through all_in_carts to sold_out, and sells every unit', () => {
    for (const seed of SEEDS) {
      const stock = 20 + seed
      const moments = played({ ...plain, seed, stock, crowd: 5_000, showShare: 0.9, seconds: 240 })
      const phases = [...new Set(moments.map((m) => m.schedule.phase))]
      expect(phases).toContain('all_in_carts')
      expect(phases[phases.length - 1]).toBe('sold_out')
      expect(moments[moments.length - 1]).toMatchObject({ available: 0, held: 0 })
    }
  })

  it('stands still while the origin is gone, and resumes there at half the rate, without a burst', () => {
    for (const seed of SEEDS) {
      const from = 10 + (seed % 10)
      const to = from + 5 + seed
      const origin = (second: number) => (second >= from && second < to ? 'gone' : 'ok')
      const moments = played({ ...plain, seed, seconds: to + 30, origin })
      const servingAt = servingIn(moments)
      expect(servingAt(to)).toBe(servingAt(from + 4))
      expect(servingAt(from + 4) - servingAt(from)).toBeLessThanOrEqual(plain.rate * 4)
      expect(moments[to * 20 - 1]?.schedule.phase).toBe('paused')
      const goesOn = moments.slice(to * 20).find(({ schedule }) => schedule.phase === 'open')
      expect(goesOn?.schedule.rate_per_second).toBe(plain.rate / 2)
      expect(servingAt(to + 3)).toBeGreaterThan(servingAt(to))
      expect(servingAt(to + 10) - servingAt(to)).toBeLessThanOrEqual(plain.rate * 10)
    }
  })

  it('slows down with a slow origin, and recovers in steps', () => {
    const moments = played({ ...plain, seed: 1, origin: (second) => (second >= 10 && second < 20 ? 'slow' : 'ok') })
    const rateAt = rateIn(moments)
    expect(rateAt(9)).toBe(100)
    expect(rateAt(12)).toBeLessThanOrEqual(50)
    expect(rateAt(19)).toBeCloseTo(100 / 64, 0)
    expect(rateAt(25)).toBeGreaterThan(25)
    expect(rateAt(40)).toBe(100)
  })

  it('survives leaps of the clock: never back, and not far ahead', () => {
    for (const seed of SEEDS) {
      const hour = 3_600_000
      const clockStepMs = (second: number) => (second === 20 ? (seed % 2 ? hour : -hour) : 0)
      const moments = played({ ...plain, seed, clockStepMs })
      const servingAt = servingIn(moments)
      // Forward, at most the minute that the line may run without a refresh; back, nothing at all.
      expect(servingAt(25) - servingAt(19)).toBeLessThanOrEqual(plain.rate * (seed % 2 ? 68 : 8))
      expect(servingAt(40) - servingAt(30)).toBeGreaterThan(plain.rate * 9.8)
    }
  })

  it('lets nobody miss a turn while the line stands still', () => {
    const origin = (second: number) => (second >= 10 && second < 100 ? 'gone' : 'ok')
    const moments = played({ ...plain, seed: 1, seconds: 140, origin })
    expect(moments[100 * 20]?.schedule.missed_through).toBe(0)
    const last = moments[moments.length - 1]
    expect(last?.schedule.missed_through).toBeGreaterThan(0)
  })

  it('ends no turn before its time, however short, while the line changes its speed and stops', () => {
    for (const seed of SEEDS) {
      const claimSeconds = 6 + seed / 4
      const refreshEveryMs = (random: () => number) => 700 + 500 * random()
      const origin = (second: number) => (second % 15 > 11 ? 'gone' : second % 8 > 6 ? 'slow' : 'ok')
      const calledMs: number[] = []
      let openMs = 0
      // A cart that is given back calls several at once.
      const bursts = { rate: 1_000, stock: 300, abandoned: 0.9, slowestArrivalMs: 500, slowestPaymentMs: 4_000 }
      const scenario = { ...plain, ...bursts, seed, refreshEveryMs, origin }
      for (const moment of play(scenario, { ...SETTINGS, claimSeconds })) {
        const { schedule, serving } = moment
        if (schedule.phase !== 'paused') openMs += 50
        while (calledMs.length + 1 <= serving) calledMs.push(openMs)
        // A tick may begin just before a call, and a pause within it.
        const usableMs = openMs - (calledMs[schedule.missed_through - 1] ?? 0) + 100
        if (schedule.missed_through > 0)
          expect(usableMs, `seed ${seed} at ${moment.atMs}`).toBeGreaterThanOrEqual(claimSeconds * 1_000)
      }
      expect(openMs).toBeGreaterThan(30_000)
    }
  })

  it('lets nobody miss a turn by a number that came back unused before they got it', () => {
    const memory = { ...EMPTY_MEMORY, open_ms: 60_000, samples: [{ open_ms: 1_000, called: 50, arrivals: 0 }] }
    expect(calledBeforeClaimWindow(memory, SETTINGS)).toBe(50)
    expect(calledBeforeClaimWindow(uncalled(memory, 41), SETTINGS)).toBe(40)
    expect(calledBeforeClaimWindow(uncalled(memory, 60), SETTINGS)).toBe(50)
  })

  it('stands still while the origin is gone, also if the clock is put back', () => {
    const clockStepMs = (second: number) => (second === 20 ? -3_600_000 : 0)
    const origin = (second: number) => (second < 20 ? 'ok' : 'gone')
    const moments = played({ ...plain, seed: 1, seconds: 30, clockStepMs, origin })
    expect(moments[moments.length - 1]?.schedule.phase).toBe('paused')
  })

  it('opens at the opening, pauses if it is put off after the draw, and ends without a draw', () => {
    const previous = beforeOpening(10)
    const nowMs = previous.anchor_at_ms
    const phaseBy = (phase: 'upcoming' | 'ended', opensInMs: number, draw: typeof DRAW | null) => {
      const state = { ...stateOf({ rate: 10, maxInside: null }, { available: 100 }), phase }
      const opensAtMs = nowMs + opensInMs
      const moments = { nowMs, fromMs: nowMs, preQueueOpensAtMs: 0, opensAtMs, endsAtMs: null }
      const memory = newMemory(state, nowMs)
      return nextSchedule({ ...moments, previous, state, memory, highestNumber: 5, draw }, SETTINGS).phase
    }
    const draw = { ...DRAW, size: 5 }
    expect([phaseBy('upcoming', 0, draw), phaseBy('upcoming', 1, draw)]).toEqual(['open', 'paused'])
    expect(phaseBy('ended', 0, null)).toBe('ended')
  })
})
