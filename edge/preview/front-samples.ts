/** Invented shop fronts and searches, for screenshots and tests. */
import type { ListedSale } from '../../shared/api/front.ts'
import { entriesOf } from '../../shared/search/entries.ts'
import { SearchIndex } from '../../shared/search/search-index.ts'
import { arrange, salesAt } from '../front/listing.ts'
import type { Brand } from '../pages/brand.ts'
import type { FrontSale, FrontView } from '../pages/front/front-page.ts'
import { renderFront, renderOwnOrders, renderSearch } from '../pages/index.ts'
import { WORDS } from '../pages/words/words.ts'
import { orderOf, type SampleOptions, VINYL } from './sample-sale.ts'

/** The brand of all samples. */
export const HOUSE: Brand = {
  name: 'Halfway Records',
  legal: [
    { name: { en: 'Delivery and returns', de: 'Versand und Rückgabe' }, url: '/legal/returns' },
    { name: { en: 'Imprint', de: 'Impressum', fr: 'Mentions légales' }, url: '/legal/imprint' },
  ],
}

const HOUR_MS = 3_600_000

/** The samples by name, each rendered when it is requested. */
export function frontSamples({
  lang,
  nowMs,
  brand = HOUSE,
  called,
  words = WORDS[lang],
}: SampleOptions): Readonly<Record<string, () => string>> {
  const at = (hours: number) => new Date(nowMs + hours * HOUR_MS).toISOString()
  const image = (n: number) => ({
    url: `/images/${String(n).repeat(32)}`,
    alt: '',
    width: 1200,
    height: 1080,
    widths: [320, 640],
  })
  const sold = (sale: string, name: string, opensIn: number, more: Partial<ListedSale> = {}): ListedSale => ({
    sale,
    name,
    opens_at: at(opensIn),
    pre_queue_opens_at: at(opensIn - 1),
    ends_at: null,
    image: image(sale.length % 10),
    price_from_minor: 4_200,
    currency: 'EUR',
    prices_differ: false,
    venue: null,
    shop: 'Halfway',
    products: [],
    ...more,
  })
  const state = (phase: FrontSale['phase'] & ('upcoming' | 'open' | 'paused' | 'sold_out'), left = 400) => ({
    phase,
    left,
    tells_restock: phase === 'sold_out',
  })
  const pairs = {
    product_id: 'pairs',
    name: 'A running shoe with a hand-dyed wave',
    description: { en: 'No two are alike.' },
  }
  const sales = [
    sold('aurora', called ?? 'Aurora One', 1.62, { price_from_minor: 18_900, products: [pairs] }),
    sold('slow', 'Slow Weather', -2, {
      names: { de: 'Langsames Wetter', fr: 'Temps lent', es: 'Tiempo lento', ja: '遅い天気', ar: 'طقس بطيء' },
      products: [{ product_id: 'lp', name: 'Record, orange sleeve' }],
    }),
    sold('harbour', 'Harbour Nights', -30, { price_from_minor: 3_800, prices_differ: true, venue: 'Pier 4' }),
    sold('night', 'Night Orchestra', 23.6, { price_from_minor: 3_200, prices_differ: true, venue: 'Grand Hall' }),
    sold('tidal', 'Tidal Forms', 60, {
      price_from_minor: 9_500,
      products: [{ product_id: 'print', name: 'Print, signed' }],
    }),
    sold('kiln', 'Night Kiln', 96, { image: null, price_from_minor: 14_000 }),
    sold('lumen', 'Lumen', 300, { price_from_minor: 22_000 }),
    sold('zero', 'Aurora Zero', -200, { products: [{ product_id: 'zero', name: 'Sneaker', tags: ['Aurora'] }] }),
    sold('first', 'First Light', -500, { ends_at: at(-480) }),
  ]
  const states = {
    ...{ aurora: state('upcoming'), night: state('upcoming') },
    slow: { ...state('open', 12), waiting: 1_900, wait_seconds: 240 },
    harbour: { ...state('open'), waiting: 0 },
    ...{ tidal: state('upcoming'), kiln: state('upcoming'), lumen: state('upcoming'), zero: state('sold_out', 0) },
  }
  const view: FrontView = {
    lang,
    choseLanguage: false,
    words,
    nowMs,
    host: 'https://shop.example',
    brand,
    indexPath: '/search/index?v=1',
    hasAccounts: false,
  }
  const of = (some: readonly ListedSale[], over: object = {}) =>
    arrange({ catalogue: { sales: some, synonyms: [] }, states: { ...states, ...over } }, nowMs)
  const index = SearchIndex.over(entriesOf({ sales }), [])
  const listed = new Map(
    salesAt({ catalogue: { sales, synonyms: [] }, states }, nowMs).map((sale) => [sale.sale, sale]),
  )
  const orders = [orderOf(VINYL, 2, 'reserved', nowMs), { ...orderOf(VINYL, 1, 'confirmed', nowMs), sale: 'slow' }]
  const searched = (query: string) => () =>
    renderSearch({ ...view, found: index.search(query, { lang, limit: 20 }), sales: listed })
  return {
    front: () => renderFront({ ...view, ...of(sales) }),
    'front-lobby': () =>
      renderFront({ ...view, ...of(sales.map((sale) => ({ ...sale, pre_queue_opens_at: at(-1) }))) }),
    'front-without-next': () => renderFront({ ...view, ...of(sales.slice(1, 3), { slow: state('paused') }) }),
    'front-far': () =>
      renderFront({ ...view, ...of([{ ...sold('lumen', called ?? 'Lumen', 1_000), opens_at: at(24 * 200 + 23.4) }]) }),
    'front-orders': () =>
      renderOwnOrders({ ...view, orders, images: new Map(sales.map((one) => [one.sale, one.image])) }),
    'front-orders-none': () => renderOwnOrders({ ...view, orders: [], images: new Map() }),
    'front-empty': () => renderFront({ ...view, ...of([]) }),
    'search-found': searched('auror'),
    'search-guessed': searched(called ?? 'Grant Hal'),
    'search-none': searched('xylophone'),
    'search-empty': searched(''),
  }
}
