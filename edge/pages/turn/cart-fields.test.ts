import { expect, it } from 'vitest'
import {
  countField,
  linesIn,
  partOf,
  seatField,
  seatsIn,
  sizeField,
  unitsField,
  wishIn,
  withOffer,
} from './cart-fields.ts'

const FORM = {
  idempotency_key: 'k',
  product_id: '',
  [seatField('stalls', 'A-1')]: '1',
  [seatField('balcony', 'A-1')]: '1',
  [seatField('stalls', 'A-2')]: '1',
  'best-quantity': '2',
  'best-section': 'balcony',
  'best-category': '',
  [unitsField('pit', true)]: '1',
  [unitsField('programme', false)]: '3',
}

it('reads seats, places and products of a form as the lines of one checkout', () => {
  expect(linesIn(FORM).map(({ line }) => line)).toEqual([
    { section_id: 'stalls', seats: ['A-1', 'A-2'] },
    { section_id: 'balcony', seats: ['A-1'] },
    { section_id: 'pit', quantity: 1 },
    { product_id: 'programme', quantity: 3 },
  ])
  expect(seatsIn(FORM)).toHaveLength(3)
})

it('asks for an offer by its button, or where a number of best seats is all that the form says of seats', () => {
  const best = { 'best-quantity': '2', 'units:programme': '1' }
  expect(wishIn(FORM)).toBeNull()
  expect(wishIn(best)).toEqual({ quantity: 2 })
  expect(wishIn({ ...best, 'best-quantity': ' ' })).toBeNull()
  expect(wishIn({ ...FORM, find: 'best', 'best-category': 'c1', 'best-kind': 'accessible' })).toEqual({
    ...{ section_id: 'balcony', category: 'c1', kind: 'accessible', quantity: 2 },
    not: ['A-1', 'A-1', 'A-2'],
  })
})

it('reserves offered seats by name, replaces them by another offer, and leaves out all that were offered', () => {
  const seats = (fields: Record<string, string>) => seatsIn(fields).map(({ seat }) => seat)
  const first = withOffer(
    { 'best-quantity': '2', find: 'best', 'seat:pit:P-1': '1' },
    { section_id: 'stalls', seats: ['C-1'] },
  )
  expect([wishIn(first), seats(first)]).toEqual([null, ['P-1', 'C-1']])
  const another = { ...first, find: 'another' }
  expect(wishIn(another)).toMatchObject({ not: ['P-1', 'C-1'] })
  const second = withOffer(another, { section_id: 'stalls', seats: ['D-1'] })
  expect(seats(second)).toEqual(['P-1', 'D-1'])
  expect(wishIn({ ...second, find: 'another' })).toMatchObject({ not: ['P-1', 'C-1', 'D-1'] })
  expect(wishIn({ ...second, find: 'best' })).toMatchObject({ not: ['P-1'] })
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
  expect(['lines.1.seats.0', 'lines.2.quantity', 'lines.9', 'contact.email'].map((f) => partOf(f, lines))).toEqual([
    'seats',
    'places:pit',
    null,
    null,
  ])
})
