import { describe, expect, test } from 'vitest'
import { commitmentOf, positionOf } from '../shared/draw.ts'
import {
  type BotEvidence,
  type Evidence,
  inversions,
  isGood,
  type LedgerOrder,
  mostWithin,
  type Story,
  verdict,
} from './verdict.ts'

const seed = 'ab'.repeat(32)
const DRAWN = 60
const draw = { seed, size: DRAWN, beacon: null }
const position = (number: number) => positionOf(draw, number)

const untold: Story = {
  number: null,
  joinSentMs: 0,
  joinAnsweredMs: 5,
  admittedMs: null,
  admittedAtServing: null,
  order: null,
  orderStatus: null,
  end: 'sold_out',
}
const ordered = (order_id: string, number: number, status: string): LedgerOrder => ({
  order_id,
  status,
  visitor: `v${number}`,
  ticket_number: number,
  quantity: 1,
})

/** A sale of two units in which all went well: sixty in the draw, ten after it; number 61 and 62 bought, 63 walked away. */
function good(): Evidence {
  const stories = Array.from({ length: DRAWN + 10 }, (_, i): Story => {
    const number = i + 1
    // Before the opening the order of joining says nothing of the position; the shuffle is the draw's own.
    return { ...untold, number, joinSentMs: number * 100, joinAnsweredMs: number * 100 + 5 }
  })
  const amend = (number: number, changes: Partial<Story>) => {
    const story = stories[number - 1]
    if (story) stories[number - 1] = { ...story, ...changes }
  }
  const admitted = { admittedMs: 10_000, admittedAtServing: 65 }
  amend(61, { ...admitted, order: 'a', orderStatus: 'confirmed', end: 'bought' })
  amend(62, { ...admitted, order: 'b', orderStatus: 'confirmed', end: 'bought' })
  amend(63, { ...admitted, order: 'c', orderStatus: 'reserved', end: 'abandoned' })
  amend(64, { ...admitted, order: 'd', orderStatus: 'cancelled', end: 'declined' })
  return {
    stock: 2,
    rate: 10,
    limit: 1,
    cutShort: false,
    stories,
    orders: [
      ordered('a', 61, 'confirmed'),
      ordered('b', 62, 'fulfilled'),
      ordered('c', 63, 'expired'),
      ordered('d', 64, 'cancelled'),
    ],
    inventory: { total: 2, available: 0, held: 0, sold: 2 },
    draw: { ...draw, commitment: commitmentOf(seed), commitmentBefore: commitmentOf(seed) },
    servedByMs: () => 65,
    served: [0, 0, 10, 65],
    positions: { told: 3, wrong: 0 },
    shoppingMs: [10_000, 10_050, 10_100, 10_150],
    charges: [
      { order: 'a', status: 'succeeded' },
      { order: 'b', status: 'succeeded' },
      { order: 'd', status: 'declined' },
    ],
    bots: { rejoins: 4, otherNumbers: 0, intrusions: 4, letIn: 0, rushes: 4, secondOrders: 0 },
  }
}

const failed = (evidence: Evidence) =>
  verdict(evidence)
    .filter((c) => c.holds === false)
    .map((c) => c.what)

const withStory = (number: number, changes: Partial<Story>): Evidence => {
  const evidence = good()
  const stories = evidence.stories.map((s) => (s.number === number ? { ...s, ...changes } : s))
  return { ...evidence, stories }
}
const withBots = (changes: Partial<BotEvidence>): Evidence => {
  const evidence = good()
  return { ...evidence, bots: evidence.bots && { ...evidence.bots, ...changes } }
}
const withOrders = (...orders: LedgerOrder[]): Evidence => ({ ...good(), orders })
const [a, b, c, d] = good().orders as [LedgerOrder, LedgerOrder, LedgerOrder, LedgerOrder]
/** Everyone in the draw stands where they joined. */
const unshuffled = () => [...good().stories].sort((x, y) => position(x.number ?? 1) - position(y.number ?? 1))

