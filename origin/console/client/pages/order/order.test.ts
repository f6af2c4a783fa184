import { expect, test } from 'vitest'
import { addressLines, boughtIn, lineName, type Order, proposedMinor, stateOf } from './order.ts'

type Line = Order['lines'][number]
const line = (changes: Partial<Line>): Line => ({
  line: 1,
  name: 'Stalls',
  quantity: 1,
  unit_price_minor: 9_400,
  status: 'sold',
  cost_minor: 9_400,
  ...changes,
})
const units = line({ product_id: 'cap', name: 'Cap', quantity: 2 })
const seat = line({ line: 2, section_id: 'stalls', seat_id: 'B-7', row: 'B', number: '7' })
const order = (lines: readonly Line[]) => ({ lines: [...lines], product_name: 'Cap' })

test('an order is told by its first line, and how many others there are', () => {
  expect(boughtIn(order([units]))).toBe('2 × Cap')
  expect(boughtIn(order([seat]))).toBe('Stalls, row B, seat 7')
  expect(boughtIn(order([units, seat]))).toBe('2 × Cap and 1 more')
  expect(lineName(line({ section_id: 'floor', name: 'Floor', quantity: 3 }))).toBe('3 × Floor')
})

test('a refund of lines proposes what they cost, and with the last of them what is for the whole order', () => {
  const lines = [
    line({ cost_minor: 1_080 }),
    line({ line: 2, cost_minor: 720 }),
    line({ line: 3, status: 'returned', cost_minor: 0 }),
  ]
  const asked = { kind: 'refund', what: 'requested', detail: { refund_id: 'r', amount_minor: 700, lines: [2] } }
  const of = (chosen: readonly number[], history: readonly object[] = []) =>
    proposedMinor({ lines, total_minor: 2_290, refunded_minor: 0, history } as unknown as Order, chosen)
  expect([[], [1], [2], [1, 2]].map((chosen) => of(chosen))).toEqual([2_290, 1_080, 720, 2_290])
  expect([[], [1]].map((chosen) => of(chosen, [asked]))).toEqual([1_590, 1_570])
})

test('writes an address as on a parcel', () => {
  const place = { street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const address = { name: 'Ann Lee', ...place, note: 'Ring twice' }
  expect(addressLines(address)).toEqual(['Ann Lee', 'Quay 1', '10115 Berlin', 'DE', 'Ring twice'])
  expect(addressLines({ city: 'Berlin' })).toEqual(['Berlin'])
})

test.each([
  ['Paid', {}],
  ['Paid, in part refunded', { refunded_minor: 400 }],
  ['Refund under way', { refunding_minor: 400 }],
  // Whatever is left.
  ['Refund under way', { refunding_minor: null }],
  ['Handed over', { status: 'fulfilled' }],
  ['Sent', { status: 'fulfilled', is_parcel: true }],
  ['Not paid in time', { status: 'expired' }],
] as const)('an order is in the state "%s"', (words, changes) => {
  const order = { status: 'confirmed', is_parcel: false, refunded_minor: 0, refunding_minor: 0 } as const
  expect(stateOf({ ...order, ...changes })[1]).toBe(words)
})
