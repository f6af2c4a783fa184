import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ageMs, DRIFT, hear, type Known, momentAt, momentHere, roomMs, steadyMs } from './room-clock.ts'
import { ANNOUNCE_MS, CLOCK_TOLERANCE_MS } from './timeline.ts'

/** The time of a message is short as a rule, and seconds at times. */
const way = fc.oneof({ weight: 3, arbitrary: fc.nat(60) }, fc.nat(8_000))
const question = fc.record({ afterMs: fc.nat(500), thereMs: way, backMs: way, mirrorMs: fc.nat(100) })
const questions = fc.array(question, { minLength: 1, maxLength: 25, size: 'max' })
/**
 * How an isolate's clock differs from the room's: by so much, by so much more each second, and by a step at some
 * moment.
 */
const clock = fc.record({
  apartMs: fc.oneof(fc.constantFrom(0, 50, -50), fc.integer({ min: -4_000_000, max: 4_000_000 })),
  drift: fc.constantFrom(0, DRIFT / 2, -DRIFT / 2),
  stepMs: fc.constantFrom(0, 0, 50, -50, 200, -200, 5_000, -5_000, 3_600_000, -3_600_000),
  stepAtMs: fc.nat(8_000),
})
type Clock = typeof clock extends fc.Arbitrary<infer Value> ? Value : never
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

/** Three answers within three milliseconds, on a clock that goes slow: none excludes what the others have shown. */
const AT_ONCE: [Question[], Clock] = [
  [
    { afterMs: 0, thereMs: 3, backMs: 0, mirrorMs: 0 },
    { afterMs: 0, thereMs: 0, backMs: 2, mirrorMs: 0 },
    { afterMs: 0, thereMs: 0, backMs: 0, mirrorMs: 0 },
  ],
  { apartMs: 0, drift: -DRIFT / 2, stepMs: 0, stepAtMs: 0 },
]

/** Both clocks measure the drift themselves. */
const SLACK_MS = 0.1
const BEGAN_MS = 1_000_000
const STEPLESS = { stepMs: 0, stepAtMs: 0 } as const

const ownClock = ({ apartMs, drift, stepMs, stepAtMs }: Clock, atMs: number) =>
  atMs + apartMs + drift * (atMs - BEGAN_MS) + (atMs >= BEGAN_MS + stepAtMs ? stepMs : 0)

/**
 * Plays an isolate that asks again and again; yields all it knows at moments of the room's clock, which is the true
 * one.
 */
function* follow(asked: readonly Question[], clockIs: Clock) {
  let sentMs = BEGAN_MS
  const answers = asked.map(({ afterMs, thereMs, backMs, mirrorMs }) => {
    sentMs += afterMs
    const at_ms = sentMs + thereMs - mirrorMs
    return { sentMs, at_ms, age_ms: mirrorMs, heardMs: sentMs + thereMs + backMs, version: Math.floor(at_ms / 700) }
  })
  answers.sort((a, b) => a.heardMs - b.heardMs)
  let known: Known | null = null
  let [reachedMs, boundMs, newestMs, lastMs] = [0, Number.POSITIVE_INFINITY, 0, BEGAN_MS]
  for (const [i, answer] of answers.entries()) {
    const trip = { sentMs: ownClock(clockIs, answer.sentMs), heardMs: ownClock(clockIs, answer.heardMs) }
    const before: Known | null = known
    known = hear(before, answer, trip)
    boundMs += 2 * DRIFT * (answer.heardMs - lastMs)
    lastMs = answer.heardMs
    newestMs = Math.max(newestMs, answer.at_ms)
    if (known !== before)
      boundMs = Math.min(boundMs, (1 + 2 * DRIFT) * (answer.heardMs - answer.sentMs + answer.age_ms))
    const untilMs = answers[i + 1]?.heardMs ?? answer.heardMs + 2_000
    for (const atMs of [answer.heardMs, (answer.heardMs + untilMs) / 2, untilMs]) {
      const ownMs = ownClock(clockIs, atMs)
      const momentMs = momentAt(known, ownMs, reachedMs)
      const drifted = 2 * DRIFT * (atMs - answer.heardMs)
      yield { atMs, ownMs, momentMs, reachedMs, before, known, newestMs, boundMs: boundMs + drifted }
      reachedMs = momentMs
    }
  }
}

it('moves nobody back, overruns no pause and keeps the newest copy, whatever travel and clocks do', () => {
  fc.assert(
    fc.property(questions, clock, (asked, clockIs) => {
      for (const { atMs, momentMs, reachedMs, before, known, newestMs } of follow(asked, clockIs)) {
        expect(momentMs).toBeGreaterThanOrEqual(reachedMs)
        // Whatever was announced after the copy was made holds later than this; so the version in effect is the
        // room's own.
        expect(momentMs).toBeLessThanOrEqual(newestMs + ANNOUNCE_MS)
        expect(momentMs - atMs).toBeLessThanOrEqual(ANNOUNCE_MS)
        expect(known.stampedMs).toBe(newestMs)
        expect(known.version).toBeGreaterThanOrEqual(before?.version ?? 0)
      }
    }),
    { numRuns: 250 },
  )
})

