import { expect, test } from 'vitest'
import { addressLines, boughtIn, lineName, type Order } from './order.ts'

type Line = Order['lines'][number]
const line = (changes: Partial<Line>): Line => ({
  line: 1,
  name: 'Stalls',
  quantity: 1,
  unit_price_minor: 9_400,
  status: 'sold',
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

test('writes an address as on a parcel', () => {
  const place = { street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const address = { name: 'Ann Lee', ...place, note: 'Ring twice' }
  expect(addressLines(address)).toEqual(['Ann Lee', 'Quay 1', '10115 Berlin', 'DE', 'Ring twice'])
  expect(addressLines({ city: 'Berlin' })).toEqual(['Berlin'])
})
