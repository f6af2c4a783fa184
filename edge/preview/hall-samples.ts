/** An invented hall, with visitors' choices and orders in it, for previews and tests. */

import type { Quote } from '../../shared/api/internal.ts'
import type { Order, OrderLine, PublicProduct } from '../../shared/api/public.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import { CART, seatField, unitsField, withOffer } from '../pages/turn/cart-fields.ts'
import type { HallFacts, SaleView } from '../pages/view.ts'

const SECTION = { currency: 'EUR', section_type: 'reserved' } as const
const STALLS = {
  ...SECTION,
  product_id: 'stalls-b',
  name: 'Stalls B',
  unit_price_minor: 4_800,
  total: 180,
  available: 71,
}
const BALCONY = {
  ...SECTION,
  product_id: 'balcony-e',
  name: 'Balcony E',
  unit_price_minor: 4_800,
  total: 150,
  available: 0,
}
const STANDING = {
  ...SECTION,
  section_type: 'general_admission',
  product_id: 'standing',
  name: 'Standing',
  unit_price_minor: 3_800,
  total: 400,
  available: 180,
} as const
const PROGRAMME = {
  product_id: 'programme',
  name: 'Programme book',
  unit_price_minor: 900,
  currency: 'EUR',
  total: 300,
  available: 300,
}
const PRODUCTS: readonly PublicProduct[] = [STALLS, BALCONY, STANDING, PROGRAMME]

/** The hall has rows A to L of 20 seats. The first four rows are the most expensive. */
const HALL: HallFacts = {
  categories: [
    { category: 'A', price_minor: 9_400, price_to_minor: 9_400 },
    { category: 'B', price_minor: 4_800, price_to_minor: 6_800 },
  ],
  kinds: new Set(['standard', 'accessible', 'companion', 'restricted_view']),
  seat: (_, seat) => {
    const [, row, number] = /^([A-L])-(\d+)$/.exec(seat) ?? []
    return row && number ? { row, number, price_minor: row < 'E' ? 9_400 : 4_800 } : undefined
  },
}

/** The fields of a sale with a hall, which replace those of another sale. */
export const inHall = (state: SaleView['state']) => ({
  state: { ...state, name: 'Night Orchestra', limit_per_visitor: 6, products: [...PRODUCTS], chart_version: 1 },
  hall: HALL,
})

/** The fields of a sale of seats alone, which leads to no cart. */
export const inHallAlone = (state: SaleView['state']) => {
  const hall = inHall(state)
  return { ...hall, state: { ...hall.state, products: [STALLS, BALCONY] } }
}

/** The choice is two neighbouring seats. */
export const chosenSeats = {
  idempotency_key: 'a-key',
  [seatField('stalls-b', 'F-7')]: '1',
  [seatField('stalls-b', 'F-8')]: '1',
}

/** The cart has two neighbouring seats and standing places. */
export const hallCart = { ...chosenSeats, [CART]: '1', [unitsField('standing', true)]: '2' }

export const hallQuote: Quote = {
  ...{ subtotal_minor: 17_200, discount_minor: 0, fees: [], shipping_minor: 0, tax_minor: 2_746 },
  ...{ total_minor: 17_200, promo_codes: [], needs_country: false },
}

/** The choice is more best seats than there are. */
export const chosenBest = {
  idempotency_key: 'a-key',
  'best-quantity': '6',
  'best-section': 'stalls-b',
  'best-category': 'B',
}

/** The shop has offered two neighbouring seats. */
export const offeredSeats = {
  ...withOffer({ idempotency_key: 'a-key', 'best-quantity': '2' }, { section_id: 'stalls-b', seats: ['C-2', 'C-3'] }),
}

export const seatTaken: Problem = {
  ...problem('seat-taken'),
  seats: ['F-7'],
  offer: [{ section_id: 'stalls-b', seats: ['G-9', 'G-10'] }],
}

/** An order of two neighbouring seats, standing places and a book. If `returned`, its first seat was returned. */
export function orderOfSeats(order: Order, returned = false): Order {
  const status = order.lines[0]?.status ?? 'held'
  const seat = (line: number, number: string): OrderLine => ({
    line,
    section_id: STALLS.product_id,
    seat_id: `F-${number}`,
    row: 'F',
    number,
    name: STALLS.name,
    quantity: 1,
    unit_price_minor: 4_800,
    status: returned && line === 1 ? 'returned' : status,
  })
  const lines: OrderLine[] = [
    seat(1, '7'),
    seat(2, '8'),
    { line: 3, section_id: 'standing', name: STANDING.name, quantity: 2, unit_price_minor: 3_800, status },
    { line: 4, product_id: 'programme', name: PROGRAMME.name, quantity: 1, unit_price_minor: 900, status },
  ]
  const total_minor = lines.reduce((sum, { quantity, unit_price_minor }) => sum + quantity * unit_price_minor, 0)
  return { ...order, lines, total_minor, refunded_minor: returned ? 4_800 : 0 }
}
