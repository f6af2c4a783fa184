import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byWeight, divide, inWholes, type Notes, type Parts, sharesOf } from './lines.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

const parties = fc.array(
  fc.record({
    weight: fc.double({ min: 0.01, max: 1000, noNaN: true }),
    demand: fc.oneof(fc.constant(0), fc.double({ min: 1, max: 1e6, noNaN: true })),
  }),
  { minLength: 1, maxLength: 10 },
)
const wholes = fc.double({ min: 1, max: 1e5, noNaN: true })

describe('shares of a whole', () => {
  test('sum to the whole, and leave nobody out who waits', () =>
    fc.assert(
      fc.property(wholes, parties, (whole, asking) => {
        const shares = sharesOf(whole, asking)
        expect(sum(shares)).toBeCloseTo(whole, 4)
        const weights = sum(asking.map(({ weight, demand }) => (demand > 0 ? weight : 0)))
        for (const [i, { weight, demand }] of asking.entries()) {
          if (demand === 0) continue
          expect(shares[i]).toBeGreaterThan(0)
          // At least its share among those who wait, unless it needs less.
          expect(shares[i]).toBeGreaterThanOrEqual(Math.min(demand, (whole * weight) / weights) * (1 - 1e-9))
        }
      }),
    ))

  test('give what nobody waits for to the others, as far as they wait', () =>
    fc.assert(
      fc.property(wholes, parties, (whole, asking) => {
        const wanted = sum(asking.map(({ demand }) => demand))
        const shares = sharesOf(whole, asking)
        for (const [i, { demand }] of asking.entries())
          if (wanted >= whole) expect(shares[i]).toBeLessThanOrEqual(demand * (1 + 1e-9))
          else expect(shares[i]).toBeGreaterThanOrEqual(demand)
      }),
    ))

  test.each([
    [1_000, 1_000, [75, 25]],
    [0, 1_000, [0, 100]],
    [5, 1_000, [5, 95]],
    [0, 0, [75, 25]],
  ])('divide by weight where %i and %i are waited for: %j', (members, others, shares) => {
    const parties = [
      { weight: 3, demand: members },
      { weight: 1, demand: others },
    ]
    expect(sharesOf(100, parties)).toEqual(shares)
  })

  test('are the same in whole numbers, and the indivisible rest goes from line to line', () => {
    fc.assert(
      fc.property(fc.nat(1e5), parties, fc.nat(100), (whole, asking, turn) => {
        const shares = inWholes(sharesOf(whole, asking), turn)
        expect(sum(shares)).toBe(whole)
        expect(shares.every((share) => Number.isInteger(share) && share >= 0)).toBe(true)
      }),
    )
    const halves = [0.5, 0.5]
    expect([inWholes(halves, 0), inWholes(halves, 1)]).toEqual([
      [1, 0],
      [0, 1],
    ])
  })
})

const LINES = [
  { line: 'members', weight: 3 },
  { line: 'public', weight: 1 },
]
const NONE = { units: 0, inside: 0 }

/** Lines that ask one after the other, with so many who wait in each. */
function asking(whole: Parts, waiting: Record<string, number>) {
  let notes: Notes = {}
  let nowMs = 1_000_000
  return (line: string, coming = NONE) => {
    nowMs += 400
    const report = { waiting: waiting[line] ?? 0, coming }
    const divided = divide(notes, { line, report, lines: LINES, whole, nowMs })
    notes = divided.notes
    return divided.given
  }
}

describe('a sale divided among lines that ask in turns', () => {
  const WHOLE = { rate: 100, units: 40, inside: 20 }

  test('gives each its weight once the others have heard of theirs', () => {
    const waiting = { members: 500, public: 0 }
    const ask = asking(WHOLE, waiting)
    expect([ask('members'), ask('public')]).toMatchObject([{ rate: 100, units: 40, inside: 20 }, { rate: 0 }])
    waiting.public = 5_000
    // The members still have it all.
    expect(ask('public')).toEqual({ rate: 0, units: 0, inside: 0 })
    for (let round = 0; round < 3; round++) for (const { line } of LINES) ask(line)
    expect(ask('members')).toEqual({ rate: 75, units: 30, inside: 15 })
    expect(ask('public')).toEqual({ rate: 25, units: 10, inside: 5 })
    waiting.members = 0
    for (let round = 0; round < 3; round++) for (const { line } of LINES) ask(line)
    expect(ask('public')).toEqual(WHOLE)
  })

  test('never lets in more than there is room for, whoever asks when, and whatever they report', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ line: fc.nat(1), waiting: fc.nat(30), called: fc.double({ min: 0, max: 1, noNaN: true }) }),
          { maxLength: 60 },
        ),
        (steps) => {
          let notes: Notes = {}
          const coming = [0, 0]
          const rates = [0, 0]
          const granted = [0, 0]
          for (const [i, { line, waiting, called }] of steps.entries()) {
            const name = LINES[line]?.line ?? ''
            const own = coming[line] ?? 0
            const report = { waiting, coming: { units: own, inside: own } }
            const asked = { line: name, report, lines: LINES, whole: WHOLE, nowMs: 1e6 + i * 300 }
            const divided = divide(notes, asked)
            notes = divided.notes
            const { rate, inside } = divided.given
            rates[line] = rate
            granted[line] = inside
            // Each calls as many as it may, at any moment until it asks again.
            for (const other of [0, 1])
              coming[other] = Math.max(coming[other] ?? 0, Math.floor((granted[other] ?? 0) * called))
            expect(sum(coming)).toBeLessThanOrEqual(WHOLE.inside)
            expect(sum(rates)).toBeLessThanOrEqual(WHOLE.rate + 1e-6)
          }
        },
      ),
    ))

  test('forgets a line that asks no more', () => {
    const asks = (line: string, nowMs: number) => ({
      line,
      report: { waiting: 900, coming: NONE },
      lines: LINES,
      whole: WHOLE,
      nowMs,
    })
    const { notes } = divide({}, asks('members', 0))
    const later = (nowMs: number) => divide(notes, asks('public', nowMs)).given
    expect(later(9_000)).toMatchObject({ rate: 0, inside: 0 })
    expect(later(11_000)).toMatchObject({ rate: 100, inside: 0 })
    expect(later(61_000)).toEqual(WHOLE)
  })

  test('without news of the others, gives the part of the weight alone', () => {
    expect(byWeight('members', LINES, WHOLE)).toEqual({ rate: 75, units: 30, inside: 15 })
    expect(byWeight('public', LINES, { ...WHOLE, inside: 1 })).toEqual({ rate: 25, units: 10, inside: 0 })
  })
})
