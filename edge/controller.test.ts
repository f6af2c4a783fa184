import { describe, expect, it } from 'vitest'
import { type Moment, play, type Scenario, SETTINGS } from './testing/crowd.ts'

const SEEDS = Array.from({ length: 20 }, (_, seed) => 3 * seed + 1)

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

/** Plays a scenario, checks at every tick what must always hold, and returns all moments. */
function played(scenario: Scenario): Moment[] {
  const moments: Moment[] = []
  let before: Moment | undefined
  for (const moment of play(scenario)) {
    if (before) {
      const seconds = (moment.atMs - before.atMs) / 1000
      expect(moment.serving, `seed ${scenario.seed} at ${moment.atMs}: moved back`).toBeGreaterThanOrEqual(
        before.serving,
      )
      if (!scenario.clockStepMs) {
        expect(
          moment.serving - before.serving,
          `seed ${scenario.seed} at ${moment.atMs}: leapt`,
        ).toBeLessThanOrEqual(scenario.rate * SETTINGS.noShowBoost * seconds + 1e-6)
      }
    }
    before = moment
    moments.push(moment)
  }
  return moments
}

/** What was called (or arrived) in every window of so many seconds. */
function* windows(moments: readonly Moment[], seconds: number, of: 'serving' | 'arrivals', fromMs = 1_000) {
  const ticks = (seconds * 1000) / 50
  for (let i = moments.findIndex((m) => m.atMs >= fromMs); i + ticks < moments.length; i += 10) {
    yield (moments[i + ticks]?.[of] ?? 0) - (moments[i]?.[of] ?? 0)
  }
}

