/** An invented shoe in fourteen sizes, which is sent to addresses, with a promo code; for previews and tests. */
import { type Delivery, type GoodsDocument, NO_DELIVERY, type ProductGoods } from '../../shared/api/goods.ts'
import type { Quote } from '../../shared/api/internal.ts'
import type { Order, PublicProduct } from '../../shared/api/public.ts'
import type { SaleView } from '../pages/view.ts'

const SHOE: PublicProduct = {
  product_id: 'aurora',
  name: 'Aurora One',
  unit_price_minor: 18_900,
  currency: 'EUR',
  total: 0,
  available: 0,
  has_terms: true,
  weight_grams: 900,
}
/** The number of remaining units of each size. */
const SIZES = {
  ...{ 36: 4, 37: 0, 37.5: 34, 38: 28, 38.5: 0, 39: 61, 40: 44, 41: 80, 42: 52, 42.5: 9, 43: 25, 44: 31, 45: 0, 46: 2 },
}
const inOrder = Object.entries(SIZES).toSorted(([a], [b]) => Number(a) - Number(b))
const variantOf = (variant: Record<string, string>, available: number): PublicProduct => {
  const values = Object.values(variant)
  return {
    ...SHOE,
    product_id: `aurora-${values.join('-').toLowerCase().replaceAll('.', '_')}`,
    name: [SHOE.name, ...values].join(', '),
    total: 100,
    available,
    variant_of: SHOE.product_id,
    variant,
  }
}

/** The names of pictures, each of which a preview draws. */
const PICTURES = ['a', 'b', 'c', 'd', 'e'].map((letter) => `/images/${letter.repeat(32)}`)
const ALTS = ['The shoe from the side', 'The wave at the heel', 'The laces', 'The sole', 'The shoe on light ground']

const SIZE_NAMES = { de: 'Größe', fr: 'Pointure', es: 'Talla', ja: 'サイズ', ar: 'المقاس' }

/** Goods with every field that a shop can set, and with these options. */
export const goodsOf = (options: NonNullable<ProductGoods['options']>): GoodsDocument => ({
  version: 3,
  brand: { shop: 'Halfway', accent: '#00674b', hero: PICTURES[0] ?? '' },
  venue: null,
  products: {
    aurora: {
      names: { de: 'Aurora Eins', ja: 'オーロラ・ワン', ar: 'أورورا ون' },
      description: {
        en:
          'A light runner on a sculpted sole of recycled foam. The wave on the side is **dyed by hand**: it falls ' +
          'differently on every pair.\n\n- Upper of knit and calf leather\n- 284 g in size 42',
        de:
          'Ein leichter Laufschuh auf einer geformten Sohle aus wiederverwertetem Schaum. Die Welle an der Seite ' +
          'wird **von Hand gefärbt** und fällt bei jedem Paar anders aus.\n\n- Obermaterial aus Strick und ' +
          'Kalbsleder\n- 284 g in Größe 42',
        ar: 'حذاء جري خفيف بنعل منحوت من رغوة معاد تدويرها. الموجة على الجانب **مصبوغة يدويًا**، فلا يتشابه زوجان.',
      },
      images: PICTURES.map((url, i) => ({ url, alt: ALTS[i] ?? '', width: 1440, height: i === 0 ? 1310 : 1440 })),
      options,
      terms: {
        en: 'Unworn shoes can be sent back within 14 days.',
        de: 'Ungetragene Schuhe können 14 Tage lang zurückgeschickt werden.',
      },
    },
  },
})

export const sentAbroad: Delivery = {
  kind: 'address',
  countries: ['DE', 'AT', 'FR'],
  prices: [{ countries: ['DE'], amount_minor: 690 }, { amount_minor: 1_490 }],
  ask: { ...NO_DELIVERY.ask, phone: 'optional' },
}
export const pickedUp: Delivery = {
  ...NO_DELIVERY,
  kind: 'pickup',
  pickup: 'Harbour Street 4, Berlin\nFrom Saturday 28 November, 10 to 18 h',
  ask: { ...NO_DELIVERY.ask, name: 'required', note: 'optional' },
}

const sold = (state: SaleView['state'], variants: readonly PublicProduct[]): SaleView['state'] => ({
  ...state,
  name: 'Aurora One',
  contact: 'required',
  delivery: sentAbroad,
  tax: { name: 'VAT', percent: 20 },
  fees: [],
  products: [SHOE, ...variants],
  goods_version: 3,
})

/** The fields of a sale of one shoe in fourteen sizes, which replace those of another sale. */
export const inSizes = (state: SaleView['state']) => ({
  state: sold(
    state,
    inOrder.map(([size, available]) => variantOf({ Size: size }, available)),
  ),
  goods: goodsOf([{ name: 'Size', names: SIZE_NAMES, values: inOrder.map(([size]) => size) }]),
})

/** The same shoe in two colours. */
export const addColours = (state: SaleView['state']) => ({
  state: sold(
    state,
    ['Black', 'Off-white'].flatMap((Colour, i) =>
      ['40', '41', '42', '43'].map((Size, k) => variantOf({ Colour, Size }, (i + k) % 4 === 1 ? 0 : 4 + 9 * k)),
    ),
  ),
  goods: goodsOf([
    { name: 'Colour', values: ['Black', 'Off-white'] },
    { name: 'Size', names: SIZE_NAMES, values: ['40', '41', '42', '43'] },
  ]),
})

export const chosenSize = {
  idempotency_key: 'a-key',
  product_id: 'aurora-42',
  quantity: '1',
  email: 'ada@example.org',
  promo_code: 'NOON10',
  ...{ name: 'Ada Lindqvist', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' },
  accept: 'terms',
}
/** The errors that an origin finds in an address. */
export const sampleAddress = [
  { field: 'delivery.street', detail: 'is required' },
  { field: 'delivery.country', detail: 'it is not sent there' },
]

/** The price with the code and delivery to Germany. */
export const sampleQuote: Quote = {
  promo_codes: [{ code: 'NOON10', holds: true }],
  needs_country: false,
  subtotal_minor: 18_900,
  discount_minor: 1_890,
  fees: [],
  shipping_minor: 690,
  tax_minor: 2_950,
  total_minor: 17_700,
}

/** An order of one pair with the code. */
export function addBill(order: Order): Order {
  const [line] = order.lines
  const { promo_codes: _, needs_country: __, ...totals } = sampleQuote
  return {
    ...order,
    ...totals,
    contact: {
      email: chosenSize.email,
      delivery: { name: 'Ada Lindqvist', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' },
    },
    product_id: 'aurora-42',
    quantity: 1,
    unit_price_minor: 18_900,
    lines: line
      ? [{ ...line, product_id: 'aurora-42', name: 'Aurora One, 42', quantity: 1, unit_price_minor: 18_900 }]
      : [],
  }
}
