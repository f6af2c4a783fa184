/** Calls of those whose turn it is, and of buyers about their orders. */
import * as v from 'valibot'
import { IdempotencyKey } from '../../shared/api/fields.ts'
import { SeatOfferRequest } from '../../shared/api/hall.ts'
import { CheckoutRequest, Order, PaymentRequest } from '../../shared/api/public.ts'
import { Availability, Chart, Orders, SeatOfferAnswer, Seats, Sections, TotalsAnswer } from './answers.ts'
import type { Operation, Operations } from './document.ts'
import { AS_JSON, CURRENT, NOT_MODIFIED } from './parts.ts'

const TAG = 'Orders'
const HALL = 'Hall'
const VERSION = {
  v: { schema: v.pipe(v.string(), v.digits()), description: 'The version; another one redirects to the current.' },
}
const ADMITTED = ['not-admitted', 'wrong-sale', 'refused', 'signed-out', 'unknown-sale', 'too-many-requests'] as const
const WITH_BODY = [
  'invalid-fields',
  'body-too-large',
  'unsupported-media-type',
  'forbidden',
  'request-timeout',
] as const
const OF_ORDER = ['not-admitted', 'unknown-order', 'refused', 'edge-only', 'forbidden', 'too-many-requests'] as const

const CART = {
  lines: [{ product_id: 'poster', quantity: 2 }],
  contact: { email: 'ada@example.org' },
  payment_method: 'pm_ok',
}
const PAID_BY = { payment_method: 'pm_ok' }

const order = (summary: string, status: number, more: Partial<Operation> & Pick<Operation, 'id'>): Operation => ({
  tag: TAG,
  summary,
  callers: ['order', 'admission'],
  answers: { [status]: { description: 'The order.', schema: Order } },
  problems: OF_ORDER,
  ...more,
})

