/**
 * The drop that a rehearsal with goods sells: one product in eight sizes, with a fee for each unit, shipping by
 * country and weight, and a promo code that more buyers have than may use it. The total of an order is calculated
 * here a second time, independently of the system.
 */
const DROP = 'shoe'
const PRICE_MINOR = 18_900
const PACKING_MINOR = 150
const GRAMS = 600
export const SIZES = ['38', '39', '40', '41', '42', '43', '44', '45'] as const
export type Size = (typeof SIZES)[number]
/** The number of visitors in a hundred who want each size. */
const WANTED: Readonly<Record<Size, number>> = { 38: 6, 39: 9, 40: 13, 41: 17, 42: 20, 43: 16, 44: 12, 45: 7 }
/** Each size occurs as often as it is wanted. */
const BAG = SIZES.flatMap((size) => Array<Size>(WANTED[size]).fill(size))
export const COUNTRIES = ['DE', 'AT', 'FR'] as const
export type Country = (typeof COUNTRIES)[number]
/** A postcode of each country. */
export const POSTCODES: Readonly<Record<Country, string>> = { DE: '10119', AT: '1010', FR: '75001' }
/** The prices up to a kilogram, and above. */
const SHIPPING_MINOR: Readonly<Record<Country, readonly [number, number]>> = {
  DE: [490, 690],
  AT: [990, 1_290],
  FR: [1_190, 1_490],
}
export const CODE = 'CREW10'
const PERCENT = 10

export const variantOf = (size: string) => `${DROP}-${size}`

/** A random size, as often as visitors want it. */
export const pickSize = (random: () => number): Size => BAG[Math.floor(random() * BAG.length)] ?? '42'

/** The terms of the sale without its times, with this many units in all. */
export function dropOf(stock: number) {
  const each = Math.floor(stock / SIZES.length)
  const variants = SIZES.map((size, i) => ({
    variant_id: variantOf(size),
    options: { size },
    total: each + (i < stock % SIZES.length ? 1 : 0),
  }))
  return {
    products: [
      {
        product_id: DROP,
        name: 'Shoe',
        unit_price_minor: PRICE_MINOR,
        currency: 'EUR',
        total: 0,
        weight_grams: GRAMS,
        terms: 'No returns of worn shoes.',
        options: [{ name: 'size', values: SIZES }],
        variants,
      },
    ],
    tax: { name: 'VAT', percent: 19 },
    fees: [{ name: 'Packing', amount_minor: PACKING_MINOR, per: 'unit' }],
    delivery: {
      kind: 'address',
      countries: COUNTRIES,
      prices: COUNTRIES.flatMap((country) => {
        const [light, heavy] = SHIPPING_MINOR[country]
        return [
          { countries: [country], up_to_grams: 1_000, amount_minor: light },
          { countries: [country], amount_minor: heavy },
        ]
      }),
    },
  }
}

export const promoCodes = (uses: number) => [{ code: CODE, percent: PERCENT, uses, uses_per_visitor: 1 }]

/** The total of an order of the drop, in minor units. */
export function sumOf({
  quantity,
  country,
  hasCode,
}: {
  quantity: number
  country: Country
  hasCode: boolean
}): number {
  const price = quantity * PRICE_MINOR
  const off = hasCode ? Math.round((price * PERCENT) / 100) : 0
  const [light, heavy] = SHIPPING_MINOR[country]
  return price - off + quantity * PACKING_MINOR + (quantity * GRAMS <= 1_000 ? light : heavy)
}