describe('the verdict', () => {
  test('on a sale in which all went well is good, and nothing was left unjudged', () => {
    const checks = verdict(good())
    expect(failed(good())).toEqual([])
    expect(checks.filter((check) => check.holds === null)).toEqual([])
    expect(isGood(checks)).toBe(true)
  })

  test.each<[what: string, violation: string, evidence: Evidence]>([
    [
      'sold exactly',
      'a unit too many',
      { ...good(), inventory: { total: 2, available: -1, held: 0, sold: 3 } },
    ],
    [
      'sold exactly',
      'a unit left while people were turned away',
      { ...good(), inventory: { total: 2, available: 1, held: 0, sold: 1 } },
    ],
    [
      'sold exactly',
      'a unit held for ever',
      { ...good(), inventory: { total: 2, available: 0, held: 1, sold: 1 } },
    ],
    [
      'sold exactly',
      'a unit gone from the sum',
      { ...good(), inventory: { total: 2, available: 0, held: 0, sold: 1 } },
    ],
    ['sold exactly', 'a third buyer', withStory(65, { end: 'bought', order: 'e', orderStatus: 'confirmed' })],
    [
      'sold exactly',
      'another total than was ordered',
      { ...good(), inventory: { total: 3, available: 1, held: 0, sold: 2 } },
    ],
    ['nobody lost', 'a visitor who was never answered', withStory(7, { end: 'failed' })],
    ['nobody lost', 'a visitor who gave up', withStory(7, { end: 'gave_up' })],
    ['nobody lost', 'a visitor who came in time and was too late', withStory(7, { end: 'missed_turn' })],
    ['nobody lost', 'a rehearsal that was cut short', { ...good(), cutShort: true }],
    ['nobody told "reserved" without an order', 'an order that is not in the ledger', withOrders(a, b, d)],
    [
      'nobody told "reserved" without an order',
      "another visitor's order",
      withOrders({ ...a, ticket_number: 62 }, b, c, d),
    ],
    [
      'orders ended as their owners were told',
      'told bought, and expired',
      withOrders(a, { ...b, status: 'expired' }, c, d),
    ],
    [
      'orders ended as their owners were told',
      'told declined, and confirmed',
      withOrders(a, b, c, { ...d, status: 'confirmed' }),
    ],
    [
      'orders ended as their owners were told',
      'walked away, and still held',
      withOrders(a, b, { ...c, status: 'reserved' }, d),
    ],
    [
      'no live order that nobody was told of',
      'an order out of nowhere',
      withOrders(a, b, c, d, ordered('e', 70, 'reserved')),
    ],
    ['no visitor over the limit', 'two units for one', withOrders(a, { ...b, visitor: a.visitor }, c, d)],
    ['no visitor over the limit', 'two units in one order', withOrders({ ...a, quantity: 2 }, b, c, d)],
    [
      'charged once, and only for what was sold',
      'a second charge',
      { ...good(), charges: [...(good().charges ?? []), { order: 'a', status: 'succeeded' }] },
    ],
    [
      'charged once, and only for what was sold',
      'a charge that was never made',
      { ...good(), charges: [{ order: 'a', status: 'succeeded' }] },
    ],
    [
      'charged once, and only for what was sold',
      'a charge for an order that was cancelled',
      { ...good(), charges: [...(good().charges ?? []), { order: 'c', status: 'succeeded' }] },
    ],
    ['no ticket number given twice', 'a number given twice', withStory(8, { number: 9 })],
    ['no ticket number given twice', 'a number that is none', withStory(8, { number: 0 })],
    [
      'the draw is the one committed to',
      'another commitment than was published first',
      { ...good(), draw: { ...good().draw, commitmentBefore: commitmentOf('cd'.repeat(32)) } },
    ],
    [
      'the draw is the one committed to',
      'another seed than was committed to',
      { ...good(), draw: { ...good().draw, seed: 'cd'.repeat(32) } },
    ],
    [
      'the draw is the one committed to',
      'a seed that was never revealed',
      { ...good(), draw: { ...good().draw, seed: null } },
    ],
    [
      'positions told are those of the draw',
      'a position of someone else',
      { ...good(), positions: { told: 3, wrong: 1 } },
    ],
    [
      'speed bought nothing before the opening',
      'a draw in the order of joining',
      {
        ...good(),
        stories: unshuffled().map((s, i) => ({ ...s, joinSentMs: i * 100, joinAnsweredMs: i * 100 + 5 })),
      },
    ],
    [
      'first come, first served',
      'one who came 2 s later and stands before',
      withStory(61, { joinSentMs: 8_300, joinAnsweredMs: 8_305 }),
    ],
    [
      'nobody admitted before their turn',
      'let in before the line had come so far',
      withStory(64, { admittedAtServing: 63 }),
    ],
    [
      'nobody admitted before their turn',
      'let in before the public schedule said so',
      { ...good(), servedByMs: () => 63 },
    ],
    [
      'nobody admitted before their turn',
      'let in from the draw by its number instead of its position',
      withStory(numberBehind(), { admittedMs: 10_000, admittedAtServing: numberBehind() }),
    ],
    ['the line never moved back', 'a step back', { ...good(), served: [0, 10, 9, 65] }],
    [
      'no faster than the rate',
      'twice as many as the rate',
      { ...good(), shoppingMs: Array.from({ length: 200 }, (_, i) => i * 50) },
    ],
    ['joining again gains no bot a number', 'a second number', withBots({ otherNumbers: 1 })],
    ['no bot in without an admission', 'a bot let in', withBots({ letIn: 1 })],
    ['double clicks and second keys make one order', 'a second order', withBots({ secondOrders: 1 })],
  ])('sees when "%s" does not hold: %s', (what, _, evidence) => {
    expect(failed(evidence)).toContain(what)
    expect(isGood(verdict(evidence))).toBe(false)
  })

  test('lets pass what could not be judged, and says so', () => {
    const checks = verdict({ ...good(), charges: null })
    expect(checks.find((check) => check.what.startsWith('charged once'))).toMatchObject({ holds: null })
    expect(isGood(checks)).toBe(true)
  })

  test('expects no more sold than bought where there were fewer buyers than units', () => {
    const evidence = good()
    const few = {
      ...evidence,
      stock: 10,
      inventory: { total: 10, available: 8, held: 0, sold: 2 },
      stories: evidence.stories.map((s) => (s.end === 'sold_out' ? { ...s, end: 'no_show' as const } : s)),
    }
    expect(failed(few)).toEqual([])
    expect(failed({ ...few, inventory: { total: 10, available: 7, held: 0, sold: 3 } })).toContain(
      'sold exactly',
    )
  })
})

