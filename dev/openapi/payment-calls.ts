/**
 * What the origin and a shop say to each other about payments (docs/payments.md): the calls to the shop's payment
 * server, its webhooks, and its word of holds that were handed over to it.
 */
import * as v from 'valibot'
import { Confirmation } from '../../origin/payments/shop-confirmations.ts'
import { Answer, Webhook as ShopWebhook } from '../../origin/providers/http-answers.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { Order } from '../../shared/api/public.ts'
import { type DocumentParts, documentOf, type Operations, type Parameter, type Webhook } from './document.ts'
import { HEADERS, line, ORDER } from './webhooks.ts'

const CHARGE = `${ORDER.order_id}-1`
const SUM = { amount_minor: 12900, currency: 'EUR' }
const ofCharge = {
  charge: v.string(),
  order: v.string(),
  amount_minor: v.pipe(v.number(), v.integer()),
  currency: v.string(),
}

/** What each call asks for, its fields besides those of every call, and an example of its answer. */
const CALLS = {
  authorize: {
    summary: 'Hold the sum, or send the buyer somewhere',
    fields: { payment_method: v.string(), return_url: v.string() },
    sent: { payment_method: 'pm_card', return_url: `https://drop.example/sales/drop/order/${ORDER.order_id}` },
    answer: { status: 'authorized', reference: 'pay_81', ...SUM },
  },
  capture: {
    summary: 'Take the money of an authorized charge',
    fields: {},
    sent: {},
    answer: { status: 'captured', reference: 'pay_81', ...SUM },
  },
  cancel: {
    summary: 'Void a charge that is not captured, also one that never came',
    fields: {},
    sent: {},
    answer: { status: 'cancelled' },
  },
  refund: {
    summary: 'Give `amount_minor` of a captured charge back',
    fields: { refund: v.string() },
    sent: { amount_minor: 2000, refund: '0f0c6a6e-6b0d-4c58-9d4f-7a1d2f1f7c11' },
    answer: {
      ...{ status: 'captured', ...SUM },
      refunds: [{ reference: 're_7', refund: '0f0c6a6e-6b0d-4c58-9d4f-7a1d2f1f7c11', amount_minor: 2000 }],
    },
  },
  state: {
    summary: 'Say what a charge is now',
    fields: {},
    sent: {},
    answer: { status: 'unknown' },
  },
} as const

const HOOKS: Readonly<Record<string, Webhook>> = Object.fromEntries(
  Object.entries(CALLS).map(([call, { summary, fields, sent, answer }]) => [
    `payment.${call}`,
    {
      id: `payment_${call}`,
      tag: 'Payment server',
      summary,
      description: 'Posted to `PAYMENT_URL`. It may come more than once: answer with the charge as it is now.',
      headers: HEADERS,
      schema: v.object({ call: v.literal(call), ...ofCharge, ...fields }),
      example: { call, charge: CHARGE, order: ORDER.order_id, ...SUM, ...sent },
      answers: {
        200: { description: 'What the charge is now.', schema: Answer, example: answer },
        400: 'It can never be done; `code` and `message` say why. So does 422.',
        401: 'The signature does not hold: nothing was done. So do 403 and 429.',
        '5XX': 'Not known: it is sent again. Any other status, also a redirect, is a finding.',
      },
    },
  ]),
)

const named = (id: string, what: string): Readonly<Record<string, Parameter>> => ({
  ...HEADERS,
  'webhook-id': { schema: v.string(), required: true, description: `${what}: \`${id}\`.` },
})
const confirmed = { ...ORDER, status: 'confirmed', lines: [line('sold')], payment: { status: 'succeeded' } }
const released = { ...ORDER, status: 'cancelled', reason: 'given_back', lines: [line('returned')], payment: null }

const OPERATIONS: Operations = {
  '/webhooks/payment': {
    post: {
      id: 'sayCharge',
      tag: 'Payment server',
      summary: 'Say what became of a charge',
      description: 'As often as you like, until it is accepted. Duplicates change nothing.',
      callers: ['signature'],
      headers: HEADERS,
      body: {
        description: 'An answer to a call, with its charge.',
        schema: ShopWebhook,
        example: { charge: CHARGE, status: 'authorized', ...SUM },
      },
      answers: {
        200: { description: 'Accepted.', schema: v.object({ received: v.literal(true) }), example: { received: true } },
      },
      problems: ['unauthorized', 'not-found', 'conflict', 'invalid-fields', 'body-too-large'],
    },
  },
  '/orders/{order}/confirm': {
    post: {
      id: 'confirmHold',
      tag: 'Holds',
      summary: 'Sell a hold that the shop has taken the money for',
      description: '409: nothing is sold, because it is too late or the sum is another one. Give the money back.',
      callers: ['signature'],
      headers: named('confirm-{order}', 'What is done, with which order'),
      body: {
        description: 'The payment in the shop’s own checkout.',
        schema: Confirmation,
        example: { reference: 'pay_81', ...SUM },
      },
      answers: { 200: { description: 'Sold, now or by an earlier call.', schema: Order, example: confirmed } },
      problems: ['unauthorized', 'unknown-order', 'conflict', 'invalid-fields', 'body-too-large'],
    },
  },
  '/orders/{order}': {
    delete: {
      id: 'releaseHold',
      tag: 'Holds',
      summary: 'Give a hold back',
      callers: ['signature'],
      headers: named('release-{order}', 'What is done, with which order'),
      answers: { 200: { description: 'Given back, now or before.', schema: Order, example: released } },
      problems: ['unauthorized', 'unknown-order', 'conflict'],
    },
  },
}

/** The parts that the document of the origin has as well. */
export const PAYMENT_PARTS = {
  tags: [
    { name: 'Payment server', description: 'Charges of orders that are paid here (`PAYMENT_PROVIDER=http`).' },
    { name: 'Holds', description: 'Orders of sales with `"payment": "handover"`.' },
  ],
  callers: {
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'webhook-signature',
      description: '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64.',
    },
  },
  sent: { Charge: ShopWebhook, Confirmation },
  answered: { Order, Answer },
  operations: OPERATIONS,
  webhooks: HOOKS,
} as const satisfies Partial<DocumentParts>

export const paymentsDocument = () =>
  documentOf({
    ...PAYMENT_PARTS,
    info: {
      title: 'Flash sale: payment by the shop',
      version: packageJson.version,
      description:
        'For a shop that takes the money itself: what the origin posts to its payment server (below `webhooks`), and ' +
        'what the shop posts to the origin. Both are signed by `PAYMENT_SECRET`, by the Standard Webhooks ' +
        'specification. docs/payments.md explains them.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'https://origin.example', description: 'The origin.' }],
    pathParameters: { order: { schema: v.pipe(v.string(), v.uuid()), description: 'The order.' } },
  })
