/** The goods of a tour and standing places, several in one cart, for previews and tests. */
import type { GoodsDocument, ProductGoods } from '../../shared/api/goods.ts'
import type { Quote } from '../../shared/api/internal.ts'
import type { PublicProduct } from '../../shared/api/public.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import { countField, sizeField, unitsField } from '../pages/turn/cart-fields.ts'
import type { SaleView } from '../pages/view.ts'
import { sentAbroad } from './shoe-samples.ts'

const product = (product_id: string, name: string, unit_price_minor: number, available = 200): PublicProduct => ({
  ...{ product_id, name, unit_price_minor, available, currency: 'EUR', total: available },
})
const SIZES = { S: 4, M: 60, L: 1, XL: 0, XXL: 30 }
const PRODUCTS: readonly PublicProduct[] = [
  { ...product('standing', 'Standing place', 3_800), section_type: 'general_admission' },
  product('poster', 'Tour poster', 1_800),
  product('shirt', 'T-shirt', 3_400, 0),
  ...Object.entries(SIZES).map(([Size, available]) => ({
    ...product(`shirt-${Size.toLowerCase()}`, `T-shirt, ${Size}`, 3_400, available),
    variant_of: 'shirt',
    variant: { Size },
  })),
  { ...product('record', 'Record', 2_900), limit: 2 },
]

const pictured = (letter: string, alt: string, more: Partial<ProductGoods> = {}): ProductGoods => ({
  images: [{ url: `/images/${letter.repeat(32)}`, alt, width: 800, height: 800 }],
  ...more,
})
const GOODS: GoodsDocument = {
  version: 1,
  brand: { shop: 'Halfway', accent: '#00674b' },
  venue: null,
  products: {
    poster: pictured('a', 'The poster', { subtitle: { en: 'Numbered print, 50 × 70 cm', de: 'Nummerierter Druck' } }),
    shirt: pictured('b', 'The shirt', { options: [{ name: 'Size', values: Object.keys(SIZES) }] }),
    record: pictured('c', 'The record', { subtitle: { en: 'Double vinyl' } }),
  },
}

/** The fields of a sale of a tour, which replace those of another sale. */
export const ofTour = (state: SaleView['state']) => ({
  state: {
    ...state,
    name: 'Night Orchestra',
    limit_per_visitor: 4,
    contact: 'required' as const,
    delivery: sentAbroad,
    products: [...PRODUCTS],
    goods_version: 1,
  },
  goods: GOODS,
})

export const chosenCart = {
  idempotency_key: 'a-key',
  cart: '1',
  [unitsField('poster', false)]: '1',
  [sizeField('shirt', 1)]: 'shirt-l',
  [countField('shirt', 1)]: '1',
  [unitsField('record', false)]: '2',
  ...{ name: 'Ada Lindqvist', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' },
  email: 'ada@example.org',
}

export const cartQuote: Quote = {
  ...{ subtotal_minor: 11_000, discount_minor: 0, fees: [], shipping_minor: 690, tax_minor: 1_866 },
  ...{ total_minor: 11_690, promo_codes: [], needs_country: false },
}

/** The shirt sold out meanwhile; the price is of the rest. */
export const shirtGone: Problem = {
  ...problem('sold-out'),
  gone: [{ product_id: 'shirt-l', left: 0 }],
  totals: { ...cartQuote, subtotal_minor: 7_600, total_minor: 8_290, tax_minor: 1_323 },
}
