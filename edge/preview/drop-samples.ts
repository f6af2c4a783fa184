/** Invented goods with every field that a sale can have, for previews and tests. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { SaleView } from '../pages/view.ts'
import { goodsOf } from './shoe-samples.ts'

const SIZES = [
  ['36', 310],
  ['37', 0],
  ['37.5', 560],
  ['38', 740],
  ['38.5', 0],
  ['39', 880],
  ['40', 960],
  ['41', 1_100],
  ['42', 1_180],
  ['42.5', 9],
  ['43', 940],
  ['44', 690],
  ['45', 0],
  ['46', 2],
] as const
const SHOE = { product_id: 'aurora', name: 'Aurora One', unit_price_minor: 18_900, currency: 'EUR' } as const

const { products, ...ofSale } = goodsOf([{ name: 'EU size', values: SIZES.map(([size]) => size) }])
const GOODS: GoodsDocument = {
  ...ofSale,
  products: {
    aurora: {
      ...products.aurora,
      terms: { en: 'Two pairs at most. Returns are **free** within 14 days, unworn and in their box.' },
      tags: ['Sneaker'],
    },
  },
}

/** A shoe in fourteen sizes, which is sent to two countries. These fields replace those of another sale. */
export const withGoods = (state: SaleView['state']) => {
  const sizes = SIZES.map(([size, available]) => ({
    ...SHOE,
    product_id: `aurora-${size}`,
    name: `Aurora One, ${size}`,
    total: 1_200,
    available,
    variant_of: SHOE.product_id,
    variant: { 'EU size': size },
  }))
  return {
    goods: GOODS,
    state: {
      ...state,
      name: 'Aurora One',
      products: [{ ...SHOE, total: 0, available: 0, has_terms: true }, ...sizes],
      delivery: {
        ...state.delivery,
        kind: 'address' as const,
        countries: ['DE', 'AT'],
        prices: [{ amount_minor: 690 }],
      },
      goods_version: GOODS.version,
    },
  }
}
