import { expect, test } from 'vitest'
import { productsOf } from './products.ts'

const shared = { currency: 'EUR', limit: 2, weight_grams: 900, has_terms: false }
const unit = (product_id: string, total: number) => ({ ...shared, product_id, name: product_id, total })
const size = (value: string, total: number, sku: string | null = null) => ({
  ...unit(`shoe-${value}`, total),
  variant_of: 'shoe',
  variant: { size: value },
  sku,
})

test('puts variants into their product, in their order, with what is their own', () => {
  const units = [unit('poster', 5), unit('shoe', 0), size('36', 4), size('37.5', 2, 'AU-375')]
  expect(productsOf(units, null)).toEqual([
    unit('poster', 5),
    {
      ...unit('shoe', 0),
      variants: [
        { variant_id: 'shoe-36', options: { size: '36' }, total: 4 },
        { variant_id: 'shoe-37.5', options: { size: '37.5' }, total: 2, sku: 'AU-375' },
      ],
    },
  ])
})

test('adds what the goods say of a product', () => {
  const goods = { version: 3, brand: null, venue: null, products: { shoe: { description: 'Runs.' }, gone: {} } }
  expect(productsOf([unit('poster', 5), unit('shoe', 0)], goods)).toEqual([
    unit('poster', 5),
    { ...unit('shoe', 0), description: 'Runs.' },
  ])
})