it('is ahead of the room by at most the quickest round trip, and by nothing where the clocks agree', () => {
  fc.assert(
    fc.property(questions, clock, (asked, { apartMs, drift }) => {
      for (const seen of follow(asked, { apartMs, drift, ...STEPLESS })) {
        const { atMs, ownMs, momentMs, reachedMs, known, boundMs } = seen
        // After a quicker answer it may stand still until the room is as far.
        if (momentMs > reachedMs) expect(momentMs - atMs).toBeLessThanOrEqual(boundMs + SLACK_MS)
        expect(known.mostMs - known.leastMs).toBeLessThanOrEqual(boundMs + SLACK_MS)
        const drifted = DRIFT * (atMs - BEGAN_MS) + SLACK_MS
        expect(atMs - ownMs).toBeGreaterThanOrEqual(known.leastMs - drifted)
        expect(atMs - ownMs).toBeLessThanOrEqual(known.mostMs + drifted)
      }
      for (const { atMs, momentMs } of follow(asked, { apartMs: 0, drift: 0, ...STEPLESS }))
        expect(momentMs).toBeLessThanOrEqual(atMs)
    }),
    { numRuns: 250, examples: [AT_ONCE] },
  )
})

it('takes a late answer neither for a difference of clocks nor for a new copy', () => {
  const quick = hear(null, { version: 8, at_ms: 20_000, age_ms: 0 }, { sentMs: 19_998, heardMs: 20_003 })
  // Asked 7.5 s ago, and made just now.
  const late = hear(quick, { version: 8, at_ms: 20_050, age_ms: 0 }, { sentMs: 12_550, heardMs: 20_060 })
  expect([roomMs(late, 20_100), ageMs(late, 20_100)]).toEqual([20_100, 50])
  expect(late.mostMs - late.leastMs).toBeLessThanOrEqual(5.2)
  const older = { version: 8, at_ms: 20_049, age_ms: 0 }
  expect(hear(late, older, { sentMs: 12_550, heardMs: 20_070 })).toBe(late)
  expect(hear(late, { ...older, version: 7, at_ms: 20_080 }, { sentMs: 20_080, heardMs: 20_081 })).toBe(late)
})

it('follows a room whose clock was put back by so much that its line is a new one', () => {
  const before = hear(null, { version: 8, at_ms: 5_000_000, age_ms: 0 }, { sentMs: 5_000_000, heardMs: 5_000_000 })
  const reachedMs = momentAt(before, 5_000_300, 0)
  const after = hear(before, { version: 9, at_ms: 1_400_000, age_ms: 0 }, { sentMs: 5_000_400, heardMs: 5_000_400 })
  expect(momentAt(after, 5_000_500, reachedMs)).toBe(1_400_100)
})

it('lets a clock that is put back by a little stand still', () => {
  expect([steadyMs(5_000, 4_800), steadyMs(5_000, 5_001)]).toEqual([5_000, 5_001])
  expect(steadyMs(5_000, 4_999 - CLOCK_TOLERANCE_MS)).toBe(4_999 - CLOCK_TOLERANCE_MS)
})

it('never dates a moment of another clock too early, and only a little too late after a quick answer', () => {
  const trips = fc.array(fc.record({ thereMs: fc.nat(800), backMs: fc.nat(800) }), { minLength: 1, maxLength: 20 })
  const steadyForMs = 100
  fc.assert(
    fc.property(trips, (all) => {
      const opensAtMs = 60_000
      let [known, quickestMs]: [number | null, number] = [null, Number.POSITIVE_INFINITY]
      for (const [second, { thereMs, backMs }] of all.entries()) {
        const sentMs = second * 1_000
        const trip = { sentMs, heardMs: sentMs + thereMs + backMs }
        known = momentHere(known, opensAtMs - sentMs - thereMs, trip, steadyForMs)
        quickestMs = Math.min(quickestMs, backMs)
        expect(known).toBeGreaterThanOrEqual(opensAtMs)
        expect(known).toBeLessThanOrEqual(opensAtMs + quickestMs + steadyForMs)
      }
    }),
  )
  // One that is moved, by an operator, is followed both ways; one that has passed stays.
  const quick = { sentMs: 1_000, heardMs: 1_004 }
  expect([70_000, 50_000].map((inMs) => momentHere(60_000, inMs, quick, steadyForMs))).toEqual([71_004, 51_004])
  expect(momentHere(900, -3, quick, steadyForMs)).toBe(900)
})
