import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Moment, must, play, type Scenario } from '../../testing/simulation.ts'
import { lateness, openingPace, type Pace, paceAfter, type Signs, withTheWay } from './congestion.ts'

const TARGET_MS = 500
/** 0: a line whose share of the rate the others have. */
const rates = fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 20_000, noNaN: true }))
const signsOf = (rate: number, delayMs = { min: 0, max: 20_000 }): fc.Arbitrary<Signs> =>
  fc.record({
    elapsedSeconds: fc.double({ min: 0.05, max: 30, noNaN: true }),
    rate: fc.constant(rate),
    delayMs: fc.double({ ...delayMs, noNaN: true }),
    isOverloaded: delayMs.max > TARGET_MS ? fc.boolean() : fc.constant(false),
    arriving: fc.double({ min: 0, max: 2 * rate, noNaN: true }),
  })
const withSigns = rates.chain((rate) => fc.tuple(fc.constant(rate), fc.array(signsOf(rate), { maxLength: 60 })))

/** One person a second, or the 64th part of the rate; the whole rate if that is less. */
const leastOf = (rate: number) => Math.min(1, Math.max(1 / 64, 1 / rate))

describe('the pace', () => {
  it('is a share of the rate that starves nobody, whatever the signs', () => {
    fc.assert(
      fc.property(withSigns, ([rate, signs]) => {
        let pace = openingPace(rate)
        for (const seen of signs) {
          const next = paceAfter(pace, seen, TARGET_MS)
          expect(next.throttle).toBeLessThanOrEqual(1)
          expect(next.throttle).toBeGreaterThanOrEqual(leastOf(rate))
          const { base_ms = 0 } = next
          const allowed = TARGET_MS / Math.max(TARGET_MS, base_ms)
          if (seen.isOverloaded || seen.delayMs - base_ms > TARGET_MS) {
            // At once by a tenth at least, unless it is the least already.
            const isFirst = pace.quick_seconds > 0
            const most = Math.max(leastOf(rate), pace.throttle * (isFirst ? 0.9 : 1))
            expect(next.throttle).toBeLessThanOrEqual(most + 1e-9)
          } else expect(next.throttle).toBeGreaterThanOrEqual(Math.min(pace.throttle, allowed))
          pace = next
        }
      }),
    )
  })

  it('opens at the configured rate up to 100 a second, and the lower the higher that is', () => {
    const rateOf = (rate: number) => openingPace(rate).throttle * rate
    expect([37.5, 100, 200, 2_000, 20_000].map(rateOf)).toEqual([37.5, 100, 50, 31.25, 312.5])
  })

  it('is the configured rate while answers are quick, above 100 a second after the first seconds', () => {
    const quick = rates.chain((rate) =>
      fc.tuple(fc.constant(rate), fc.array(signsOf(rate, { min: 0, max: TARGET_MS / 8 }), { maxLength: 30 })),
    )
    const come = (signs: Signs, pace: Pace) => ({ ...signs, arriving: pace.throttle * signs.rate })
    fc.assert(
      fc.property(quick, ([rate, signs]) => {
        let pace = openingPace(rate)
        let expected = pace.throttle
        for (const seen of signs) {
          pace = paceAfter(pace, come(seen, pace), TARGET_MS)
          expected = Math.min(1, expected * 2 ** Math.min(1, seen.elapsedSeconds))
          expect(pace.throttle).toBeCloseTo(expected, 6)
        }
      }),
    )
  })

  it('runs no further ahead of those who arrive than twice, while nothing is known yet', () => {
    const opening = openingPace(2_000)
    const seen = { elapsedSeconds: 1, rate: 2_000, isOverloaded: false }
    const next = (arriving: number, delayMs = 0) =>
      paceAfter(opening, { ...seen, delayMs, arriving }, TARGET_MS).throttle * 2_000
    expect(next(17)).toBeCloseTo(34)
    // Answers that begin to take longer are a sign that comes before all others.
    expect(next(25)).toBeCloseTo(50)
    expect(next(25, TARGET_MS * (3 / 16))).toBeCloseTo(31.25 * Math.SQRT2)
    expect(next(25, TARGET_MS / 4)).toBeLessThan(33)
    // It waits for nobody: they may all have gone.
    expect(next(0)).toBeGreaterThan(31)
    expect(next(0)).toBeLessThan(33)
  })

  it('rises gently beyond what went well, the less the nearer answers are to slow', () => {
    const pace: Pace = { throttle: 0.1, proven: 0.1, quick_seconds: 30 }
    const seen = { elapsedSeconds: 1, rate: 1_000, isOverloaded: false, arriving: 100 }
    const rise = (delayMs: number, arriving = 100) =>
      paceAfter(pace, { ...seen, delayMs, arriving }, TARGET_MS).throttle / pace.throttle - 1
    expect(rise(0)).toBeCloseTo(0.0725, 3)
    expect(rise(TARGET_MS / 4)).toBeCloseTo(0.0402, 3)
    expect(rise(TARGET_MS)).toBeCloseTo(0.0177, 3)
    // Where nobody arrives there is nobody to wait.
    expect(rise(0, 0)).toBeGreaterThan(0.8)
  })

  it('does not take the few who come while few are called for all that goes well', () => {
    const slow = { elapsedSeconds: 1, rate: 1_000, delayMs: TARGET_MS + 1, isOverloaded: false, arriving: 50 }
    const onTheWayBack: Pace = { throttle: 0.1, proven: 0.4, quick_seconds: 1 }
    const next = paceAfter(onTheWayBack, slow, TARGET_MS)
    expect(next.throttle).toBeCloseTo(0.09)
    expect(next.proven).toBeCloseTo(0.36)
    expect(paceAfter({ ...onTheWayBack, throttle: 0.4 }, slow, TARGET_MS).proven).toBeCloseTo(0.09)
  })

  it('slows by what a delay costs that calling fewer does not cure, and not to a stand', () => {
    const delays = fc.double({ min: TARGET_MS + 1, max: 10 * TARGET_MS, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 20_000 }), delays, (rate, delayMs) => {
        let pace: Pace = { throttle: 1, proven: 1, quick_seconds: 60 }
        const least = TARGET_MS / delayMs
        for (let second = 0; second < 120; second++)
          pace = paceAfter(
            pace,
            { elapsedSeconds: 1, rate, delayMs, isOverloaded: false, arriving: pace.throttle * rate },
            TARGET_MS,
          )
        expect(pace.throttle).toBeCloseTo(least, 6)
      }),
    )
  })

  it('returns to the configured rate when answers are quick again, within 45 seconds', () => {
    fc.assert(
      fc.property(withSigns, ([rate, signs]) => {
        let pace: Pace = signs.reduce((before, seen) => paceAfter(before, seen, TARGET_MS), openingPace(rate))
        const quick = { elapsedSeconds: 1, rate, delayMs: TARGET_MS, isOverloaded: false, arriving: 0 }
        for (let second = 0; second < 45; second++) pace = paceAfter(pace, quick, TARGET_MS)
        expect(pace.throttle).toBeCloseTo(1, 6)
      }),
    )
  })
})

