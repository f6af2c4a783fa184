import { describe, expect, test } from 'vitest'
import { commitmentOf, positionOf } from '../../shared/draw.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { isGood } from './check.ts'
import { inversions, mostWithin } from './line.ts'
import type { BotEvidence, Charge, Evidence, LedgerOrder, Seen, Story } from './story.ts'
import { verdict } from './verdict.ts'

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
  reserveSentMs: null,
  method: 'pm_ok',
  payMeantMs: null,
  paidSentMs: null,
  soldOutToldMs: 20_000,
  end: 'sold_out',
}
const ordered = (order_id: string, number: number, status: string): LedgerOrder => ({
  order_id,
  status,
  visitor: `v${number}`,
  ticket_number: number,
  quantity: 1,
})

/** The draw is published at the opening, after the sixtieth has joined and before the next. */
const OPENS_AT_MS = 6_550
const HOLD_MS = 5_000

/** The line's documents: a moment, how far it had come then, and how fast it goes on. */
function document(atMs: number, position: number, changes: Partial<Schedule> = {}): Seen {
  const schedule: Schedule = {
    sale: 's',
    version: atMs,
    phase: 'open',
    anchor_at_ms: atMs,
    anchor_position: position,
    rate_per_second: 10,
    ceiling: 1e6,
    missed_through: 0,
    pre_queue_size: DRAWN,
    draw_commitment: commitmentOf(seed),
    draw_seed: seed,
    draw_beacon: null,
    pre_queue_opens_at: '',
    opens_at: '',
    ends_at: null,
    pre_queue_opens_at_ms: 0,
    ends_at_ms: null,
    server_time_ms: atMs,
    ...changes,
  }
  return { atMs, lastMs: atMs, schedule }
}
const undrawn = { draw_seed: null, ceiling: 0, pre_queue_size: 0 }

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
  for (let number = DRAWN + 1; number <= DRAWN + 10; number++)
    amend(number, { joinSentMs: number * 100 + 1_000, joinAnsweredMs: number * 100 + 1_005 })
  const admitted = { admittedMs: 10_000, admittedAtServing: 65, reserveSentMs: 10_500, soldOutToldMs: null }
  const paid = { ...admitted, payMeantMs: 11_000, paidSentMs: 11_000 }
  amend(61, { ...paid, order: 'a', orderStatus: 'confirmed', end: 'bought' })
  amend(62, { ...paid, order: 'b', orderStatus: 'confirmed', end: 'bought' })
  amend(63, { ...admitted, order: 'c', orderStatus: 'reserved', method: null, end: 'abandoned' })
  amend(64, { ...paid, order: 'd', orderStatus: 'cancelled', method: 'pm_declined', end: 'declined' })
  return {
    stock: 2,
    rate: 10,
    limit: 1,
    price: { unit_price_minor: 4900, currency: 'EUR' },
    holdMs: HOLD_MS,
    opensAtMs: OPENS_AT_MS,
    ownSystem: false,
    cutShort: false,
    stories,
    otherNumbers: [],
    orders: [
      ordered('a', 61, 'confirmed'),
      ordered('b', 62, 'fulfilled'),
      ordered('c', 63, 'expired'),
      ordered('d', 64, 'cancelled'),
    ],
    inventory: { total: 2, available: 0, held: 0, sold: 2 },
    documents: [
      document(1_000, 0, undrawn),
      document(6_000, 0, { ...undrawn, pre_queue_size: 55 }),
      document(7_000, 4),
      document(10_000, 34),
      document(13_500, 65),
    ],
    servedByMs: () => 65,
    positions: { told: 3, wrong: 0 },
    shoppingMs: Array.from({ length: 100 }, (_, i) => 8_000 + i * 100),
    charges: [charge('a'), charge('b'), charge('d', { status: 'declined' })],
    bots: { rejoins: 4, otherNumbers: 0, intrusions: 4, letIn: 0, rushes: 4, secondOrders: 0 },
  }
}

