import { expect, test } from 'vitest'
import { MAX_ENTRIES } from '../../shared/api/front.ts'
import { withinLimit } from './catalogue.ts'

test('a sale that does not fit into the catalogue takes no room from those behind it', () => {
  const [most, large, small, last] = [MAX_ENTRIES - 3, 9, 0, 1].map((products) => ({ products: Array(products) }))
  const sales = [most, large, small, large, last].flatMap((sale) => sale ?? [])
  expect(withinLimit(sales as never)).toEqual([most, small])
})
