import { expect, it } from 'vitest'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { askedOf } from './cart.ts'

it('answers thousands of wrong seats with the first of them', () => {
  const sale = { products: [{ product_id: 'stalls', section_type: 'reserved', total: 10 }] } as unknown as SaleRow
  const line = { section_id: 'stalls', seats: Array<string>(1_000).fill('X-1') }
  const refused = askedOf({ lines: Array(20).fill(line) }, sale, null)
  expect(refused).toMatchObject({ type: '/problems/invalid-fields', errors: { length: 20 } })
  expect(JSON.stringify(refused).length).toBeLessThan(4_000)
})
