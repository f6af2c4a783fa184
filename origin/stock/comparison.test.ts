import { describe, expect, test } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import type { Cart } from '../ledger/cart.ts'
import { bitsOf } from '../seats/bits.ts'
import { compareCounts, compareReadings, lasting, seatsApart } from './comparison.ts'
import type { GateReading } from './gate/gate-reading.ts'
import type { LedgerReading } from './reconciliation-queries.ts'

const cart: Cart = [
  { product: 'one', quantity: 2 },
  { product: 'stalls', quantity: 1, seats: [4] },
]
const lines = [
  { product: 'one', name: 'One', quantity: 2, unit_price_minor: 1 },
  { product: 'stalls', name: 'Stalls', quantity: 1, unit_price_minor: 1, section: true, seat: 4 },
] as never
const order = { order: 'a', product: 'one', quantity: 3, lines }
const reservation = { ...reservationOf('s'), order: 'a', cart }
const intent = { order: 'a', stored: '', reservation }
const live = { ...order, visitor: 'v', key: 'k', hash: 'h', holdEndsAtMs: 1 }

/** Ten units and ten seats; of each so many are held or sold. */
const product = (id: string, held: number, sold = 0, version = 1) => ({
  product: id,
  version,
  total: 10,
  buffer: 0,
  held,
  sold,
})
const ledger = (held: boolean, more: Partial<LedgerReading> = {}, sold = false): LedgerReading => ({
  products: [product('one', held ? 2 : 0, sold ? 2 : 0), product('stalls', held ? 1 : 0, sold ? 1 : 0)],
  missing: [],
  ended: [],
  recorded: [],
  seats: held || sold ? [4] : [],
  ...more,
})
const gate = (holds: boolean, more: Partial<GateReading> = {}): GateReading => ({
  stock: new Map([
    ['one', { available: holds ? 8 : 10, held: holds ? 2 : 0 }],
    ['stalls', { available: holds ? 9 : 10, held: holds ? 1 : 0 }],
  ]),
  seats: bitsOf(holds ? [4] : []),
  holds: holds ? ['a'] : [],
  intents: [],
  ...more,
})
const compare = (at: GateReading | null, after: LedgerReading, before = after.products) => {
  const seats = at ? seatsApart(at, after) : []
  return compareReadings(at, before, after, new Map(seats.length > 0 ? [['stalls', seats]] : []))
}
const found = (seen: ReturnType<typeof compare>) => seen.map((one) => one.found)

describe('an order in flight is no difference', () => {
  test.each<[string, GateReading, LedgerReading]>([
    ['waits to be recorded', gate(true, { intents: [intent] }), ledger(false)],
    ['is recorded, with its intent left', gate(true, { intents: [intent] }), ledger(true, { recorded: ['a'] })],
    ['is recorded', gate(true), ledger(true)],
    ['is recorded, and the gate has not heard of it', gate(false), ledger(true, { missing: [live] })],
    ['is over, and the gate still holds it', gate(true), ledger(false, { ended: [{ ...order, isSold: false }] })],
    ['is sold, and the gate still holds it', gate(true), ledger(false, { ended: [{ ...order, isSold: true }] }, true)],
    [
      'is recorded and over, with its intent left',
      gate(false, { intents: [intent] }),
      ledger(false, { recorded: ['a'] }),
    ],
  ])('that %s', (_, at, after) => {
    expect(found(compare(at, after))).toEqual(['ok', 'ok'])
    // Which hides no other difference.
    const wrong = ledger(false, { ...after, products: after.products.map((p) => ({ ...p, total: 11 })) })
    expect(compare(at, wrong)).toMatchObject(Array(2).fill({ found: 'drift', drift: -1, heldDrift: 0, seats: [] }))
    const taken = { ...after, seats: [...(after.seats ?? []), 7] }
    expect(compare(at, taken)).toMatchObject([{ found: 'ok' }, { found: 'drift', seats: [7] }])
  })
})

test('a product that changes while it is compared, or whose intents are too many, is not judged', () => {
  const after = ledger(true)
  expect(found(compare(gate(false), after))).toEqual(['drift', 'drift'])
  expect(found(compare(gate(false), after, [product('one', 0, 0, 0), product('stalls', 1)]))).toEqual(['ok', 'drift'])
  expect(found(compare(gate(false, { intents: null }), after))).toEqual(['ok', 'ok'])
  expect(found(compare(null, after))).toEqual(['fenced', 'fenced'])
  expect(found(compareCounts(gate(false).stock, after.products))).toEqual(['drift', 'drift'])
})

test('a difference lasts while it stays the same', () => {
  const one = compare(gate(false), ledger(true))
  expect(found(lasting(one, compare(gate(false), ledger(true))))).toEqual(['drift', 'drift'])
  const other = ledger(true, { products: [product('one', 3), product('stalls', 1)] })
  expect(found(lasting(one, compare(gate(false), other)))).toEqual(['ok', 'drift'])
})