describe('the controller', () => {
  it('keeps the configured rate within 2 % over any 10 s, whenever it gets to look', () => {
    for (const seed of SEEDS) {
      for (const rate of [1, 37.5, 100, 2_000]) {
        const lookEveryMs = (random: () => number) => 100 + random() ** 4 * 20_000
        for (const called of windows(
          played({ ...plain, seed, rate, seconds: 30, lookEveryMs }),
          10,
          'serving',
        )) {
          expect(Math.abs(called - rate * 10)).toBeLessThanOrEqual(rate * 10 * 0.02)
        }
      }
    }
  })

  it('makes up for those who do not turn up, so that arrivals meet the rate', () => {
    for (const seed of SEEDS) {
      const showShare = 0.55 + (seed % 40) / 100
      const slowestArrivalMs = 500 + seed * 100
      const scenario = { ...plain, seed, showShare, rate: 200, seconds: 150, slowestArrivalMs }
      for (const arrived of windows(played(scenario), 40, 'arrivals', 80_000)) {
        expect(Math.abs(arrived / 40 / 200 - 1), `seed ${seed}, share ${showShare}`).toBeLessThan(0.04)
      }
    }
  })

  it('speeds up no further than it is allowed to, however few turn up', () => {
    const moments = played({ ...plain, seed: 1, showShare: 0.05, seconds: 120 })
    const fastest = Math.max(...moments.map((m) => m.schedule.rate_per_second))
    expect(fastest).toBeCloseTo(plain.rate * SETTINGS.noShowBoost, 3)
  })

  it('never lets more people in than there is room for', () => {
    for (const seed of SEEDS) {
      const maxInside = 50 + seed * 20
      const scenario = { ...plain, seed, maxInside, showShare: 0.5 + (seed % 50) / 100, seconds: 90 }
      for (const { onTheirWay, held, atMs } of played(scenario)) {
        expect(onTheirWay + held, `seed ${seed} at ${atMs}`).toBeLessThanOrEqual(maxInside)
      }
    }
  })

  it('calls no more people than can still find something', () => {
    for (const seed of SEEDS) {
      let before: Moment | undefined
      for (const moment of played({
        ...plain,
        seed,
        stock: 50 + seed * 13,
        showShare: 0.6 + (seed % 40) / 100,
      })) {
        // Whoever is called anew must be within the bound that the stock of the last look allows.
        if (
          before &&
          moment.schedule.version !== before.schedule.version &&
          moment.schedule.phase === 'open'
        ) {
          const mayCome = moment.schedule.ceiling - moment.called
          expect(mayCome).toBeLessThanOrEqual(SETTINGS.admissionsPerUnit * (50 + seed * 13))
        }
        before = moment
      }
    }
  })

  it('calls nobody for a unit that somebody inside is waiting for', () => {
    for (const seed of SEEDS) {
      const stock = 50 + seed * 13
      const scenario = { ...plain, seed, stock, abandoned: 0.4, asksAgainMs: 3_000, seconds: 200 }
      const moments = played(scenario)
      const [last] = moments.slice(-1)
      expect(last, `seed ${seed}`).toMatchObject({ available: 0, held: 0, hopeful: 0 })
      const most = Math.max(...moments.map((m) => m.hopeful + m.onTheirWay))
      expect(most, `seed ${seed}`).toBeLessThanOrEqual(SETTINGS.admissionsPerUnit * stock)
      // Two in five units are given back, and taken by those who are there.
      expect(last?.arrivals, `seed ${seed}`).toBeLessThanOrEqual(1.1 * SETTINGS.admissionsPerUnit * stock)
    }
  })

  it('says that all units are in carts, then that they are sold, and sells every one', () => {
    for (const seed of SEEDS) {
      const stock = 20 + seed
      const moments = played({ ...plain, seed, stock, crowd: 5_000, showShare: 0.9, seconds: 240 })
      const phases = [...new Set(moments.map((m) => m.schedule.phase))]
      expect(phases).toContain('all_in_carts')
      expect(phases[phases.length - 1]).toBe('sold_out')
      expect(moments[moments.length - 1]).toMatchObject({ available: 0, held: 0 })
    }
  })

  it('stands still while the origin is gone, and goes on from there without a burst', () => {
    for (const seed of SEEDS) {
      const from = 10 + (seed % 10)
      const to = from + 5 + seed
      const origin = (second: number) => (second >= from && second < to ? 'gone' : 'ok')
      const moments = played({ ...plain, seed, seconds: to + 30, origin })
      const servingAt = (second: number) => moments[second * 20]?.serving ?? Number.NaN
      expect(servingAt(to)).toBe(servingAt(from + 4))
      expect(servingAt(from + 4) - servingAt(from)).toBeLessThanOrEqual(plain.rate * 4)
      expect(moments[to * 20 - 1]?.schedule.phase).toBe('paused')
      expect(servingAt(to + 3)).toBeGreaterThan(servingAt(to))
      expect(servingAt(to + 10) - servingAt(to)).toBeLessThanOrEqual(plain.rate * 10)
    }
  })

  it('slows down with a slow origin, and recovers step by step', () => {
    const moments = played({
      ...plain,
      seed: 1,
      origin: (second) => (second >= 10 && second < 20 ? 'slow' : 'ok'),
    })
    const rateAt = (second: number) => moments[second * 20]?.schedule.rate_per_second ?? Number.NaN
    expect(rateAt(9)).toBe(100)
    expect(rateAt(12)).toBeLessThanOrEqual(50)
    expect(rateAt(19)).toBeCloseTo(100 / 16, 0)
    expect(rateAt(25)).toBeGreaterThan(40)
    expect(rateAt(35)).toBe(100)
  })

  it('is not moved back by a clock that leaps, and not far ahead', () => {
    for (const seed of SEEDS) {
      const hour = 3_600_000
      const clockStepMs = (second: number) => (second === 20 ? (seed % 2 ? hour : -hour) : 0)
      const moments = played({ ...plain, seed, clockStepMs })
      const servingAt = (second: number) => moments[second * 20]?.serving ?? Number.NaN
      // Forward, at most the minute that the line may run without a look; back, nothing at all.
      expect(servingAt(25) - servingAt(19)).toBeLessThanOrEqual(plain.rate * (seed % 2 ? 68 : 8))
      expect(servingAt(40) - servingAt(30)).toBeGreaterThan(plain.rate * 9.8)
    }
  })

  it('lets nobody miss their turn while the line stands still', () => {
    const origin = (second: number) => (second >= 10 && second < 100 ? 'gone' : 'ok')
    const moments = played({ ...plain, seed: 1, seconds: 140, origin })
    expect(moments[100 * 20]?.schedule.missed_through).toBe(0)
    const last = moments[moments.length - 1]
    expect(last?.schedule.missed_through).toBeGreaterThan(0)
  })
})