it('takes a tenth of liars, however quick or late they come, for no congestion', () => {
  const millis = fc.double({ min: 0, max: 90_000, noNaN: true })
  const latest = fc.tuple(
    fc.array(millis, { minLength: 36, maxLength: 36 }),
    fc.array(millis, { minLength: 4, maxLength: 4 }),
  )
  fc.assert(
    fc.property(latest, ([honest, lies]) => {
      const sorted = honest.toSorted((a, b) => a - b)
      const { quickestMs } = lateness([...lies, ...honest], undefined, 1)
      expect(quickestMs).toBeGreaterThanOrEqual(sorted[0] ?? 0)
      expect(quickestMs).toBeLessThanOrEqual(sorted[4] ?? 0)
    }),
  )
})

describe('the way to the origin and back', () => {
  const seen = (lastMs: number, beforeMs: number) => withTheWay(200, { lastMs, beforeMs, leastMs: 40 }, TARGET_MS)

  it('counts twice by what it is slower than at its best, which is the distance', () => {
    expect([seen(40, 40), seen(140, 140), seen(340, 340)]).toEqual([200, 400, 800])
  })

  it('is slow when two state requests were, and after one the line becomes no quicker', () => {
    expect([seen(400, 140), seen(140, 400), seen(100, 40)]).toEqual([TARGET_MS, 400, 320])
  })
})

