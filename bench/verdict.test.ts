import { describe, expect, test } from 'vitest'
import { commitmentOf, positionOf } from '../shared/draw.ts'
import { arrivalTimes, SHAPES, seeded } from './arrivals.ts'
import { Histogram } from './histogram.ts'
import { type Evidence, type Story, verdict, worstInversionMs } from './verdict.ts'

const seed = 'ab'.repeat(32)
const story = (number: number, changes: Partial<Story> = {}): Story => ({
  number,
  joinSentMs: number * 10,
  joinAnsweredMs: number * 10 + 5,
  admittedAtServing: null,
  order: null,
  end: 'sold_out',
  ...changes,
})

/** A sale of two units to five people, three of them drawn, in which all went well. */
function good(): Evidence {
  return {
    stock: 2,
    stories: [
      story(1, { admittedAtServing: 3, order: 'a', end: 'bought' }),
      story(2),
      story(3),
      story(4, { admittedAtServing: 4, order: 'b', end: 'bought' }),
      story(5),
    ],
    orders: [
      { order_id: 'a', status: 'confirmed' },
      { order_id: 'b', status: 'confirmed' },
    ],
    inventory: { total: 2, available: 0, held: 0, sold: 2 },
    draw: { commitment: commitmentOf(seed), commitmentBefore: commitmentOf(seed), seed, size: 3 },
    charges: [
      { order: 'a', status: 'succeeded' },
      { order: 'b', status: 'succeeded' },
    ],
    worstRoundTripMs: 20,
  }
}

const failed = (evidence: Evidence) =>
  verdict(evidence)
    .filter((c) => !c.holds)
    .map((c) => c.what)
const withStory = (at: number, changes: Partial<Story>): Evidence => {
  const evidence = good()
  return { ...evidence, stories: evidence.stories.map((s, i) => (i === at ? { ...s, ...changes } : s)) }
}

describe('the verdict', () => {
  test('on a sale in which all went well is good', () => {
    expect(failed(good())).toEqual([])
  })

  test.each<[string, Evidence]>([
    ['sold exactly', { ...good(), inventory: { total: 2, available: 0, held: -1, sold: 3 } }],
    ['sold exactly', { ...good(), inventory: { total: 2, available: 1, held: 0, sold: 1 } }],
    ['nobody told "reserved" without an order', withStory(0, { order: 'lost' })],
    [
      'nobody told "reserved" without an order',
      {
        ...good(),
        orders: [
          { order_id: 'a', status: 'expired' },
          { order_id: 'b', status: 'confirmed' },
        ],
      },
    ],
    ['nobody lost', withStory(1, { end: 'failed' })],
    ['nobody lost', withStory(1, { number: null })],
    ['no ticket number given twice', withStory(1, { number: 3 })],
    [
      'nobody admitted before their turn',
      withStory(0, { admittedAtServing: positionOf({ seed, size: 3 }, 1) - 1 }),
    ],
    ['nobody admitted before their turn', withStory(3, { admittedAtServing: 3 })],
    ['first come, first served', withStory(3, { joinSentMs: 5_000, joinAnsweredMs: 5_001 })],
    [
      'the draw is the one committed to',
      { ...good(), draw: { ...good().draw, commitmentBefore: 'another' } },
    ],
    ['the draw is the one committed to', { ...good(), draw: { ...good().draw, seed: 'cd'.repeat(32) } }],
    [
      'charged once, and only for what was sold',
      { ...good(), charges: [...(good().charges ?? []), { order: 'a', status: 'succeeded' }] },
    ],
    [
      'charged once, and only for what was sold',
      { ...good(), charges: [{ order: 'a', status: 'succeeded' }] },
    ],
    [
      'charged once, and only for what was sold',
      { ...good(), charges: [...(good().charges ?? []), { order: 'x', status: 'succeeded' }] },
    ],
  ])('sees when "%s" does not hold', (what, evidence) => {
    expect(failed(evidence)).toContain(what)
  })

  test('measures an inversion from the answer of the one to the call of the other', () => {
    const first = story(2, { joinSentMs: 0, joinAnsweredMs: 10 })
    const second = story(1, { joinSentMs: 110, joinAnsweredMs: 120 })
    expect(worstInversionMs([first, second])).toBe(100)
    expect(worstInversionMs([story(1), story(2)])).toBe(0)
  })
})

test('a histogram is right to a few percent', () => {
  const histogram = new Histogram()
  for (let ms = 1; ms <= 10_000; ms++) histogram.add(ms)
  for (const share of [0.5, 0.9, 0.99]) {
    expect(histogram.percentile(share) / (share * 10_000)).toBeGreaterThan(0.97)
    expect(histogram.percentile(share) / (share * 10_000)).toBeLessThan(1.03)
  }
  expect(histogram.summary()).toMatchObject({ count: 10_000, max: 10_000 })
})

test.each(SHAPES)(
  'arrivals of the shape %s are in order, within the time given, and the same for a seed',
  (shape) => {
    const times = arrivalTimes(shape, 1_000, 5_000, seeded(7))
    expect([...times]).toEqual([...times].sort((a, b) => a - b))
    expect(times.at(0)).toBeGreaterThanOrEqual(shape === 'early' ? -5_000 : 0)
    expect(times.at(-1)).toBeLessThanOrEqual(5_000)
    expect(arrivalTimes(shape, 1_000, 5_000, seeded(7))).toEqual(times)
  },
)
