import { expect, test } from 'vitest'
import { NO_DELIVERY } from '../../../shared/api/goods.ts'
import { TOO_HEAVY } from '../../../shared/problem.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { priceOf } from './pricing.ts'

const product = { product_id: 'one', unit_price_minor: 700, currency: 'EUR', variant_of: null, weight_grams: 900 }
const saleWith = (changes = {}) =>
  ({
    products: [product],
    fees: [],
    tax: null,
    delivery: NO_DELIVERY,
    terms_version: 1,
    ...changes,
  }) as unknown as SaleRow
const price = (sale: SaleRow, ...products: string[]) =>
  priceOf(
    { sale, vouchers: [], chart: null, country: 'DE' },
    products.map((id) => ({ product: id, quantity: 2 })),
  )

test('a product that the sale does not have is a problem, and has no price of 0', () => {
  expect(price(saleWith(), 'one')).toMatchObject({ totals: { total_minor: 1400 } })
  expect(price(saleWith(), 'one', 'gone')).toMatchObject({ type: '/problems/unknown-product' })
  expect(price(saleWith({ products: [] }), 'one')).toMatchObject({ type: '/problems/unknown-product' })
})

test('an order that is too heavy says so in a field of its problem', () => {
  const delivery = { kind: 'address', prices: [{ name: 'Parcel', amount_minor: 500, up_to_grams: 1000 }] }
  expect(price(saleWith({ delivery }), 'one')).toMatchObject({ status: 422, reason: TOO_HEAVY })
})
