/** Invented goods with all that a sale can say of them: for previews and the tests. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { PublicSale } from '../../shared/api/public.ts'

/** The names of pictures; a preview draws each. */
const PICTURES = ['a', 'b', 'c', 'd', 'e'].map((letter) => `/images/${letter.repeat(32)}`)
const ALTS = ['The shoe from the side', 'The wave at the heel', 'The laces', 'The sole', 'The shoe on light ground']

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

export const GOODS: GoodsDocument = {
  version: 3,
  brand: { shop: 'Halfway', accent: '#00674b', hero: PICTURES[0] ?? '' },
  venue: null,
  products: {
    aurora: {
      names: { de: 'Aurora Eins', ja: 'オーロラ・ワン', ar: 'أورورا ون' },
      description: {
        en: 'A light runner on a sculpted sole of recycled foam. The wave on the side is **dyed by hand**: it falls differently on every pair.\n\n- Upper of knit and calf leather\n- 284 g in size 42',
        de: 'Ein leichter Laufschuh auf einer geformten Sohle aus wiederverwertetem Schaum. Die Welle an der Seite wird **von Hand gefärbt** und fällt bei jedem Paar anders aus.\n\n- Obermaterial aus Strick und Kalbsleder\n- 284 g in Größe 42',
        ar: 'حذاء جري خفيف بنعل منحوت من رغوة معاد تدويرها. الموجة على الجانب **مصبوغة يدويًا**، فلا يتشابه زوجان.',
      },
      images: PICTURES.map((url, i) => ({ url, alt: ALTS[i] ?? '', width: 1440, height: i === 0 ? 1310 : 1440 })),
      options: [{ name: 'EU size', values: SIZES.map(([size]) => size) }],
      terms: { en: 'Two pairs at most. Returns are **free** within 14 days, unworn and in their box.' },
      tags: ['Sneaker'],
    },
  },
}

/** A shoe in fourteen sizes, sent to two countries, over the fields of another sale. */
export const withGoods = (state: PublicSale) => {
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