export const orderOperations: Operations = {
  '/sales/{sale}/checkout': {
    post: {
      id: 'checkOut',
      tag: TAG,
      summary: 'Reserve, and pay if a payment method is sent',
      description:
        'All lines or none. The same key with the same body returns the first answer again, with the header ' +
        'Idempotency-Replayed.',
      callers: ['admission'],
      headers: {
        'idempotency-key': {
          schema: IdempotencyKey,
          required: true,
          description: 'A new one for each order that is wanted, the same for each repetition.',
        },
      },
      body: { schema: CheckoutRequest, description: 'What is bought.', example: CART },
      answers: {
        200: { description: 'The visitor has this order already, and may have no other.', schema: Order },
        201: { description: 'Reserved, and durable.', schema: Order },
        202: {
          description: 'Reserved; the order is still being recorded.',
          schema: Order,
          headers: { location: 'Where to ask for the order.' },
        },
      },
      problems: [
        ...ADMITTED,
        ...WITH_BODY,
        ...(['idempotency-key-required', 'idempotency-key-reused', 'not-open', 'unknown-product'] as const),
        ...(['all-in-carts', 'sold-out', 'ended', 'seat-taken', 'price-changed', 'too-many-orders'] as const),
        ...(['promo-code-unknown', 'promo-code-used-up', 'edge-only', 'conflict'] as const),
      ],
    },
  },
  '/sales/{sale}/totals': {
    post: {
      id: 'getTotals',
      tag: TAG,
      summary: 'What a cart would cost now',
      callers: ['admission'],
      body: { schema: CheckoutRequest, description: 'The cart.', example: { lines: CART.lines } },
      answers: { 200: { description: 'Its price; nothing is held.', schema: TotalsAnswer } },
      problems: [...ADMITTED, ...WITH_BODY, 'unknown-product', 'conflict', 'edge-only', 'all-in-carts', 'sold-out'],
    },
  },
  '/sales/{sale}/orders': {
    get: {
      id: 'listOrders',
      tag: TAG,
      summary: 'One’s own orders of a sale',
      headers: AS_JSON,
      callers: ['admission', 'queue', 'shop'],
      anyone: true,
      answers: { 200: { description: 'The orders of the last days, the latest first.', schema: Orders } },
      problems: [...ADMITTED, 'edge-only', 'invalid-token'],
    },
  },
  '/me/orders': {
    get: {
      id: 'listAllOrders',
      tag: TAG,
      summary: 'One’s own orders of all sales',
      headers: AS_JSON,
      callers: ['shop'],
      anyone: true,
      answers: { 200: { description: 'Those of the account, or of this browser.', schema: Orders } },
      problems: ['too-many-requests', 'signed-out'],
    },
  },
  '/orders/{order}': {
    get: order('An order', 200, {
      id: 'getOrder',
      description: 'The order token of the checkout reads it for 24 hours.',
    }),
    delete: order('Give an order back while it is reserved', 200, {
      id: 'giveBack',
      problems: [...OF_ORDER, 'conflict'],
    }),
  },
  '/orders/{order}/payment': {
    post: order('Pay an order', 202, {
      id: 'pay',
      description: 'The answer is `paying`; the order’s events or reads tell what became of it.',
      body: { schema: PaymentRequest, description: 'How it is paid.', example: PAID_BY },
      problems: [...OF_ORDER, ...WITH_BODY, 'conflict'],
    }),
  },
  '/orders/{order}/events': {
    get: order('The changes of an order', 200, {
      id: 'followOrder',
      description: 'Server-sent events: `order` with the order as it was then. `Last-Event-ID` resumes.',
      answers: { 200: { description: 'Events until the order is final.', types: ['text/event-stream'] } },
    }),
  },
  '/sales/{sale}/sections': {
    get: {
      id: 'listSections',
      tag: HALL,
      summary: 'The sections of a hall',
      answers: { 200: { description: 'The sections with their free places.', schema: Sections }, ...NOT_MODIFIED },
      problems: ['unknown-sale', 'too-many-requests', 'not-found'],
    },
  },
  '/sales/{sale}/chart': {
    get: {
      id: 'getChart',
      tag: HALL,
      summary: 'The geometry of a hall, which never changes',
      query: VERSION,
      answers: { 200: { description: 'The chart.', schema: Chart }, ...CURRENT, ...NOT_MODIFIED },
      problems: ['unknown-sale', 'not-found', 'too-many-requests'],
    },
  },
  '/sales/{sale}/sections/{section}/availability': {
    get: {
      id: 'getAvailability',
      tag: HALL,
      summary: 'The states of a section’s seats, for anyone',
      answers: {
        200: {
          description: 'Two bits a seat in the chart’s order: 0 available, 1 held, 2 sold, 3 blocked.',
          schema: Availability,
          example: { section_id: 'stalls', version: 1, seats: 'AAAA' },
        },
        ...NOT_MODIFIED,
      },
      problems: ['unknown-sale', 'not-found', 'too-many-requests'],
    },
  },
  '/sales/{sale}/sections/{section}/seats': {
    get: {
      id: 'listSeats',
      tag: HALL,
      summary: 'The seats of a section, by page',
      callers: ['admission'],
      query: {
        page: { schema: v.pipe(v.string(), v.digits()), description: 'The number of the page. The first is 1.' },
        page_size: { schema: v.pipe(v.string(), v.digits()), description: 'The seats of a page, 200 if left out.' },
      },
      answers: { 200: { description: 'The seats.', schema: Seats } },
      problems: [...ADMITTED, 'not-found', 'invalid-fields', 'edge-only'],
    },
  },
  '/sales/{sale}/sections/updates': {
    get: {
      id: 'followSections',
      tag: HALL,
      summary: 'The free places of all sections as they change',
      callers: ['admission'],
      description:
        'Server-sent events, a snapshot first: `{ section_id, available_seats, timestamp }`. `Last-Event-ID` resumes.',
      answers: { 200: { description: 'The events.', types: ['text/event-stream'] } },
      problems: [...ADMITTED, 'not-found', 'edge-only'],
    },
  },
  '/sales/{sale}/seats/offer': {
    post: {
      id: 'offerSeats',
      tag: HALL,
      summary: 'The seats that best available would take now',
      callers: ['admission'],
      body: { schema: SeatOfferRequest, description: 'What is looked for.', example: { quantity: 2 } },
      answers: {
        200: { description: 'The seats, which are held for nobody, and their price.', schema: SeatOfferAnswer },
      },
      problems: [...ADMITTED, ...WITH_BODY, 'not-found', 'all-in-carts', 'sold-out', 'edge-only', 'conflict'],
    },
  },
}
