import { expect, test } from 'vitest'
import { goodsOf, isPlain, lineInWords, type Order } from './order.ts'

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
const order = (lines: readonly Line[]) => ({ lines: [...lines], quantity: 2, product_name: 'Cap' })

test('an order of one product is told as such, one of seats or several lines by its lines', () => {
  expect(isPlain(order([units]))).toBe(true)
  expect(goodsOf(order([units]))).toBe('2 × Cap')
  expect(isPlain(order([seat]))).toBe(false)
  expect(goodsOf(order([seat]))).toBe('Stalls, row B, seat 7')
  expect(goodsOf(order([units, seat]))).toBe('2 × Cap, and 1 more line')
  expect(lineInWords(line({ section_id: 'floor', name: 'Floor', quantity: 3 }))).toBe('3 × Floor')
})