const charge = (order: string, changes: Partial<Charge> = {}): Charge => ({
  order,
  status: 'captured',
  amount_minor: 4900,
  currency: 'EUR',
  ...changes,
})

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
const withCharges = (...charges: Charge[]): Evidence => ({ ...good(), charges })
/** The documents, with one of them changed; at the end, with one more. */
const withDocument = (at: number, changed: Seen): Evidence => ({
  ...good(),
  documents: Object.assign([...good().documents], { [at]: changed }),
})
/** A sale that served nobody: those who would have bought ended so. */
const nobodyServed = (end: Story['end']): Evidence => ({
  ...good(),
  orders: [],
  charges: [],
  inventory: { total: 2, available: 2, held: 0, sold: 0 },
  stories: good().stories.map(({ number }) => ({ ...untold, number, soldOutToldMs: null, end })),
})
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
    ['nobody lost', 'a sale that ended by itself', nobodyServed('ended')],
    ['sold exactly', 'a sale that served nobody', nobodyServed('ended')],
    ['sold exactly', 'nobody who paid got anything', nobodyServed('expired')],
    [
      'nobody told "sold out" while units were in carts',
      'a unit reserved after the first was told so',
      withStory(62, { reserveSentMs: 20_001 }),
    ],
    [
      'nobody told "sold out" while units were in carts',
      'a unit paid for after the first was told so',
      withStory(9, { soldOutToldMs: 10_900 }),
    ],
    [
      'nobody told "sold out" while units were in carts',
      'a unit that was still to come back',
      withStory(9, { soldOutToldMs: 14_000 }),
    ],
    [
      'payments came to what they were',
      'a payment that was accepted and never made',
      withStory(62, { end: 'expired' }),
    ],
    [
      'payments came to what they were',
      'a good payment that was declined',
      withStory(62, { end: 'declined', orderStatus: 'cancelled' }),
    ],
    [
      'payments came to what they were',
      'a payment in time that was never accepted',
      withStory(62, { end: 'expired', paidSentMs: null }),
    ],
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
      withCharges(charge('a'), charge('b'), charge('a')),
    ],
    ['charged once, and only for what was sold', 'a charge that was never made', withCharges(charge('a'))],
    [
      'charged once, and only for what was sold',
      'a charge whose money was never taken',
      withCharges(charge('a'), charge('b', { status: 'authorized' })),
    ],
    [
      'charged once, and only for what was sold',
      'an authorization left standing for nothing',
      withCharges(charge('a'), charge('b'), charge('c', { status: 'authorized' })),
    ],
    [
      'charged once, and only for what was sold',
      'a charge for an order that was cancelled',
      withCharges(charge('a'), charge('b'), charge('c')),
    ],
    [
      'charged once, and only for what was sold',
      'a charge for an order that nobody knows',
      withCharges(charge('a'), charge('b'), charge('x', { status: 'pending' })),
    ],
    [
      'charged once, and only for what was sold',
      'another amount',
      withCharges(charge('a'), charge('b', { amount_minor: 9800 })),
    ],
    [
      'charged once, and only for what was sold',
      'another currency',
      withCharges(charge('a'), charge('b', { currency: 'USD' })),
    ],
    [
      'charged once, and only for what was sold',
      'records that cannot be read on a system of its own',
      { ...good(), ownSystem: true, charges: { unread: 'no such table' } },
    ],
    ['no ticket number given twice', 'a number given twice', withStory(8, { number: 9 })],
    ['no ticket number given twice', 'a number that is none', withStory(8, { number: 0 })],
    [
      'no ticket number given twice',
      'the number of one who had to join again',
      { ...good(), otherNumbers: [70] },
    ],
    [
      'the draw is the one committed to',
      'another commitment than was published first',
      withDocument(0, document(1_000, 0, { ...undrawn, draw_commitment: commitmentOf('cd'.repeat(32)) })),
    ],
    [
      'the draw is the one committed to',
      'another seed than was committed to',
      withDocument(2, document(7_000, 4, { draw_seed: 'cd'.repeat(32) })),
    ],
    [
      'the draw is the one committed to',
      'a seed that was never revealed',
      { ...good(), documents: good().documents.slice(0, 2) },
    ],
    [
      'the draw is the one committed to',
      'a seed that was revealed before the opening',
      withDocument(1, document(6_000, 0)),
    ],
    [
      'the draw is the one committed to',
      'another size afterwards',
      withDocument(4, document(13_500, 65, { pre_queue_size: 61 })),
    ],
    [
      'the draw is the one committed to',
      'another beacon afterwards',
      withDocument(4, document(13_500, 65, { draw_beacon: 'ff'.repeat(32) })),
    ],
    [
      'drawn were those who came before the opening',
      'a lobby without a draw',
      {
        ...good(),
        documents: good().documents.map(({ atMs, schedule }) =>
          document(atMs, schedule.anchor_position, { ...schedule, pre_queue_size: 0 }),
        ),
      },
    ],
    [
      'drawn were those who came before the opening',
      'one who came after it, and took part',
      withStory(60, { joinSentMs: 7_600, joinAnsweredMs: 7_605 }),
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
    ['the line never moved back', 'a step back', withDocument(5, document(14_000, 64))],
    [
      'the line runs no faster than the rate',
      'three times the rate',
      withDocument(3, document(10_000, 34, { rate_per_second: 30 })),
    ],
    ['the line runs no faster than the rate', 'a leap', withDocument(5, document(14_000, 85))],
    [
      'people come no faster than the rate',
      'three times as many as the rate',
      { ...good(), shoppingMs: Array.from({ length: 200 }, (_, i) => i * 30) },
    ],
    ['joining again gains no bot a number', 'a second number', withBots({ otherNumbers: 1 })],
    ['no bot in without an admission', 'a bot let in', withBots({ letIn: 1 })],
    ['double clicks and second keys make one order', 'a second order', withBots({ secondOrders: 1 })],
  ])('sees when "%s" does not hold: %s', (what, _, evidence) => {
    expect(failed(evidence)).toContain(what)
    expect(isGood(verdict(evidence))).toBe(false)
  })

  test('lets pass what could not be judged, and says so', () => {
    const checks = verdict({ ...good(), charges: { unread: 'out of reach' } })
    expect(checks.find((check) => check.what.startsWith('charged once'))).toMatchObject({ holds: null })
    expect(isGood(checks)).toBe(true)
  })

  test('takes nothing for proof that did not occur', () => {
    const unjudged = (evidence: Evidence) =>
      verdict(evidence).flatMap(({ what, holds }) => (holds === null ? [what] : []))
    expect(unjudged(withBots({ rejoins: 0, intrusions: 0, rushes: 0 }))).toEqual([
      'joining again gains no bot a number',
      'no bot in without an admission',
      'double clicks and second keys make one order',
    ])
    expect(unjudged({ ...good(), documents: good().documents.slice(0, 3) })).toContain(
      'the line never moved back',
    )
    // As many as these might all come in one bunch.
    expect(unjudged({ ...good(), shoppingMs: Array.from({ length: 60 }, () => 8_000) })).toEqual([
      'people come no faster than the rate',
    ])
    const nobodyWilling = nobodyServed('no_show')
    const stories = nobodyWilling.stories.map((s) => ({ ...s, method: null }))
    expect(unjudged({ ...nobodyWilling, stories })).toEqual([
      'sold exactly',
      'nobody told "sold out" while units were in carts',
      'nobody told "reserved" without an order',
      'orders ended as their owners were told',
      'payments came to what they were',
      'no live order that nobody was told of',
      'no visitor over the limit',
      'charged once, and only for what was sold',
      'nobody admitted before their turn',
    ])
  })

  test('takes it for honest when somebody comes to pay too late', () => {
    const late = withStory(62, { end: 'expired', payMeantMs: 15_000, paidSentMs: null })
    expect(failed(late)).not.toContain('payments came to what they were')
  })

  test('expects no more sold than bought where there were fewer buyers than units', () => {
    const evidence = good()
    const few = {
      ...evidence,
      stock: 10,
      inventory: { total: 10, available: 8, held: 0, sold: 2 },
      stories: evidence.stories.map((s) =>
        s.end === 'sold_out' ? { ...s, soldOutToldMs: null, end: 'no_show' as const } : s,
      ),
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
