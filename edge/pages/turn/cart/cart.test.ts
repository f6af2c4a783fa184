/** What a cart may hold, what is left of a refused one, and what it costs. */
import { expect, it } from 'vitest'
import { problem } from '../../../../shared/problem.ts'
import { countField, sizeField, unitsField } from '../cart-fields.ts'
import { boundsOf } from './limits.ts'
import { choiceIn } from './priced-lines.ts'
import { lostIn, restOf } from './rest.ts'

const unit = { name: '', unit_price_minor: 1_000, variant_of: null, limit: null, available: 50 }
const UNITS = [
  { ...unit, product_id: 'poster', name: 'Poster' },
  { ...unit, product_id: 'record', name: 'Record', limit: 2 },
  { ...unit, product_id: 'shirt-m', name: 'Shirt, M', variant_of: 'shirt', limit: 3, available: 2 },
  { ...unit, product_id: 'shirt-l', name: 'Shirt, L', variant_of: 'shirt', limit: 3 },
  { ...unit, product_id: 'standing', name: 'Standing', unit_price_minor: 3_800 },
]
const [POSTER, RECORD, STANDING] = [
  unitsField('poster', false),
  unitsField('record', false),
  unitsField('standing', true),
]
const [SIZE, COUNT, SIZE_2, COUNT_2] = [1, 2].flatMap((row) => [sizeField('shirt', row), countField('shirt', row)]) as [
  string,
  string,
  string,
  string,
]

it.each([
  ['what is left', { [SIZE]: 'shirt-m', [COUNT]: '2' }, COUNT, { quantity: 2, most: 2, limit: 'stock' }],
  ['the limit of a product', { [RECORD]: '2' }, RECORD, { quantity: 2, most: 2, limit: 'each' }],
  [
    'of all sizes',
    { [SIZE]: 'shirt-m', [COUNT]: '2', [SIZE_2]: 'shirt-l', [COUNT_2]: '' },
    COUNT_2,
    { quantity: 1, most: 1, limit: 'each' },
  ],
  [
    'of a whole order',
    { [POSTER]: '3', [STANDING]: '1', [RECORD]: '' },
    RECORD,
    { quantity: 0, most: 0, limit: 'together' },
  ],
  [
    'with its seats',
    { [POSTER]: '', 'seat:stalls:A-1': '1', 'best-quantity': '2' },
    POSTER,
    { quantity: 0, most: 1, limit: 'together' },
  ],
])('is bound by %s', (_, fields, field, bound) => {
  expect(boundsOf(fields, UNITS, 4).get(field)).toEqual(bound)
})

it('knows no bound of a size that is not chosen', () => {
  expect([...boundsOf({ [SIZE]: '', [COUNT]: '1', email: '3' }, UNITS, 4)]).toEqual([])
})

const CART = { [POSTER]: '3', [RECORD]: '1', [SIZE]: 'shirt-l', [COUNT]: '', [STANDING]: '2', email: 'ada@example.org' }
const gone = (...of: object[]) => ({ ...problem('sold-out'), gone: of })

it.each([
  ['a product', gone({ product_id: 'record', left: 0 }), [[RECORD, 0]], { [RECORD]: '' }],
  ['a size', gone({ product_id: 'shirt-l', left: 0 }), [[COUNT, 0]], { [SIZE]: undefined }],
  ['some units', gone({ product_id: 'poster', left: 2 }), [[POSTER, 2]], { [POSTER]: '2' }],
  ['standing places', gone({ section_id: 'standing', left: 0 }), [[STANDING, 0]], { [STANDING]: '' }],
  ['nothing chosen', gone({ product_id: 'hat', left: 0 }), [], {}],
  ['nothing', problem('price-changed'), [], {}],
])('keeps the rest of a cart that lost %s', (_, refused, lost, changes) => {
  const named = lostIn(refused, CART)
  expect(named.map(({ part, left }) => [part, left])).toEqual(lost)
  expect({ ...restOf(CART, named) }).toEqual(JSON.parse(JSON.stringify({ ...CART, ...changes })))
})

it('takes a cart of one line for what its refusal is about, and shares what is left among rows of one size', () => {
  expect(lostIn({ ...problem('all-in-carts'), remaining: 1 }, { [POSTER]: '3' })).toMatchObject([{ left: 1 }])
  const twice = { [SIZE]: 'shirt-l', [COUNT]: '2', [SIZE_2]: 'shirt-l', [COUNT_2]: '2' }
  expect(lostIn(gone({ product_id: 'shirt-l', left: 3 }), twice)).toEqual([
    { part: COUNT_2, product: 'shirt-l', left: 1 },
  ])
})

it('names and prices each line', () => {
  const seat = 'seat:standing:A-1'
  const said = {
    fields: { ...CART, [seat]: '1', 'best-quantity': '2' },
    prices: { [seat]: 5_000 },
    names: { [seat]: 'Row A' },
  }
  const { lines } = choiceIn(said, UNITS)
  expect(lines.map(({ name, quantity, unit_price_minor }) => [name, quantity, unit_price_minor])).toEqual([
    ['Row A', 1, 5_000],
    ['Poster', 3, 1_000],
    ['Record', 1, 1_000],
    ['Shirt, L', 1, 1_000],
    ['Standing', 2, 3_800],
  ])
})
