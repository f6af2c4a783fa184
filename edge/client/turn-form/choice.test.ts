/** The page calculates the price of a choice before it is reserved. */
import { expect, it } from 'vitest'
import { NO_DELIVERY } from '../../../shared/api/goods.ts'
import { choiceIn } from '../../pages/turn/cart/priced-lines.ts'
import { sumOf } from './choice.ts'

const unit = { variant_of: 'shoe', weight_grams: 900, limit: null, available: 5, has_terms: false }
const units = [
  { ...unit, product_id: 'shoe-42', name: 'Shoe, 42', unit_price_minor: 10_000 },
  { ...unit, product_id: 'stalls', name: 'Stalls', unit_price_minor: 4_000 },
]
const SENT = {
  ...NO_DELIVERY,
  kind: 'address' as const,
  countries: ['DE', 'AT'],
  prices: [{ countries: ['DE'], up_to_grams: 2_000, amount_minor: 500 }],
}
const terms = {
  fees: [{ name: 'Service', amount_minor: 200, per: 'unit' as const, included: false }],
  tax: null,
  delivery: SENT,
}
const offer = { units, terms } as unknown as Parameters<typeof sumOf>[1]
const costs = (fields: Record<string, string>, prices = {}) => {
  const sum = sumOf(choiceIn({ fields, prices }, units), offer, fields.country ?? '')
  return 'totals' in sum ? [sum.kind, sum.totals.total_minor] : [sum.kind]
}

it('is exact once all is known that it depends on, and at least so much before', () => {
  expect(costs({ product_id: '' })).toEqual(['none'])
  expect(costs({ product_id: 'shoe-42', quantity: '2' })).toEqual(['from', 20_400])
  expect(costs({ product_id: 'shoe-42', quantity: '2', country: 'DE' })).toEqual(['exact', 20_900])
})

it('says that it is not sent to a country, or is too heavy for it', () => {
  expect(costs({ product_id: 'shoe-42', country: 'AT' })).toEqual(['away'])
  expect(costs({ product_id: 'shoe-42', quantity: '3', country: 'DE' })).toEqual(['away'])
})

it('counts seats at the price of each, places and products; the best seats have a price once they are offered', () => {
  const seats = { 'seat:stalls:A-1': '1', 'places:stalls': '1', 'units:shoe-42': '', country: 'DE' }
  expect(costs(seats, { 'seat:stalls:A-1': 9_000 })).toEqual(['exact', 13_900])
  expect(costs({ ...seats, 'best-quantity': '2' }, { 'seat:stalls:A-1': 9_000 })).toEqual(['exact', 13_900])
})
