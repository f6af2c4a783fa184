import { describe, expect, test } from 'vitest'
import { commitmentOf, positionOf } from '../../shared/draw.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import {
  type AttackRecord,
  type Attempts,
  type Change,
  type Charge,
  type Evidence,
  type FaultRecord,
  type Gains,
  type GivenBack,
  isGood,
  type LedgerOrder,
  type Seen,
  type StoreRecords,
  type VisitRecord,
} from './evidence.ts'
import { judge } from './invariants.ts'
import { inversions, mostWithin } from './queue-checks.ts'

const seed = 'ab'.repeat(32)
const DRAWN = 60
const draw = { seed, size: DRAWN, beacon: null }
const position = (number: number) => positionOf(draw, number)

const nothing: VisitRecord = {
  ...{ number: null, source: 'typed', joinSentMs: 0, joinAnsweredMs: 5, admittedMs: null, admittedAtServing: null },
  ...{ order: null, statuses: [], quantity: 1, reserveSentMs: null, method: 'pm_ok', declines: 0 },
  ...{ payMeantMs: null, paidSentMs: null, soldOutSeenMs: 20_000, end: 'sold_out' },
}
const ordered = (order_id: string, number: number, status: string): LedgerOrder => ({
  ...{ order_id, status, reason: status === 'cancelled' ? 'declined' : null },
  ...{ visitor: `v${number}`, ticket_number: number, quantity: 1, total_minor: 4900, refunded_minor: 0 },
})

const published = (order: string, ...statuses: string[]) =>
  statuses.map((status) => ({ type: `order.${status}`, order, status }))
const aPart: GivenBack = { calls: 1, restocked: false, cancelled: false, minor: 1_000 }

/** The stores agree on two units, both sold. */
const agreed: StoreRecords = {
  row: { total: 2, held: 0, sold: 2 },
  orders: { held: 0, sold: 2 },
  gate: { available: 0, held: 0 },
  intents: 0,
  holds: 0,
  findings: [],
}

/** The draw is published at the opening, after the sixtieth visitor has joined and before the next one. */
const OPENS_AT_MS = 6_550
const HOLD_MS = 5_000

/** A public schedule at a moment, with the queue's position then and its rate. */
function document(atMs: number, position: number, changes: Partial<Schedule> = {}): Seen {
  const schedule = sampleSchedule({
    version: atMs,
    anchor_at_ms: atMs,
    anchor_position: position,
    rate_per_second: 10,
    ceiling: 1e6,
    pre_queue_size: DRAWN,
    draw_commitment: commitmentOf(seed),
    draw_seed: seed,
    server_time_ms: atMs,
    ...changes,
  })
  return { atMs, lastMs: atMs, schedule }
}
const undrawn = { draw_seed: null, ceiling: 0, pre_queue_size: 0 }

/**
 * A sale of two units in which all went well: sixty visitors in the draw, ten after it; numbers 61 and 62 bought, and
 * 63 left.
 */
