/** The data of the sample pages: an invented sale with its products and schedules, and an order in it. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { SaleDraft } from '../../shared/api/internal.ts'
import { isLive, isSold, type OrderStatus } from '../../shared/api/order-status.ts'
import type { Order, PublicProduct } from '../../shared/api/public.ts'
import { totalsOf } from '../../shared/bill.ts'
import { commitmentOf, positionOf } from '../../shared/draw.ts'
import type { Phase, Schedule } from '../../shared/schedule.ts'
import type { Brand } from '../pages/brand.ts'
import type { Language, Words } from '../pages/words/words.ts'

const SEED = '5e'.repeat(32)
export const NUMBER = 4_012
export const LOBBY = 12_480
export const POSITION = positionOf({ seed: SEED, size: LOBBY }, NUMBER)
export const ORDER_ID = '019a1fcb-824e-74eb-bb3e-e54755d9709e'

const PRODUCT = { currency: 'EUR', total: 600 }
export const VINYL = {
  ...PRODUCT,
  product_id: 'vinyl',
  name: 'Vinyl, blue marble',
  unit_price_minor: 3_900,
  available: 412,
}
const TAPE = { ...PRODUCT, product_id: 'tape', name: 'Cassette', unit_price_minor: 1_450, available: 1 }

export const SELLER = { name: 'Halfway Records Ltd', address: 'Harbour Street 4\n10115 Berlin', tax_id: 'DE123456789' }
export const TAX = { name: 'VAT', percent: 19 }
export const PUBLIC = { line: 'public' }
export const MEMBERS = { line: 'members', name: { en: 'Members of the club', de: 'Mitglieder des Clubs' } }

export const FREE = { unit_price_minor: 0, total_minor: 0 }
export const STRIPE = { key: 'pk_test_samples', script: 'https://js.stripe.com/endive/stripe.js' }

/** The announcement is in English and Arabic; other languages show the English text. */
export const ANNOUNCED = {
  announcement: {
    id: 'a1',
    level: 'info',
    text: {
      en: 'At 15:00 another hundred copies of the blue marble pressing come in. You keep your place.',
      ar: 'تصل مئة نسخة أخرى في الساعة الثالثة. تحتفظ بمكانك.',
    },
    since: '2026-11-27T11:52:00.000Z',
  },
} satisfies Partial<Schedule>
export const WARNED = {
  announcement: {
    ...ANNOUNCED.announcement,
    id: 'a2',
    level: 'warning',
    text: { en: 'Some cards are declined by mistake just now.\nWe are mending it; what you reserved stays yours.' },
  },
} satisfies Partial<Schedule>
export const REASONED = {
  pause_reason: {
    en: 'The payment provider has a fault. We go on as soon as it is mended.',
    ar: 'يوجد عطل لدى مزود الدفع.',
  },
} satisfies Partial<Schedule>

/** The products for sale, with units left, and a product of which one unit is left. */
export function offered(sale: SaleDraft['sale'] | undefined, called: string | undefined) {
  const invented = [
    { ...VINYL, name: called ?? VINYL.name },
    { ...PRODUCT, product_id: 'box', name: 'Box set with signed print', unit_price_minor: 12_900, available: 0 },
    { ...TAPE, available: 87 },
  ]
  if (!sale) return [invented, TAPE] as const
  const products = sale.products.map((product) => ({ ...product, available: product.available || product.total }))
  return [products, products.at(-1) ?? TAPE] as const
}

export function scheduleIn(phase: Phase, nowMs: number): Schedule {
  const isBefore = phase === 'upcoming' || phase === 'pre_queue'
  const opensAtMs = nowMs + (phase === 'upcoming' ? 2.1 * 86_400_000 : isBefore ? 754_000 : -240_000)
  const lobbyAtMs = opensAtMs - 7_200_000
  return {
    sale: 'demo',
    version: 7,
    phase,
    anchor_at_ms: isBefore ? opensAtMs : nowMs,
    anchor_position: isBefore ? 0 : Math.floor(POSITION * 0.62),
    rate_per_second: phase === 'open' ? 8.5 : 0,
    ceiling: 500_000,
    missed_through: 0,
    pre_queue_size: LOBBY,
    draw_commitment: commitmentOf(SEED),
    draw_seed: isBefore ? null : SEED,
    draw_beacon: null,
    beacon_announced: false,
    pre_queue_opens_at: new Date(lobbyAtMs).toISOString(),
    opens_at: new Date(opensAtMs).toISOString(),
    ends_at: null,
    pre_queue_opens_at_ms: lobbyAtMs,
    ends_at_ms: null,
    products: [{ product_id: VINYL.product_id, available: 410 }],
    lasts_for_positions: null,
    announcement: null,
    feed_version: 0,
    pause_reason: null,
    next_read_ms: 8_000,
    server_time_ms: nowMs,
  }
}

export const orderOf = (product: PublicProduct, quantity: number, status: OrderStatus, nowMs: number): Order => ({
  order_id: ORDER_ID,
  sale: 'demo',
  product_id: product.product_id,
  quantity,
  unit_price_minor: product.unit_price_minor,
  currency: product.currency,
  status,
  reserved_until: new Date(nowMs + 68_000).toISOString(),
  expires_in_seconds: status === 'reserved' ? 68 : 0,
  created_at: new Date(nowMs - 22_000).toISOString(),
  lines: [
    {
      line: 1,
      product_id: product.product_id,
      name: product.name,
      quantity,
      unit_price_minor: product.unit_price_minor,
      status: isSold(status) ? 'sold' : isLive(status) ? 'held' : 'returned',
    },
  ],
  short_number: 'K7Q-4MX',
  ...totalsOf(quantity * product.unit_price_minor, []),
  refunded_minor: 0,
  payment: null,
})

export interface SampleOptions {
  readonly lang: Language
  readonly nowMs: number
  readonly brand?: Brand
  readonly words?: Words
  /** Fields that replace those of each schedule. */
  readonly schedule?: object
  /** The name of the sale and of its first product. */
  readonly called?: string
  /** A real sale, whose pages are shown as they would look in each state. */
  readonly sale?: SaleDraft['sale']
  readonly paymentPage?: string | null
  readonly goods?: GoodsDocument | null
}
