import { expect, test } from 'vitest'
import { ADMISSIONS_PER_UNIT, type Moment, playLines, TICK_MS } from './testing/two-lines.ts'

const SEEDS = Array.from({ length: 12 }, (_, i) => 7 * i + 1)
const at = (moments: readonly Moment[], second: number) => moments[second * (1000 / TICK_MS)]?.called ?? []
const between = (moments: readonly Moment[], from: number, to: number) =>
  at(moments, to).map((called, i) => called - (at(moments, from)[i] ?? 0))

/** Members leave for a while and return, and the public joins all the time. */
const comingAndGoing = (second: number) =>
  [second < 10 ? 400 : second < 30 ? 420 : 2_000, Math.min(5_000, 200 * second)] as const

test('two lines together never let in more than the room there is', () => {
  for (const seed of SEEDS) {
    const maxInside = 60
    const moments = playLines({ seed, rate: 50, stock: 1e6, maxInside, seconds: 60, crowd: comingAndGoing })
    const most = Math.max(...moments.map(({ held, onTheirWay }) => held + onTheirWay))
    expect(most, `seed ${seed}`).toBeLessThanOrEqual(maxInside)
    expect(most, `seed ${seed}`).toBeGreaterThan(maxInside * 0.7)
  }
})

test('two lines together call no more people than may find something, and sell all', () => {
  const stock = 300
  for (const seed of SEEDS) {
    const moments = playLines({ seed, rate: 50, stock, maxInside: null, seconds: 60, crowd: comingAndGoing })
    const called = moments.at(-1)?.called ?? []
    expect(
      called.reduce((sum, one) => sum + one, 0),
      `seed ${seed}`,
    ).toBeLessThanOrEqual(ADMISSIONS_PER_UNIT * stock)
    expect(moments.at(-1)?.available, `seed ${seed}`).toBe(0)
  }
})

test('lines are called by weight while both wait, and one of them at the whole rate while the other is empty', () => {
  for (const seed of SEEDS) {
    const crowd = () => [2_000, 5_000] as const
    const moments = playLines({ seed, rate: 40, stock: 1e6, maxInside: null, seconds: 60, crowd })
    const [members = 0, others = 0] = between(moments, 5, 25)
    expect(members / 20, `seed ${seed}`).toBeCloseTo(30, 0)
    expect(others / 20, `seed ${seed}`).toBeCloseTo(10, 0)
    const alone = playLines({
      seed,
      rate: 40,
      stock: 1e6,
      maxInside: null,
      seconds: 40,
      crowd: () => [100, 5_000] as const,
    })
    expect((between(alone, 15, 35)[1] ?? 0) / 20, `seed ${seed}`).toBeCloseTo(40, 0)
  }
})