function good(): Evidence {
  const visits = Array.from({ length: DRAWN + 10 }, (_, i): VisitRecord => {
    const number = i + 1
    // Before the opening the order of joining has no influence on the position, which the draw's shuffle determines.
    return { ...nothing, number, joinSentMs: number * 100, joinAnsweredMs: number * 100 + 5 }
  })
  const amend = (number: number, changes: Partial<VisitRecord>) => Object.assign(visits[number - 1] ?? {}, changes)
  for (let number = DRAWN + 1; number <= DRAWN + 10; number++)
    amend(number, { joinSentMs: number * 100 + 1_000, joinAnsweredMs: number * 100 + 1_005 })
  const admitted = { admittedMs: 10_000, admittedAtServing: 65, reserveSentMs: 10_500, soldOutSeenMs: null }
  const paid = { ...admitted, payMeantMs: 11_000, paidSentMs: 11_000 }
  amend(61, { ...paid, order: 'a', statuses: ['confirmed'], end: 'bought' })
  amend(62, { ...paid, order: 'b', statuses: ['confirmed'], end: 'bought' })
  amend(63, { ...admitted, order: 'c', statuses: ['reserved'], method: null, end: 'abandoned' })
  amend(64, { ...paid, order: 'd', statuses: ['cancelled'], method: 'pm_declined', end: 'declined' })
  return {
    stock: 2,
    rate: 10,
    limit: 1,
    currency: 'EUR',
    holdMs: HOLD_MS,
    opensAtMs: OPENS_AT_MS,
    ownSystem: false,
    cutShort: false,
    visits,
    otherNumbers: [],
    orders: [
      ordered('a', 61, 'confirmed'),
      { ...ordered('b', 62, 'fulfilled'), refunded_minor: 1_000 },
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
    positions: { seen: 3, wrong: 0 },
    shoppingMs: Array.from({ length: 100 }, (_, i) => 8_000 + i * 100),
    charges: [charge('a'), charge('b', { refunded_minor: 1_000 }), charge('d', { status: 'declined' })],
    operator: { orders: new Map([['b', aPart]]), failed: [] },
    feed: [
      ...published('a', 'reserved', 'paying', 'confirmed'),
      ...published('b', 'reserved', 'paying', 'confirmed', 'fulfilled'),
      { type: 'order.refunded', order: 'b', status: 'fulfilled' },
      ...published('c', 'reserved', 'expired'),
      ...published('d', 'reserved', 'paying', 'cancelled'),
    ],
    attempts: { rejoins: 4, otherNumbers: 0, intrusions: 4, letIn: 0, repeats: 4, secondOrders: 0 },
    bots: true,
    attackers: null,
    bareErrors: 0,
    funnel: [{ key: 'typed', views: 0, joined: 70, turns: 4, reserved: 4, paid: 2, paid_minor: 9_800 }],
    stores: agreed,
    hall: null,
    goods: null,
    shards: 1,
    faults: null,
    front: null,
    views: null,
  }
}

const charge = (order: string, changes: Partial<Charge> = {}): Charge => ({
  order,
  status: 'captured',
  amount_minor: 4900,
  currency: 'EUR',
  refunded_minor: 0,
  recorded: true,
  ...changes,
})

const failed = (evidence: Evidence) =>
  judge(evidence)
    .filter((c) => c.holds === false)
    .map((c) => c.what)

const changed = (changes: Partial<Evidence>): Evidence => ({ ...good(), ...changes })
const withAttackers = (changes: Partial<AttackRecord> = {}, gain: Partial<Gains> = {}): Evidence => {
  const squat = { attack: 'squat', bots: 20, calls: 90, places: 1, visitors: 1, admissions: 1, bought: 0, held: 0 }
  return changed({
    attackers: {
      gains: [{ ...squat, refusals: [], ...gain }],
      orders: new Set(),
      refusedByLimit: 0,
      accounts: 1,
      ...changes,
    },
  })
}
const withVisit = (number: number, changes: Partial<VisitRecord>) =>
  changed({ visits: good().visits.map((visit) => (visit.number === number ? { ...visit, ...changes } : visit)) })
const withAttempts = (changes: Partial<Attempts>) => changed({ attempts: { ...good().attempts, ...changes } })
const withStores = (changes: Partial<StoreRecords>) => changed({ stores: { ...agreed, ...changes } })
const withFaults = (changes: Partial<FaultRecord> = {}) =>
  changed({
    faults: {
      kills: { redis: 1, api: 2 },
      network: { cut: 1 },
      steps: { edge: 1 },
      failovers: [900, 1_200, 4_000],
      wipes: 1,
      inFlight: 3,
      polls: 9,
      oversold: 0,
      broken: [],
      ...changes,
    },
  })
/** The evidence with captured charges of these orders, and with other charges. */
const withCharges = (...charges: (string | Charge)[]) =>
  changed({ charges: charges.map((one) => (typeof one === 'string' ? charge(one) : one)) })
const withGivenBack = (order: string, given: GivenBack | null) =>
  changed({ operator: { orders: new Map(given ? [[order, given]] : []), failed: [] } })
const withFeed = (change: (feed: readonly Change[]) => Change[]) => changed({ feed: change(good().feed as Change[]) })
const withOrders = (...orders: LedgerOrder[]) => changed({ orders })
const withInventory = (available: number, held: number, sold: number, total = 2) =>
  changed({ inventory: { total, available, held, sold } })
/** The evidence with one schedule changed or added. */
const withDocument = (at: number, document: Seen) =>
  changed({ documents: Object.assign([...good().documents], { [at]: document }) })
/** A sale that served nobody: every visitor has this end. */
const nobodyServed = (end: VisitRecord['end']) =>
  changed({
    orders: [],
    charges: [],
    operator: { orders: new Map(), failed: [] },
    feed: [],
    inventory: { total: 2, available: 2, held: 0, sold: 0 },
    visits: good().visits.map(({ number }) => ({ ...nothing, number, soldOutSeenMs: null, end })),
  })
const [a, b, c, d] = good().orders as [LedgerOrder, LedgerOrder, LedgerOrder, LedgerOrder]
/** Every visitor in the draw has the position in which they joined. */
const unshuffled = () => [...good().visits].sort((x, y) => position(x.number ?? 1) - position(y.number ?? 1))

const VIOLATIONS: Record<string, Record<string, Evidence>> = {
  'sold exactly': {
    'a unit too many': withInventory(-1, 0, 3),
    'a unit left while people were turned away': withInventory(1, 0, 1),
    'a unit held forever': withInventory(0, 1, 1),
    'a third buyer': withVisit(65, { end: 'bought', order: 'e', statuses: ['confirmed'] }),
    'another total than was ordered': withInventory(1, 0, 2, 3),
    'a sale that served nobody': nobodyServed('ended'),
  },
  'nobody lost': {
    'a visitor who was never answered': withVisit(7, { end: 'failed' }),
    'a visitor who came in time and was too late': withVisit(7, { end: 'missed_turn' }),
    'a rehearsal that was cut short': changed({ cutShort: true }),
    'a sale that ended by itself': nobodyServed('ended'),
    'a visitor told to wait for others, who had no order that came to nothing': withVisit(7, { end: 'others_first' }),
  },
  'no "sold out" while units are in carts': {
    'a unit reserved after the first saw it': withVisit(62, { reserveSentMs: 20_001 }),
    'a unit paid for after the first saw it': withVisit(9, { soldOutSeenMs: 10_900 }),
    'a unit that was still to come back': withVisit(9, { soldOutSeenMs: 14_000 }),
  },
  'accepted payments end as their method does': {
    'a payment that was accepted and never made': withVisit(62, { end: 'expired' }),
    'a buyer whose bank never got an answer, and who bought': withVisit(62, { method: 'pm_3ds_abandoned' }),
    'a good payment that was declined': withVisit(62, { end: 'declined', statuses: ['cancelled'] }),
    'a payment in time that was never accepted': withVisit(62, { end: 'expired', paidSentMs: null }),
  },
  'every order in a response is in the ledger': {
    'an order that is not in the ledger': withOrders(a, b, d),
    "another visitor's order": withOrders({ ...a, ticket_number: 62 }, b, c, d),
  },
  'orders end as their buyers saw': {
    'shown as bought, and expired': withOrders({ ...a, status: 'expired' }, b, c, d),
    'shown as declined, and confirmed': withOrders(a, b, c, { ...d, status: 'confirmed' }),
    'an order that moved back': withVisit(63, { statuses: ['paying', 'reserved'] }),
    'shown as declined, and cancelled for another reason': withOrders(a, b, c, { ...d, reason: 'payment_timeout' }),
    'being paid, and expired without a decline': withVisit(63, { statuses: ['paying'] }),
    'walked away, and still held': withOrders(a, b, { ...c, status: 'reserved' }, d),
  },
  'no live order unknown to its buyer': {
    'an order out of nowhere': withOrders(a, b, c, d, ordered('e', 70, 'reserved')),
  },
  'no visitor over the limit': {
    'two units for one': withOrders(a, { ...b, visitor: a.visitor }, c, d),
    'two units in one order': withOrders({ ...a, quantity: 2 }, b, c, d),
  },
  'charged once, and only for sold orders': {
    'a second charge': withCharges('a', 'b', 'a'),
    'a charge whose money was never taken': withCharges('a', charge('b', { status: 'authorized' })),
    'an authorization left standing for nothing': withCharges('a', 'b', charge('c', { status: 'authorized' })),
    'a charge for an order that was cancelled': withCharges('a', 'b', 'c'),
    'a charge for an order that nobody knows': withCharges('a', 'b', charge('x', { status: 'pending' })),
    'another amount': withCharges('a', charge('b', { amount_minor: 9800 })),
    'another currency': withCharges('a', charge('b', { currency: 'USD' })),
    'records that cannot be read on a system of its own': changed({
      ownSystem: true,
      charges: { unread: 'no such table' },
    }),
  },
  'refunds are made once, and recorded': {
    'money given back that the ledger does not have': withOrders(a, { ...b, refunded_minor: 0 }, c, d),
    'money given back twice': withCharges('a', charge('b', { refunded_minor: 2_000 })),
    'a refund in the ledger that was never made': withCharges('a', 'b'),
    'a refund that nobody asked for': withGivenBack('b', null),
    'all asked for, and a part given back': withGivenBack('b', { ...aPart, minor: null }),
    'a call that was never answered': changed({ operator: { ...good().operator, failed: ['refund 0'] } }),
  },
  'the feed has every change once, and ends as the ledger': {
    'a change it never published': withFeed((feed) => feed.filter(({ status }) => status !== 'expired')),
    'a change published twice': withFeed((feed) => [...feed, ...published('a', 'confirmed')]),
    'an order out of nowhere': withFeed((feed) => [...feed, ...published('e', 'reserved')]),
  },
  'no ticket number issued twice': {
    'a number given twice': withVisit(8, { number: 9 }),
    'an invalid number': withVisit(8, { number: 0 }),
    'the number of one who had to join again': changed({ otherNumbers: [70] }),
  },
  'the draw matches its commitment': {
    'another commitment than was published first': withDocument(
      0,
      document(1_000, 0, { ...undrawn, draw_commitment: commitmentOf('cd'.repeat(32)) }),
    ),
    'another seed than was committed to': withDocument(2, document(7_000, 4, { draw_seed: 'cd'.repeat(32) })),
    'a seed that was never revealed': changed({ documents: good().documents.slice(0, 2) }),
    'a seed that was revealed before the opening': withDocument(1, document(6_000, 0)),
    'another size afterwards': withDocument(4, document(13_500, 65, { pre_queue_size: 61 })),
  },
  'the draw has everyone who came before the opening': {
    'a lobby without a draw': changed({
      documents: good().documents.map(({ atMs, schedule }) =>
        document(atMs, schedule.anchor_position, { ...schedule, pre_queue_size: 0 }),
      ),
    }),
    'one who came after it, and took part': withVisit(60, { joinSentMs: 7_600, joinAnsweredMs: 7_605 }),
  },
  'positions in responses match the draw': {
    'a position of someone else': changed({ positions: { seen: 3, wrong: 1 } }),
  },
  'speed gains nothing before the opening': {
    'a draw in the order of joining': changed({
      visits: unshuffled().map((s, i) => ({ ...s, joinSentMs: i * 100, joinAnsweredMs: i * 100 + 5 })),
    }),
  },
  'first come, first served': {
    'one who came 2 s later and stands before': withVisit(61, { joinSentMs: 8_300, joinAnsweredMs: 8_305 }),
  },
  'nobody admitted before their turn': {
    'let in before the queue had come so far': withVisit(64, { admittedAtServing: 63 }),
    'let in before the public schedule said so': changed({ servedByMs: () => 63 }),
    'let in from the draw by its number instead of its position': withVisit(numberBehind(), {
      admittedMs: 10_000,
      admittedAtServing: numberBehind(),
    }),
  },
  'the queue never moves back': { 'a step back': withDocument(5, document(14_000, 64)) },
  'the queue runs no faster than the rate': {
    'three times the rate': withDocument(3, document(10_000, 34, { rate_per_second: 30 })),
    'a leap': withDocument(5, document(14_000, 85)),
  },
  'checkouts start no faster than the rate': {
    'three times as many as the rate': changed({ shoppingMs: Array.from({ length: 200 }, (_, i) => i * 30) }),
  },
  'no bare 5xx': { 'a stack trace': changed({ bareErrors: 1 }) },
  'gate, stream and ledger agree': {
    'a row that is not its orders': withStores({ orders: { held: 0, sold: 1 } }),
    'a closed gate': withStores({ gate: null }),
    'a gate with a unit too many': withStores({ gate: { available: 1, held: 0 } }),
    'a lost intent': withStores({ intents: 1 }),
    'a hold left over': withStores({ holds: 1 }),
    'a grave finding': withStores({ findings: ['oversold (1 units)'] }),
    'stores out of reach on its own system': changed({ ownSystem: true, stores: { unread: 'gone' } }),
  },
  'live orders never exceed the stock': {
    'a passing oversell': withFaults({ oversold: 1 }),
    'nobody looked': withFaults({ polls: 0 }),
  },
  'every fault was played under load': {
    'a part never killed': withFaults({ kills: { redis: 1, api: 0 } }),
    'a network that never broke': withFaults({ network: { cut: 1, delay: 0 } }),
    'a step of a deployment that was not played': withFaults({ steps: { edge: 1, 'edge back': 0 } }),
    'no failover that was wanted': withFaults({ failovers: [] }),
    'faults that hit no call': withFaults({ inFlight: 0 }),
  },
  'the gate is used again after each failover': {
    'a gate that took no reservation any more': withFaults({ failovers: [900, null] }),
  },
  'every part came back, and none ended by itself': {
    'a part that stayed away': withFaults({ broken: ['worker: no answer'] }),
  },
  'rejoining gains a bot no number': { 'a second number': withAttempts({ otherNumbers: 1 }) },
  'no bot enters without an admission': { 'a bot let in': withAttempts({ letIn: 1 }) },
  'attackers get at most 2 % of the units': {
    'a unit that was kept from others for a while': withAttackers({}, { held: 0.05 }),
    'a unit that was bought': withAttackers({}, { bought: 1 }),
  },
  'an account is one visitor': { 'a second name': withAttackers({}, { visitors: 2 }) },
  'no honest visitor is refused by a limit': { 'one who was': withAttackers({ refusedByLimit: 1 }) },
  'repeated checkouts make one order': { 'a second order': withAttempts({ secondOrders: 1 }) },
}

describe('the judgement', () => {
  test('is good for a sale in which all went well, and leaves nothing unjudged', () => {
    const checks = judge(good())
    expect(failed(good())).toEqual([])
    expect(checks.filter((check) => check.holds === null)).toEqual([])
    expect(isGood(checks)).toBe(true)
  })

  const violations = Object.entries(VIOLATIONS).flatMap(([what, each]) =>
    Object.entries(each).map(([violation, evidence]) => [what, violation, evidence] as const),
  )
  test.each(violations)('fails "%s" by %s', (what, _, evidence) => {
    expect(failed(evidence)).toContain(what)
    expect(isGood(judge(evidence))).toBe(false)
  })

  test('passes what could not be judged, and says so', () => {
    const checks = judge({ ...good(), charges: { unread: 'out of reach' } })
    expect(checks.find((check) => check.what.startsWith('charged once'))).toMatchObject({ holds: null })
    expect(isGood(checks)).toBe(true)
  })

  test('proves nothing from what did not occur', () => {
    const unjudged = (evidence: Evidence) =>
      judge(evidence).flatMap(({ what, holds }) => (holds === null ? [what] : []))
    expect(unjudged(withAttempts({ rejoins: 0, intrusions: 0, repeats: 0 }))).toEqual([
      'rejoining gains a bot no number',
      'no bot enters without an admission',
      'repeated checkouts make one order',
    ])
    expect(unjudged({ ...good(), documents: good().documents.slice(0, 3) })).toContain('the queue never moves back')
    // This few could all come in one bunch.
    expect(unjudged({ ...good(), shoppingMs: Array.from({ length: 60 }, () => 8_000) })).toEqual([
      'checkouts start no faster than the rate',
    ])
    const nobodyWilling = nobodyServed('no_show')
    const visits = nobodyWilling.visits.map((s) => ({ ...s, method: null }))
    expect(unjudged({ ...nobodyWilling, visits })).toEqual([
      'sold exactly',
      'no "sold out" while units are in carts',
      'every order in a response is in the ledger',
      'orders end as their buyers saw',
      'accepted payments end as their method does',
      'no live order unknown to its buyer',
      'no visitor over the limit',
      'charged once, and only for sold orders',
      'refunds are made once, and recorded',
      'the feed has every change once, and ends as the ledger',
      'nobody admitted before their turn',
      'the funnel has each payment by its source',
    ])
  })

  test('accepts under faults what only an outage explains', () => {
    expect(failed(withFaults())).toEqual([])
    const unreachable = {
      ...withVisit(64, { method: 'pm_ok', end: 'payment_timeout' }),
      orders: [a, b, c, { ...d, reason: 'payment_timeout' }],
      faults: withFaults().faults,
    }
    expect(failed(unreachable)).toEqual([])
    expect(failed({ ...unreachable, faults: null })).toContain('accepted payments end as their method does')
    const promised = withVisit(9, { order: 'lost', statuses: ['processing'] })
    expect(failed({ ...promised, faults: withFaults().faults })).toContain('every order in a response is in the ledger')
  })

  test('judges what attackers got only where an account is required', () => {
    expect(failed(withAttackers())).toEqual([])
    const anyone = withAttackers({ accounts: null, refusedByLimit: 3 }, { held: 1 })
    expect(failed(anyone)).toEqual([])
    expect(judge(anyone).find(({ what }) => what.startsWith('attackers'))?.detail).toMatch(/^50 %: 0 bought, 1 kept/)
  })

  test('counts what attackers bought as sold, and knows their orders', () => {
    const orders = [...good().orders, ordered('bot', 9, 'confirmed')]
    const charges = [...(good().charges as Charge[]), charge('bot')]
    const inventory = { total: 3, available: 0, held: 0, sold: 3 }
    const stores = { ...agreed, row: { total: 3, held: 0, sold: 3 }, orders: { held: 0, sold: 3 } }
    const feed = [...(good().feed as Change[]), ...published('bot', 'reserved', 'paying', 'confirmed')]
    const funnel = good().funnel.map((row) => ({ ...row, paid: 3 }))
    const sold = { stock: 3, orders, charges, inventory, stores, feed, funnel }
    expect(failed(changed(sold))).toEqual(['sold exactly', 'no live order unknown to its buyer'])
    const record = { orders: new Set(['bot']), accounts: null }
    expect(failed({ ...withAttackers(record, { bought: 1 }), ...sold })).toEqual([])
  })

  test('counts units that an operator has put back as sold no more', () => {
    const back = {
      ...withGivenBack('b', { ...aPart, restocked: true, minor: null }),
      orders: [a, { ...b, status: 'returned', refunded_minor: 4_900 }, c, d],
      charges: [charge('a'), charge('b', { status: 'refunded', refunded_minor: 4_900 })],
      feed: [
        ...published('a', 'reserved', 'paying', 'confirmed'),
        ...published('b', 'reserved', 'paying', 'confirmed', 'refunded'),
        ...published('c', 'reserved', 'expired'),
        ...published('d', 'reserved', 'paying', 'cancelled'),
      ],
      inventory: { total: 2, available: 1, held: 0, sold: 1 },
    }
    expect(failed(back)).toEqual([])
    // The charge may be voided before it is captured.
    expect(failed({ ...back, charges: [charge('a'), charge('b', { status: 'cancelled' })] })).toEqual([])
    expect(failed({ ...back, inventory: { total: 2, available: 0, held: 0, sold: 2 } })).toEqual(['sold exactly'])
    expect(failed({ ...back, charges: [charge('a'), charge('b')] })).toContain('charged once, and only for sold orders')
  })

  test('counts who still waits, since an order of theirs came to nothing and others come first, as told honestly', () => {
    const behind = withVisit(64, { order: null, paidSentMs: null, end: 'others_first' })
    expect(failed(behind)).toEqual([])
    expect(judge(behind).find(({ what }) => what === 'nobody lost')?.detail).toContain('1 still wait behind others')
  })

  test('accepts that somebody comes to pay too late', () => {
    const late = withVisit(62, { end: 'expired', payMeantMs: 15_000, paidSentMs: null })
    expect(failed(late)).not.toContain('accepted payments end as their method does')
  })

  test('expects no more sold than bought when buyers are fewer than units', () => {
    const neverCame = { soldOutSeenMs: null, end: 'no_show' } as const
    const visits = good().visits.map((s) => (s.end === 'sold_out' ? { ...s, ...neverCame } : s))
    expect(failed({ ...withInventory(8, 0, 2, 10), stock: 10, visits })).toEqual([])
    expect(failed({ ...withInventory(7, 0, 3, 10), stock: 10, visits })).toContain('sold exactly')
  })

  test('shows the times after failovers, and fails none that took long', () => {
    const used = (e: Evidence) => judge(e).find(({ what }) => what === 'the gate is used again after each failover')
    expect(used(withFaults())).toMatchObject({
      holds: true,
      detail:
        '3 failovers; a reservation after 1.2 s (median) and 4 s (the slowest), 0 without one; the aim is 5 s, ' +
        'and 0 took longer',
    })
    expect(used(withFaults({ failovers: [900, 6_000] }))).toMatchObject({
      holds: null,
      detail: expect.stringContaining('1 took longer'),
    })
    expect(used(withFaults({ failovers: null }))).toBeUndefined()
  })

  test('says of units that are left what became of the visitors who wanted them', () => {
    const late = withVisit(63, { end: 'expired', method: 'pm_ok', quantity: 2, payMeantMs: null, paidSentMs: null })
    const visits = late.visits.map((s) =>
      s.end === 'sold_out' ? ({ ...s, end: 'abandoned', method: null } as const) : s,
    )
    const detailOf = (e: Evidence) => judge(e).find(({ what }) => what === 'sold exactly')?.detail
    expect(detailOf({ ...withInventory(8, 0, 2, 10), stock: 10, visits })).toContain(
      '8 left; 0 saw "sold out"; the visitors wanted 71, and those without a purchase ended as: abandoned 66, ' +
        'expired 2, declined 1; 2 expired with buyers who would have paid, but not within 5 s',
    )
    expect(detailOf(good())).not.toContain('wanted')
  })
})

/** Returns a number whose position is behind it. */
function numberBehind(): number {
  for (let number = 1; number <= DRAWN; number++) if (position(number) > number) return number
  throw new Error('a draw that moves nobody back')
}

test('an inversion is measured from the answer of one to the call of the other, up to a lease and a round trip', () => {
  const joined = (number: number, joinSentMs: number, joinAnsweredMs: number) =>
    Object.assign({}, nothing, { number, joinSentMs, joinAnsweredMs })
  const first = joined(2, 0, 10)
  expect(inversions([first, joined(1, 110, 120)], 250)).toEqual({ worstMs: 100, beyond: 0, inverted: 1 })
  expect(inversions([joined(1, 0, 10), joined(2, 110, 120)], 250)).toMatchObject({ worstMs: 0, inverted: 0 })
  expect(inversions([joined(2, 0, 50), joined(1, 40, 60)], 250)).toMatchObject({ inverted: 0 })
  expect(inversions([first, joined(1, 269, 279)], 250).beyond).toBe(0)
  expect(inversions([first, joined(1, 271, 281)], 250).beyond).toBe(1)
})

test('the most within a window counts no moment at its end', () => {
  expect(mostWithin([0, 5, 10, 15], 10)).toBe(2)
  expect(mostWithin([15, 0, 10, 5, 9], 10)).toBe(3)
  expect(mostWithin([], 10)).toBe(0)
})
