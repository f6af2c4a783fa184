/** The messages that the origin sends to the endpoints of a shop, by the Standard Webhooks specification. */
import * as v from 'valibot'
import type { EVENT_TYPES } from '../../origin/webhooks/webhook-requests.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { Order } from '../../shared/api/public.ts'
import { documentOf, type Webhook } from './document.ts'
import { Sale } from './operators/sale-answers.ts'

const { version: _, ...state } = Sale.entries
/** A sale without what its pages show and without its figures. */
export const SaleThen = v.pick(v.object(state), [
  ...(['sale', 'name', 'time_zone', 'phase', 'pre_queue_opens_at', 'opens_at', 'ends_at', 'hold_seconds'] as const),
  ...(['limit_per_visitor', 'limit_per_order', 'products', 'goods_version', 'chart_version', 'admission'] as const),
  ...(['expected_visitors', 'max_unpaid_orders', 'announcement', 'pause_reason', 'seller', 'tax', 'fees'] as const),
  ...(['delivery', 'indexed', 'mails', 'payment', 'test'] as const),
])

export const finding = v.object({
  finding: v.string(),
  sale: v.nullable(v.string()),
  product_id: v.nullable(v.string()),
  kind: v.string(),
  subject: v.nullable(v.string()),
  units: v.number(),
  detail: v.unknown(),
})
const Test = v.object({ endpoint: v.pipe(v.string(), v.uuid()) })

export const ORDER = {
  order_id: '01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b',
  sale: 'drop',
  product_id: 'red',
  quantity: 1,
  unit_price_minor: 12900,
  currency: 'EUR',
  reserved_until: '2026-11-27T12:01:30.000Z',
  expires_in_seconds: 0,
  created_at: '2026-11-27T12:00:00.000Z',
  short_number: 'K7Q-4MX',
  subtotal_minor: 12900,
  discount_minor: 0,
  fees: [],
  shipping_minor: 0,
  tax_minor: 2060,
  total_minor: 12900,
  refunded_minor: 0,
}
export const line = (status: string) => ({
  line: 1,
  product_id: 'red',
  name: 'Red',
  quantity: 1,
  unit_price_minor: 12900,
  status,
})
const SALE = {
  sale: 'drop',
  name: 'Friday drop',
  time_zone: 'Europe/Berlin',
  pre_queue_opens_at: '2026-11-27T11:30:00.000Z',
  opens_at: '2026-11-27T12:00:00.000Z',
  ends_at: null,
  hold_seconds: 90,
  limit_per_visitor: 1,
  limit_per_order: null,
  products: [],
  goods_version: null,
  chart_version: null,
  admission: { rate_per_second: 2000, max_inside: null },
  expected_visitors: null,
  max_unpaid_orders: 3,
  announcement: null,
  pause_reason: null,
  seller: null,
  tax: null,
  fees: [],
  delivery: { kind: 'none', ask: { name: 'off', phone: 'off', company: 'off', note: 'off' } },
  indexed: true,
  mails: [],
  payment: 'provider',
  test: false,
}

/** What is said about each type: what happened, and what the order or the sale is like then. */
const TYPES = {
  'order.reserved': ['An order holds its units, until it is paid or the hold ends', 'reserved'],
  'order.paying': ['A payment of the order was begun', 'paying'],
  'order.confirmed': ['The order is paid', 'confirmed'],
  'order.declined': ['The payment was declined; the order is held as before', 'reserved'],
  'order.expired': ['The hold ended', 'expired'],
  'order.cancelled': ['The order was cancelled, by its buyer, the shop, or without a payment', 'cancelled'],
  'order.refunded': ['Money of the order was given back; `refunded_minor` says how much in all', 'refunded'],
  'order.fulfilled': ['The order was sent', 'fulfilled'],
  'order.refund_failed': ['A refund was not made after all (endpoints with `*` only)', 'confirmed'],
  'order.lines_cancelled': ['The order has fewer lines (endpoints with `*` only)', 'confirmed'],
  'order.units_returned': ['Units of a refunded order are for sale again (endpoints with `*` only)', 'refunded'],
  'sale.opened': ['The line moves, also after a pause', 'open'],
  'sale.paused': ['The line stands', 'paused'],
  'sale.sold_out': ['Every unit is sold, and none is in a cart', 'sold_out'],
  'sale.restocked': ['Units were added', 'open'],
  'sale.ended': ['The sale is over', 'ended'],
} as const satisfies Partial<Record<(typeof EVENT_TYPES)[number], unknown>> & Record<string, readonly [string, string]>

