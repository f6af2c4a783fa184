import { expect, it } from 'vitest'
import { countField, linesIn, partOf, seatField, seatsIn, sizeField, unitsField } from './cart-fields.ts'

const FORM = {
  idempotency_key: 'k',
  product_id: '',
  [seatField('stalls', 'A-1')]: '1',
  [seatField('balcony', 'A-1')]: '1',
  [seatField('stalls', 'A-2')]: '1',
  'best-quantity': '2',
  'best-section': 'balcony',
  'best-category': '',
  'best-together': 'on',
  [unitsField('pit', true)]: '1',
  [unitsField('programme', false)]: '3',
}

it('reads seats, the best ones, places and products of a form as the lines of one checkout', () => {
  expect(linesIn(FORM).map(({ line }) => line)).toEqual([
    { section_id: 'stalls', seats: ['A-1', 'A-2'] },
    { section_id: 'balcony', seats: ['A-1'] },
    { section_id: 'balcony', quantity: 2, together: true },
    { section_id: 'pit', quantity: 1 },
    { product_id: 'programme', quantity: 3 },
  ])
  expect(seatsIn(FORM)).toHaveLength(3)
})

it('asks for seats apart only where the visitor says so, and for wheelchair places', () => {
  const { 'best-together': _, ...apart } = { ...FORM, 'best-accessible': 'on', 'best-category': 'c1' }
  expect(linesIn(apart).find(({ part }) => part === 'best')?.line).toEqual({
    section_id: 'balcony',
    category: 'c1',
    quantity: 2,
    together: false,
    accessible: true,
  })
})

it('leaves out what was left empty or at nought, and takes no other field for a line', () => {
  expect(linesIn({ 'best-quantity': ' ', 'units:programme': '0', 'places:pit': '', 'seat:stalls': '1' })).toEqual([])
  expect(linesIn({ 'seat:stalls:A:1': '1', 'units:a:b': '2', email: 'me@example.org' })).toEqual([])
})

it('counts a chosen size once until another number is typed, and each row of a product by itself', () => {
  const shirts = {
    [sizeField('shirt', 1)]: 'shirt-l',
    [countField('shirt', 1)]: '',
    [sizeField('shirt', 2)]: 'shirt-m',
    [countField('shirt', 2)]: '2',
    [sizeField('shirt', 3)]: 'shirt-s',
    [countField('shirt', 3)]: '0',
    [countField('shirt', 4)]: '3',
  }
  expect(linesIn(shirts)).toEqual([
    { part: 'count:shirt:1', line: { product_id: 'shirt-l', quantity: 1 } },
    { part: 'count:shirt:2', line: { product_id: 'shirt-m', quantity: 2 } },
  ])
})

it('finds the part of the form that a fault of a line is about', () => {
  const lines = linesIn(FORM)
  expect(
    ['lines.1.seats.0', 'lines.2', 'lines.3.quantity', 'lines.9', 'contact.email'].map((f) => partOf(f, lines)),
  ).toEqual(['seats', 'best', 'places:pit', null, null])
})
