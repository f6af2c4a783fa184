/** The one decision of a checkout: what the gates said and what exists already, as an outcome. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { problem } from '../../shared/problem.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import type { OrderView } from '../ledger/order-statements.ts'
import type { Recorded, RecordVerdict, Reservation } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import type { GateVerdict } from '../stock/gate/verdicts.ts'
import { type Attempt, type Existing, type Outcome, orderFrom, outcomeOf, refusal } from './outcome.ts'

const now = new Date()
const product = { product_id: 'one', name: 'One', unit_price_minor: 1, currency: 'EUR' }
const sale = {
  sale_id: 'sale',
  limit_per_visitor: 2,
  products: [{ ...product, total: 10, buffer: 0, held: 3, sold: 4 }],
} as unknown as SaleRow
const soldOutSale = {
  ...sale,
  products: [{ ...product, total: 10, buffer: 0, held: 0, sold: 10 }],
} as unknown as SaleRow
const mine: Reservation = reservationOf('sale')
const other: Reservation = { ...mine, order: randomUUID() }
const otherKey = { ...other, key: 'another' }
const recorded: Recorded = {
  verdict: 'recorded',
  createdAt: now,
  reservedUntil: now,
  prices: { one: product },
  numbers: { [mine.order]: 1, [other.order]: 2 },
}
const order = (r = other, changes = {}): OrderView => ({ ...orderFrom(r, recorded), ...changes })
const stock = { available: 5, held: 1 }
const gateLimit = (units: number): GateVerdict => ({ verdict: 'limit', units, order: other.order, ...stock })
const ledgerLimit = (units: number): RecordVerdict => ({ verdict: 'limit', order: other.order, units })

const said = (outcome: Outcome | undefined) =>
  outcome &&
  (outcome.kind === 'problem'
    ? `${outcome.problem.type} ${outcome.problem.errors?.[0]?.detail ?? ''}`.trim()
    : `${outcome.kind}${outcome.replayed ? ' again' : ''}`)
const outcome = (attempt: Partial<Attempt>, existing?: Existing) =>
  outcomeOf({ sale, reservation: mine, ...attempt }, existing)

const byKey = (found: OrderView | typeof mine): Existing => ({ by: 'key', found })
const byVisitor = (found: OrderView | typeof mine): Existing => ({ by: 'visitor', found })
const closed = problem('ended')
const none: GateVerdict = { verdict: 'none', available: 0, held: 0 }
const KEY_REUSED = '/problems/idempotency-key-reused'
const ONE_MORE = '/problems/invalid-fields at most 1 more per visitor'
const replayOf = (r: Reservation): RecordVerdict => ({ verdict: 'replay', order: r.order })
const replay: GateVerdict = { verdict: 'replay', order: other.order, hash: 'h', ...stock }

describe('an order that exists already comes before any refusal', () => {
  test.each<[string, Partial<Attempt>, Existing, string]>([
    ['recorded', { gate: replay }, byKey(order()), 'recorded again'],
    ['closed', { closed }, byKey(order()), 'recorded again'],
    ['sold out', { gate: none }, byKey(order()), 'recorded again'],
    ['waiting', { gate: { verdict: 'fenced' } }, byKey(other), 'processing again'],
    ['of a remembered key', { gate: replay }, byKey(order(otherKey, { status: 'expired' })), 'live again'],
    ['of a remembered key, waiting', { gate: replay }, byKey(otherKey), 'processing again'],
    ['of another body', { closed }, byKey(order({ ...other, hash: 'x' })), KEY_REUSED],
    ['of another body, by the gate', { gate: replay }, 'reused', KEY_REUSED],
    ['recorded by a worker', { ledger: replayOf(mine) }, byKey(order(mine)), 'recorded'],
    ['in progress, refused', { gate: replay }, { by: 'key', outcome: refusal(closed) }, '/problems/ended'],
    ['live of the visitor', { gate: gateLimit(2) }, byVisitor(order(otherKey)), 'live'],
    ['waiting of the visitor', { gate: gateLimit(2) }, byVisitor(otherKey), 'processing'],
    ['live, by the ledger', { ledger: ledgerLimit(2) }, byVisitor(order(otherKey)), 'live'],
    ['unreadable', { gate: none }, 'unreadable', '/problems/try-again'],
  ])('%s', (_, attempt, existing, expected) => {
    expect(said(outcome(attempt, existing))).toBe(expected)
  })
})

const unpaid = { verdict: 'unpaid', unpaid: 1 } as const

describe('without one', () => {
  test.each<[string, Partial<Attempt>, string]>([
    ['a closed sale refuses', { closed }, '/problems/ended'],
    ['the ledger records', { ledger: recorded }, 'recorded'],
    ['nothing held, available or unsold', { sale: soldOutSale, gate: none }, '/problems/sold-out'],
    ['a unit that the gate counts nowhere may come back', { gate: none }, '/problems/all-in-carts'],
    ['held units may come back', { gate: { ...none, held: 1 } }, '/problems/all-in-carts'],
    ['the ledger has units in carts', { ledger: { verdict: 'no_stock', unpaid: 0 } }, '/problems/all-in-carts'],
    ['too many orders failed', { ledger: { verdict: 'too_many' } }, '/problems/too-many-orders'],
    ['its network holds enough', { gate: { verdict: 'network_full' } }, '/problems/too-many-requests'],
    ['others come first, by the gate', { gate: { ...none, ...unpaid } }, '/problems/too-many-orders'],
    ['others come first, by the ledger', { ledger: unpaid }, '/problems/too-many-orders'],
    ['some are left of the limit', { ledger: ledgerLimit(1) }, ONE_MORE],
    ['the live order is gone', { ledger: ledgerLimit(2) }, '/problems/try-again'],
    ['the own order is recorded but unreadable', { ledger: replayOf(mine) }, 'processing'],
    ["the key's order is unreadable", { ledger: replayOf(other) }, '/problems/try-again'],
  ])('%s', (_, attempt, expected) => {
    expect(said(outcome(attempt))).toBe(expected)
  })

  test('a request for more than can ever be sold names the most', () => {
    const reservation = { ...mine, quantity: 7 }
    expect(said(outcome({ reservation, gate: { ...none, held: 1 } }))).toContain('at most 6 can be had')
  })
})

test('a cart hears which of its lines are gone, and how many are left of each', () => {
  const of = (product_id: string, sold: number, more = {}) => ({
    ...product,
    product_id,
    name: product_id,
    total: 10,
    buffer: 0,
    held: 0,
    sold,
    ...more,
  })
  const products = [of('cup', 0), of('lamp', 10), of('stalls', 9, { section_type: 'general_admission' })]
  const three = { ...sale, products } as unknown as SaleRow
  const cart = products.map(({ product_id }) => ({ product: product_id, quantity: 2 }))
  const reservation = { ...mine, product: 'cup', quantity: 6, cart }
  const lamp = { product_id: 'lamp', left: 0 }
  const stalls = { section_id: 'stalls', left: 1 }
  for (const attempt of [
    { gate: { ...none, product: 'lamp' } },
    { ledger: { verdict: 'no_stock', unpaid: 0, product: 'lamp' } },
  ] as const)
    expect(outcomeOf({ sale: three, reservation, ...attempt })).toMatchObject({
      problem: { status: 410, detail: 'Every unit of lamp has been sold.', gone: [lamp, stalls] },
    })
  // The gate knows it better than what was read of the ledger a moment ago.
  expect(
    outcomeOf({ sale: three, reservation, gate: { ...none, product: 'cup', available: 1, held: 9 } }),
  ).toMatchObject({
    problem: { status: 409, gone: [{ product_id: 'cup', left: 1 }, lamp, stalls] },
  })
})

test('a visitor waits for a used-up promo code while uses may come back, unless an order of theirs failed', () => {
  const waits = (gate: object) => {
    const found = outcome({ gate: { verdict: 'none', product: '%TEN', available: 0, held: 0, ...gate } })
    expect(said(found)).toBe('/problems/promo-code-used-up')
    return found?.kind === 'problem' && found.waitsForUse
  }
  expect([waits({ held: 3 }), waits({}), waits({ available: 2, held: 3, unpaid: 1 })]).toEqual([true, false, false])
})

test('leaves to the ledger what the gate cannot decide', () => {
  expect(outcome({ gate: { verdict: 'fenced' } })).toBeUndefined()
  expect(outcome({ gate: gateLimit(2) })).toBeUndefined()
  const ended = byVisitor(order(otherKey, { status: 'expired' }))
  expect(outcome({ gate: gateLimit(2) }, ended)).toBeUndefined()
  // The ledger counts all products, the gate only one.
  expect(outcome({ gate: gateLimit(1) }, byVisitor(order(otherKey)))).toBeUndefined()
  expect(said(outcome({ gate: gateLimit(1) }, byVisitor(otherKey)))).toBe(ONE_MORE)
})

test('returns how many units are left, by the gate if it knows', () => {
  expect(outcome({ ledger: recorded })).toMatchObject({ remaining: 3 })
  expect(outcome({ gate: replay }, byKey(order()))).toMatchObject({ remaining: 5 })
})

test('a recorded order without a price or a number is a failed assertion, and no order that costs nothing', () => {
  expect(() => orderFrom(mine, { ...recorded, prices: {} })).toThrow('The ledger returns the price')
  expect(() => orderFrom(mine, { ...recorded, numbers: {} })).toThrow('Each recorded order has a number.')
  expect(orderFrom(mine, recorded)).toMatchObject({ unit_price_minor: 1, currency: 'EUR', number: 1 })
})
