import { expect, test } from 'vitest'
import { hallOf, PROGRAMME, STANDING } from '../../dev/demo/hall.ts'
import type { Seat } from '../../origin/seats/chart.ts'
import type { Evidence, HallLine, HallOrder, HallRecords, HallVisit, VisitRecord } from './evidence.ts'
import { seatChecks } from './seat-checks.ts'

const hall = hallOf(120)
const seat = (index: number) => hall.seats[index] as Seat
const MINUTE = 60_000

const lineOf = (index: number): HallLine => {
  const { section: product, priceMinor: unit_price_minor } = seat(index)
  return { product, seat: index, quantity: 1, unit_price_minor, returned: false }
}
const programme: HallLine = { product: PROGRAMME, seat: null, quantity: 1, unit_price_minor: 2_500, returned: false }
const places: HallLine = { product: STANDING, seat: null, quantity: 2, unit_price_minor: 3_900, returned: false }

const orderOf = (lines: HallLine[], minute: number, changes: Partial<HallOrder> = {}): HallOrder => ({
  isLive: true,
  isHeld: false,
  lines,
  createdMs: minute * MINUTE,
  endedMs: null,
  ...changes,
})

function visitOf(order: string, { lines, createdMs }: HallOrder, asked: HallVisit['asked']): VisitRecord {
  const heard = lines.map(({ product, seat: index, quantity, unit_price_minor }, i) => {
    const of = product === PROGRAMME ? { product_id: product } : { section_id: product }
    const name = product
    const named = index === null ? {} : { seat_id: seat(index).seat }
    return { line: i + 1, ...of, ...named, name, quantity, unit_price_minor, status: 'sold' as const }
  })
  const hall = { seeks: 'couple', asked, askedMs: createdMs - 50, answeredMs: createdMs + 50, heard }
  return { order, hall, end: 'bought' } as unknown as VisitRecord
}
const PAIR = [{ quantity: 2, together: true }]

/**
 * In a good sale, a couple sits in the front row; one order was cancelled, and its seats went to a visitor who wanted
 * the front row; two visitors stand; and one has a seat and a programme.
 */
function good() {
  const orders = new Map([
    ['a', orderOf([lineOf(0), lineOf(1)], 1)],
    ['b', orderOf([lineOf(2), lineOf(3)], 1, { isLive: false, endedMs: 2 * MINUTE })],
    ['c', orderOf([lineOf(2), lineOf(3)], 3, { isHeld: true })],
    ['d', orderOf([places], 3)],
    ['e', orderOf([lineOf(7), programme], 3)],
  ])
  const named = [{ section_id: seat(2).section, seats: [seat(2).seat, seat(3).seat] }]
  const asked: Readonly<Record<string, HallVisit['asked']>> = {
    a: PAIR,
    b: PAIR,
    c: named,
    d: [{ section_id: STANDING, quantity: 2 }],
    e: [
      { quantity: 1, together: true },
      { product_id: PROGRAMME, quantity: 1 },
    ],
  }
  // Seat 9 is blocked.
  const claims = new Map<number, string | null>(
    Object.entries({ 0: 'a', 1: 'a', 2: 'c', 3: 'c', 7: 'e', 9: null }).map(([index, order]) => [Number(index), order]),
  )
  const has = (product: string, of: (order: HallOrder) => boolean) =>
    [...orders.values()]
      .filter((order) => order.isLive && of(order))
      .flatMap(({ lines }) => lines)
      .reduce((units, line) => units + (line.product === product ? line.quantity : 0), 0)
  const counters = new Map(
    [
      ...hall.sections.map(({ section_id, total }) => [section_id, total] as const),
      [PROGRAMME, hall.product.total] as const,
    ].map(([product, total]) => {
      const buffer = product === seat(9).section ? 1 : 0
      const held = has(product, ({ isHeld }) => isHeld)
      return [product, { total, buffer, held, sold: has(product, ({ isHeld }) => !isHeld) }] as const
    }),
  )
  const stock = new Map(
    [...counters].map(([product, { total, buffer, held, sold }]) => [
      product,
      { available: total - buffer - held - sold, held },
    ]),
  )
  const history: HallRecords['history'] = [
    ...(['a', 'b'] as const).map((order) => [order, true] as const),
    ['b', false],
    ...(['c', 'd', 'e'] as const).map((order) => [order, true] as const),
    ['a', true],
  ]
  const records: HallRecords = { hall, orders, claims, counters, gate: { stock, seats: [0, 1, 2, 3, 7, 9] }, history }
  const visits = [...orders].map(([id, order]) => visitOf(id, order, asked[id] ?? []))
  return { records, visits }
}

