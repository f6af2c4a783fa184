/** An invented shoe in fourteen sizes, sent to addresses, with a promo code: for previews and the tests. */
import { type Delivery, type GoodsDocument, NO_DELIVERY } from '../../shared/api/goods.ts'
import type { Order, PublicSale } from '../../shared/api/public.ts'
import type { Quote } from '../checkout/quote.ts'

type Product = PublicSale['products'][number]

const SHOE: Product = {
  product_id: 'aurora',
  name: 'Aurora One',
  unit_price_minor: 18_900,
  currency: 'EUR',
  total: 0,
  available: 0,
  has_terms: true,
  weight_grams: 900,
}
/** What is left of each. */
const SIZES = {
  ...{ 36: 4, 37: 0, 37.5: 34, 38: 28, 38.5: 0, 39: 61, 40: 44, 41: 80, 42: 52, 42.5: 9, 43: 25, 44: 31, 45: 0, 46: 2 },
}
const inOrder = Object.entries(SIZES).toSorted(([a], [b]) => Number(a) - Number(b))
const variantOf = (variant: Record<string, string>, available: number): Product => {
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

/** Drawn by code: a shoe is hard to draw, a wave is not. */
const PICTURE = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1060 1000"><defs><radialGradient id="a" cx=".5" cy=".7" r=".95"><stop stop-color="#1f7f7c"/><stop offset=".4" stop-color="#0f4f5c"/><stop offset="1" stop-color="#071628"/></radialGradient><linearGradient id="b"><stop stop-color="#1fe39c"/><stop offset="1" stop-color="#3b7bff"/></linearGradient></defs><path fill="url(#a)" d="M0 0h1060v1000H0z"/><path fill="url(#b)" opacity=".7" d="M0 420C220 180 420 560 660 340s300-90 400-30v220c-160-160-340 20-560 0S160 500 0 640Z"/><path fill="#f6f4ec" d="M140 700c40-130 200-120 330-230 60 60 150 70 210 20 30 90 210 90 260 180v60H140Z"/></svg>',
)}`

const goodsOf = (options: readonly { name: string; values: readonly string[] }[]): GoodsDocument => ({
  version: 1,
  brand: null,
  venue: null,
  products: {
    aurora: {
      names: { ar: 'أورورا ون' },
      images: [{ url: PICTURE, alt: 'Aurora One, off-white with a green and blue wave' }],
      options,
      terms: {
        en: 'Unworn shoes can be sent back within 14 days.',
        de: 'Ungetragene Schuhe können 14 Tage lang zurückgeschickt werden.',
      },
    },
  },
})

const SENT: Delivery = {
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

const sold = (state: PublicSale, variants: readonly Product[]): PublicSale => ({
  ...state,
  name: 'Aurora One',
  contact: 'required',
  delivery: SENT,
  tax: { name: 'VAT', percent: 20 },
  fees: [],
  products: [SHOE, ...variants],
})

/** The fields of a sale of one shoe in fourteen sizes, over those of another sale. */
export const inSizes = (state: PublicSale) => ({
  state: sold(
    state,
    inOrder.map(([size, available]) => variantOf({ Size: size }, available)),
  ),
  goods: goodsOf([{ name: 'Size', values: inOrder.map(([size]) => size) }]),
})

/** The same in two colours. */
export const coloured = (state: PublicSale) => ({
  state: sold(
    state,
    ['Black', 'Off-white'].flatMap((Colour, i) =>
      ['40', '41', '42', '43'].map((Size, k) => variantOf({ Colour, Size }, (i + k) % 4 === 1 ? 0 : 4 + 9 * k)),
    ),
  ),
  goods: goodsOf([
    { name: 'Colour', values: ['Black', 'Off-white'] },
    { name: 'Size', values: ['40', '41', '42', '43'] },
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
/** What an origin finds wrong with an address. */
export const addressed = [
  { field: 'delivery.street', detail: 'is required' },
  { field: 'delivery.country', detail: 'it is not sent there' },
]

/** What it costs with the code, sent to Germany. */
export const quoted: Quote = {
  promo_codes: [{ code: 'NOON10', holds: true }],
  needs_country: false,
  subtotal_minor: 18_900,
  discount_minor: 1_890,
  fees: [],
  shipping_minor: 690,
  tax_minor: 2_950,
  total_minor: 17_700,
}

/** An order of one pair, with the code. */
export function billed(order: Order): Order {
  const [line] = order.lines
  const { promo_codes: _, needs_country: __, ...totals } = quoted
  return {
    ...order,
    ...totals,
    product_id: 'aurora-42',
    quantity: 1,
    unit_price_minor: 18_900,
    lines: line
      ? [{ ...line, product_id: 'aurora-42', name: 'Aurora One, 42', quantity: 1, unit_price_minor: 18_900 }]
      : [],
  }
}