/** A number of the draw whose position lies behind it. */
function numberBehind(): number {
  for (let number = 1; number <= DRAWN; number++) if (position(number) > number) return number
  throw new Error('a draw that moves nobody back')
}

describe('an inversion', () => {
  const joined = (number: number, sentMs: number, answeredMs: number): Story => ({
    ...untold,
    number,
    joinSentMs: sentMs,
    joinAnsweredMs: answeredMs,
  })

  test('is measured from the answer of the one to the call of the other', () => {
    expect(inversions([joined(2, 0, 10), joined(1, 110, 120)])).toEqual({
      worstMs: 100,
      beyond: 0,
      inverted: 1,
    })
    expect(inversions([joined(1, 0, 10), joined(2, 110, 120)])).toMatchObject({ worstMs: 0, inverted: 0 })
  })

  test('of two who asked at the same time is none', () => {
    expect(inversions([joined(2, 0, 50), joined(1, 40, 60)])).toMatchObject({ inverted: 0 })
  })

  test('is beyond the bound when it is longer than a lease and a round trip', () => {
    expect(inversions([joined(2, 0, 10), joined(1, 269, 279)]).beyond).toBe(0)
    expect(inversions([joined(2, 0, 10), joined(1, 271, 281)]).beyond).toBe(1)
  })
})

test('the most within a window counts no moment at its end', () => {
  expect(mostWithin([0, 5, 10, 15], 10)).toBe(2)
  expect(mostWithin([15, 0, 10, 5, 9], 10)).toBe(3)
  expect(mostWithin([], 10)).toBe(0)
})