const PLAIN: Omit<Scenario, 'seed' | 'rate'> = {
  stock: 1_000_000,
  crowd: 1_000_000,
  showShare: 1,
  maxInside: null,
  seconds: 90,
  slowestArrivalMs: 1_000,
  slowestPaymentMs: 20_000,
  abandoned: 0,
}
const servedIn = (moments: readonly Moment[], from: number, to: number) =>
  ((moments[to * 20 - 1]?.arrivals ?? 0) - (moments[from * 20]?.arrivals ?? 0)) / (to - from)
const quantile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

describe('a line before an origin of limited capacity', () => {
  const cases = fc.record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    rate: fc.constantFrom(200, 500, 2_000),
    share: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
    slowestArrivalMs: fc.constantFrom(200, 1_000, 2_000),
  })

  it('converges to what the origin serves, with answers that stay quick, and calls in order', () => {
    fc.assert(
      fc.property(cases, ({ share, ...given }) => {
        const capacity = given.rate * share
        const moments = [...play({ ...PLAIN, ...given, capacity: () => capacity })]
        expect(servedIn(moments, 30, 90) / capacity).toBeGreaterThan(0.6)
        const late = moments.slice(30 * 20)
        expect(
          quantile(
            late.map((m) => m.answerMs),
            0.5,
          ),
        ).toBeLessThan(TARGET_MS)
        for (const [i, { serving, atMs }] of moments.entries())
          must(serving >= (moments[i - 1]?.serving ?? 0), () => `moved back at ${atMs}`)
      }),
      { numRuns: 4 },
    )
  })

  it('calls at the configured rate again once the origin is quick again', () => {
    const capacity = (second: number) => (second >= 20 && second < 40 ? 40 : 10_000)
    const moments = [...play({ ...PLAIN, seed: 1, rate: 400, capacity })]
    const rateAt = (second: number) => moments[second * 20]?.schedule.rate_per_second
    expect(rateAt(19)).toBe(400)
    expect(rateAt(30)).toBeLessThan(100)
    expect(rateAt(75)).toBe(400)
  })

  it('takes people who are slow by themselves for no congestion', () => {
    for (const seed of [1, 2]) {
      for (const rate of [20, 200, 2_000]) {
        const slow = { ...PLAIN, seed, rate, slowestArrivalMs: 20_000, seconds: 100 }
        let before = 0
        for (const { atMs, schedule } of play(slow)) {
          const least = atMs > 90_000 ? rate : before
          must(schedule.rate_per_second >= least, () => `seed ${seed} at ${atMs}: ${schedule.rate_per_second}`)
          if (atMs > 4_000) before = Math.min(rate, schedule.rate_per_second)
        }
      }
    }
  })

  it('takes people who all come late for a moment for no congestion', () => {
    const once = { ...PLAIN, seed: 1, rate: 200, seconds: 40, slowestArrivalMs: 200 }
    const delayMs = (second: number) => (second === 21 || second === 22 ? 900 : 0)
    for (const { atMs, schedule } of play({ ...once, delayMs }))
      if (atMs > 10_000) expect(schedule.rate_per_second, `at ${atMs}`).toBe(200)
  })

  it('slows down when people called come later than usual, also where the origin is quick', () => {
    const lateFrom = 20
    const late = {
      ...PLAIN,
      seed: 1,
      rate: 200,
      seconds: 40,
      delayMs: (second: number) => Math.max(0, second - lateFrom) * 500,
    }
    const moments = [...play(late)]
    const rateAt = (second: number) => moments[second * 20]?.schedule.rate_per_second ?? Number.NaN
    expect(rateAt(lateFrom)).toBe(200)
    expect(Math.min(...[25, 26, 27, 28].map(rateAt))).toBeLessThan(100)
  })
})