const judged = ({ records, visits }: ReturnType<typeof good>) =>
  seatChecks({ hall: records, visits, faults: null, ownSystem: true } as unknown as Evidence)
const failed = (evidence: ReturnType<typeof good>) =>
  judged(evidence).flatMap(({ what, holds }) => (holds === false ? what : []))

const withRecords = (changes: Partial<HallRecords>) => ({ ...good(), records: { ...good().records, ...changes } })
const withOrder = (id: string, changes: Partial<HallOrder>) => {
  const { records } = good()
  const order = { ...(records.orders.get(id) as HallOrder), ...changes }
  return withRecords({ orders: new Map([...records.orders, [id, order]]) })
}
/** The visit was told the same lines as the order has. */
const withSeats = (id: string, lines: HallLine[], asked: HallVisit['asked']) => {
  const { records } = withOrder(id, { lines })
  const visits = good().visits.map((visit) =>
    visit.order === id ? visitOf(id, records.orders.get(id) as HallOrder, asked) : visit,
  )
  return { records, visits }
}
const withAsked = (id: string, asked: HallVisit['asked']) => {
  const visits = good().visits.map((visit) =>
    visit.order === id ? { ...visit, hall: { ...(visit.hall as HallVisit), asked } } : visit,
  )
  return { ...good(), visits }
}

test('a sale of a hall in which all went well is good, and nothing is left unjudged', () => {
  expect(judged(good()).map(({ what, holds }) => [what, holds])).toEqual(judged(good()).map(({ what }) => [what, true]))
  expect(judged(good())).toHaveLength(5)
})

const VIOLATIONS: Readonly<Record<string, Readonly<Record<string, () => ReturnType<typeof good>>>>> = {
  'no seat went twice': {
    'an order that got seats somebody had': () =>
      withRecords({ history: good().records.history.filter(([, has]) => has) }),
    'a claim of another order': () => withRecords({ claims: new Map([...good().records.claims, [1, 'c']]) }),
    'a seat that two clients were told of': () => withSeats('d', [lineOf(0)], [{ quantity: 1, together: true }]),
  },
  'nobody got half a cart': {
    'one seat of two': () => withSeats('a', [lineOf(0)], PAIR),
    'another seat than was named': () =>
      withAsked('c', [{ section_id: seat(2).section, seats: [seat(2).seat, 'Z-9'] }]),
    'seats without the programme': () =>
      withSeats('e', [lineOf(7)], [...PAIR.slice(1), { quantity: 1, together: true }, { product_id: PROGRAMME }]),
    'told otherwise than recorded': () => withOrder('a', { lines: [lineOf(0), lineOf(5)] }),
  },
  'who wants to sit together does, while there are such seats': {
    'a couple apart in an empty hall': () => withSeats('a', [lineOf(0), lineOf(20)], PAIR),
  },
  'sections, claims, orders and gate count the same': {
    'a gate that has freed a seat': () =>
      withRecords({ gate: { ...good().records.gate, seats: [0, 1, 2, 3, 7] } as HallRecords['gate'] }),
    'a closed gate': () => withRecords({ gate: null }),
    'a programme that was not counted': () =>
      withRecords({
        counters: new Map([...good().records.counters, [PROGRAMME, { total: 10, buffer: 0, held: 0, sold: 0 }]]),
      }),
    'a seat without a claim': () =>
      withRecords({ claims: new Map([...good().records.claims].filter(([index]) => index !== 9)) }),
  },
  'every line costs what its seat costs': {
    'a seat of another price': () => withOrder('b', { lines: [lineOf(2), { ...lineOf(3), unit_price_minor: 1 }] }),
  },
}
const violations = Object.entries(VIOLATIONS).flatMap(([what, each]) =>
  Object.entries(each).map(([violation, evidence]) => [what, violation, evidence] as const),
)
test.each(violations)('fails "%s" by %s', (what, _, evidence) => {
  expect(failed(evidence())).toContain(what)
})

test('a couple may sit apart where nobody could have sat together', () => {
  const full = orderOf(
    hall.seats.filter(({ index }) => index > 1 && index !== 20).map(({ index }) => lineOf(index)),
    1,
  )
  const { records, visits } = withSeats('a', [lineOf(0), lineOf(20)], PAIR)
  // The seats 0 and 1 are neighbours, and one of them is taken as well.
  const orders = new Map([...records.orders, ['f', { ...full, lines: [...full.lines, lineOf(1)] }]])
  expect(failed({ records: { ...records, orders }, visits })).not.toContain(
    'who wants to sit together does, while there are such seats',
  )
})