const lineStatus = (status: string) =>
  ['confirmed', 'fulfilled', 'refunded'].includes(status)
    ? 'sold'
    : ['reserved', 'paying'].includes(status)
      ? 'held'
      : 'returned'
const payments: Readonly<Record<string, unknown>> = {
  'order.paying': { status: 'pending', attempts_left: 2 },
  'order.confirmed': { status: 'succeeded' },
  'order.fulfilled': { status: 'succeeded' },
  'order.declined': { status: 'declined', code: 'declined', message: 'Use another card.', attempts_left: 2 },
  'order.refunded': { status: 'refunded' },
}

export const HEADERS = {
  'webhook-id': {
    schema: v.string(),
    required: true as const,
    description: 'The id of the message, the same for each repetition: handle each id once.',
  },
  'webhook-timestamp': {
    schema: v.pipe(v.string(), v.digits()),
    required: true as const,
    description: 'When this attempt was made, in seconds since 1970. Refuse what is older than five minutes.',
  },
  'webhook-signature': {
    schema: v.string(),
    required: true as const,
    description:
      '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64, by the secret after ' +
      '`whsec_`. While a secret is rotated there are two, with a space between them: one must hold.',
  },
}
const ANSWERS = {
  '2XX': 'Taken. Any such status within 15 seconds; otherwise it is sent again for 24 hours.',
  410: 'The endpoint is no more: it is paused.',
  429: 'Sent again after Retry-After, of up to two hours.',
}

function hookOf(type: string, summary: string, schema: v.GenericSchema, data: unknown): Webhook {
  return {
    id: `on${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    tag: 'Webhooks',
    summary,
    description: 'At least once. Messages of one order, and of one sale, come in the order in which things happened.',
    headers: HEADERS,
    schema: v.object({ type: v.literal(type), timestamp: v.string(), data: schema }),
    example: { type, timestamp: '2026-11-27T12:00:05.123Z', data },
    answers: ANSWERS,
  }
}

export const HOOKS: Readonly<Record<string, Webhook>> = {
  ...Object.fromEntries(
    Object.entries(TYPES).map(([type, [summary, status]]) => {
      const order = { ...ORDER, status, lines: [line(lineStatus(status))], payment: payments[type] ?? null }
      const isOrder = type.startsWith('order.')
      return [type, hookOf(type, summary, isOrder ? Order : SaleThen, isOrder ? order : { ...SALE, phase: status })]
    }),
  ),
  'finding.opened': hookOf('finding.opened', 'Something is not as it should be', finding, {
    finding: '12',
    sale: 'drop',
    product_id: 'red',
    kind: 'webhook_failed',
    subject: null,
    units: 0,
    detail: null,
  }),
  'webhook.test': hookOf('webhook.test', 'An operator tries the endpoint', Test, {
    endpoint: '4c1f3c1e-6f0a-4a57-8a53-3d7d6a1f0c55',
  }),
}

export const webhooksDocument = () =>
  documentOf({
    info: {
      title: 'Flash sale: webhooks',
      version: packageJson.version,
      description:
        'What the origin posts to the endpoints of a shop, by the Standard Webhooks specification ' +
        '(standardwebhooks.com). `data` is the order, or the sale, as it was then. A new type may come at any ' +
        'time to endpoints with `*`: answer 204 to one that you do not know.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'https://shop.example', description: 'The endpoint of the shop.' }],
    tags: [{ name: 'Webhooks', description: 'The messages.' }],
    pathParameters: {},
    callers: {},
    sent: {},
    answered: { Order, Sale: SaleThen, Finding: finding },
    webhooks: HOOKS,
  })
