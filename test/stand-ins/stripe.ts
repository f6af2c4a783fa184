/**
 * A server that behaves as Stripe's documentation says, as far as a sale needs: form bodies, idempotency keys, errors
 * in Stripe's shape, stored events and signed webhooks. The payment method decides:
 *
 *     pm_card_visa            is authorized, and captured on request; so is ctoken_visa
 *     pm_card_chargeDeclined  402, card_declined; with more behind it, its code
 *     pm_card_authenticate    402, authentication_required by the bank
 *     pm_card_threeDSecure2Required  needs its buyer, at `/3ds/{intent}` or by `authenticate`
 *     ctoken_3ds              needs its buyer and Stripe's script
 *     pm_card_processing      stays pending until `authorize` is called
 *     pm_card_lost_response   is authorized, but its first response is lost
 *     pm_card_unresponsive    never responds, and nothing happens
 *     pm_card_error_429, ...  that status, and nothing happens
 *
 * What it sends is checked against the types of Stripe's library.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type Stripe from 'stripe'

export interface Intent {
  readonly id: string
  readonly object: 'payment_intent'
  readonly amount: number
  readonly currency: string
  readonly metadata: Record<string, string>
  readonly client_secret: string
  status: Stripe.PaymentIntent.Status
  next_action: Stripe.PaymentIntent.NextAction | null
  last_payment_error: Pick<Stripe.PaymentIntent.LastPaymentError, 'type' | 'code' | 'decline_code'> | null
  refunded: boolean
  amountRefunded: number
}

export interface Refund {
  readonly id: string
  readonly object: 'refund'
  readonly payment_intent: string
  readonly currency: string
  readonly created: number
  readonly amount: number
  readonly metadata: Record<string, string>
  status: string
}

export interface Reply {
  readonly status: number
  readonly body: unknown
  /** True if the response is not sent. */
  readonly isLost?: boolean
}

interface StripeOptions {
  readonly secretKey: string
  readonly webhookSecret: string
  /** The address for webhooks; without it none are sent. */
  readonly webhookUrl?: () => string
}

const ERROR_TYPES: Record<number, string> = { 409: 'idempotency_error', 429: 'rate_limit_error' }
const DECLINES: Record<string, { code: Stripe.PaymentIntent.LastPaymentError.Code; decline_code?: string }> = {
  pm_card_chargeDeclined: { code: 'card_declined', decline_code: 'generic_decline' },
  pm_card_chargeDeclinedInsufficientFunds: { code: 'card_declined', decline_code: 'insufficient_funds' },
  pm_card_chargeDeclinedExpiredCard: { code: 'expired_card' },
  pm_card_chargeDeclinedIncorrectCvc: { code: 'incorrect_cvc' },
  pm_card_authenticate: { code: 'authentication_required' },
}
/** A repeated key does not return the same response after these statuses. */
const NOT_KEPT = [0, 401, 403, 409, 429]

/** The header of a webhook: the time, and the HMAC of time and body. */
export function signStripe(secret: string, body: string, seconds = Math.floor(Date.now() / 1000)): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

export async function startStripe(options: StripeOptions) {
  const intents = new Map<string, Intent>()
  const refunds: Refund[] = []
  const events: { id: string; type: string; created: number }[] = []
  const replies = new Map<string, { form: string; reply: Reply }>()
  const calls: string[] = []
  /** Tests change these settings. With `turnAway`, writes are rejected with 429. */
  const settings = { sendsWebhooks: true, refundStatus: 'succeeded', turnAway: 0 }

  const app = new Hono()
  // Stripe's page of the buyer's bank, which needs no key.
  app.get('/3ds/:id', (c) =>
    c.html(html`<!doctype html><title>3-D Secure</title><form method="post">
    <button name="result" value="complete">Complete</button><button name="result" value="fail">Fail</button></form>`),
  )
  app.post('/3ds/:id', async (c) => {
    const intent = intents.get(c.req.param('id'))
    const to = intent?.next_action?.redirect_to_url?.return_url
    if (!intent || !to) return c.text('There is nothing to do.', 404)
    authenticate(intent.id, (await c.req.formData()).get('result') === 'complete')
    const back = new URL(to)
    back.searchParams.set('payment_intent', intent.id)
    back.searchParams.set('payment_intent_client_secret', intent.client_secret)
    return c.redirect(back.href, 303)
  })
  app.use(async (c, next) => {
    calls.push(`${c.req.method} ${c.req.path}`)
    const secret = c.req.header('authorization')?.replace('Bearer ', '')
    if (secret === options.secretKey) return next()
    const message = `Invalid API Key provided: ${secret?.replace(/(?<=_)[a-z]+(?=\w{4}$)/, '*****')}`
    return send(failure(401, 'invalid_request_error', undefined, message))
  })
  app.get('/v1/events', (c) => send(list(new URL(c.req.url).searchParams)))
  app.get('/v1/events/:id', (c) => {
    const event = events.find(({ id }) => id === c.req.param('id'))
    return send(event ? { status: 200, body: event } : missing())
  })
  app.get('/v1/payment_intents/search', (c) => {
    const order = /^metadata\['order'\]:'(.*)'$/.exec(c.req.query('query') ?? '')?.[1]
    const data = intentsOf(order).reverse()
    return send({
      status: 200,
      body: { object: 'search_result', data: data.map(expanded(c)), has_more: false },
    })
  })
  app.get('/v1/payment_intents/:id', (c) => {
    const intent = intents.get(c.req.param('id'))
    return send(intent ? { status: 200, body: expanded(c)(intent) } : missing())
  })
  app.post('/v1/payment_intents', (c) => write(c, create))
  app.post('/v1/payment_intents/:id/cancel', (c) => write(c, () => cancel(c.req.param('id'))))
  app.post('/v1/payment_intents/:id/capture', (c) =>
    write(c, (form) => capture(c.req.param('id'), form.get('expand[0]') === 'latest_charge')),
  )
  app.post('/v1/refunds', (c) =>
    write(c, (form) => {
      const amount = form.get('amount')
      return refund(form.get('payment_intent') ?? '', metadataIn(form), amount === null ? undefined : Number(amount))
    }),
  )
  app.get('/v1/refunds', (c) => {
    const data = refunds.filter((made) => made.payment_intent === c.req.query('payment_intent')).reverse()
    return send({ status: 200, body: { object: 'list', data, has_more: false } })
  })
  // The server must not replace the global Response, because other servers of the worker use it.
  const own = { port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }
  const server = serve({ fetch: app.fetch, ...own }) as Server
  await once(server, 'listening')

  async function write(c: Context, act: (form: URLSearchParams) => Reply): Promise<Response> {
    if (settings.turnAway > 0) {
      settings.turnAway--
      return send(failure(429, 'rate_limit_error'))
    }
    const form = await c.req.text()
    const key = c.req.header('idempotency-key')
    const stored = key && replies.get(key)
    if (stored) return send(stored.form === form ? stored.reply : failure(400, 'idempotency_error'))
    const { isLost, ...reply } = act(new URLSearchParams(form))
    if (key && !NOT_KEPT.includes(reply.status)) replies.set(key, { form, reply })
    // The client of a lost response gives up by itself.
    return isLost ? new Promise(() => {}) : send(reply)
  }

  function create(form: URLSearchParams): Reply {
    const method = form.get('confirmation_token') ?? form.get('payment_method') ?? ''
    const status = Number(/^pm_card_error_(\d{3})$/.exec(method)?.[1])
    if (status === 400) return failure(status, 'invalid_request_error', 'invalid_charge_amount')
    if (status) return failure(status, ERROR_TYPES[status] ?? 'api_error')
    if (method === 'pm_card_unresponsive') return { status: 0, body: null, isLost: true }
    if (
      !/^pm_card_|^ctoken_(visa|3ds)$/.test(method) ||
      method.startsWith('ctoken_') !== form.has('confirmation_token')
    )
      return failure(400, 'invalid_request_error', 'resource_missing', `No such PaymentMethod: '${method}'`)
    const wrong = wrongAmount(Number(form.get('amount')), form.get('currency') ?? '')
    if (wrong) return failure(400, 'invalid_request_error', wrong)
    const intent = add(metadataIn(form), Number(form.get('amount')), form.get('currency') ?? '')
    if (form.get('confirm') !== 'true') return { status: 200, body: show(intent) }
    const returnUrl = form.get('return_url') ?? ''
    // The return address is required, because the intent could not be confirmed here without it.
    if (form.get('automatic_payment_methods[allow_redirects]') !== 'never' && !URL.canParse(returnUrl))
      return failure(400, 'invalid_request_error', 'url_invalid', 'Not a valid URL')
    const decline = DECLINES[method]
    if (decline !== undefined) {
      intent.last_payment_error = { type: 'card_error', ...decline }
      emit('payment_intent.payment_failed', show(intent))
      return failure(402, 'card_error', decline.code, 'Your card was declined.', show(intent), decline.decline_code)
    }
    if (method === 'ctoken_3ds' || method === 'pm_card_threeDSecure2Required') {
      intent.status = 'requires_action'
      intent.next_action =
        method === 'ctoken_3ds'
          ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'stripe_3ds2_fingerprint' } }
          : { type: 'redirect_to_url', redirect_to_url: { url: `${url}/3ds/${intent.id}`, return_url: returnUrl } }
      emit('payment_intent.requires_action', show(intent))
      return { status: 200, body: show(intent) }
    }
    intent.status = 'processing'
    const proceed = form.get('capture_method') === 'manual' ? authorize : succeed
    if (method !== 'pm_card_processing') proceed(intent.id)
    return { status: 200, body: show(intent), isLost: method === 'pm_card_lost_response' }
  }

  function add(metadata: Record<string, string>, amount: number, currency: string): Intent {
    const id = `pi_${randomUUID().replaceAll('-', '')}`
    const intent: Intent = {
      id,
      object: 'payment_intent',
      amount,
      currency,
      metadata,
      client_secret: `${id}_secret_${randomUUID()}`,
      status: 'requires_payment_method',
      next_action: null,
      last_payment_error: null,
      refunded: false,
      amountRefunded: 0,
    }
    intents.set(intent.id, intent)
    return intent
  }

  function cancel(id: string): Reply {
    const intent = intents.get(id)
    if (!intent) return missing()
    if (intent.status === 'succeeded' || intent.status === 'canceled') return unexpectedState(intent)
    // A cancelled authorization counts as refunded.
    if (intent.status === 'requires_capture') {
      intent.refunded = true
      emit('charge.refunded', chargeOf(intent))
    }
    intent.status = 'canceled'
    intent.next_action = null
    emit('payment_intent.canceled', show(intent))
    return { status: 200, body: show(intent) }
  }

  function capture(id: string, isExpanded: boolean): Reply {
    const intent = intents.get(id)
    if (!intent) return missing()
    if (intent.status !== 'requires_capture') return unexpectedState(intent)
    succeed(id)
    return { status: 200, body: show(intent, isExpanded) }
  }

  function refund(id: string, metadata: Record<string, string> = {}, part?: number): Reply {
    const intent = intents.get(id)
    if (!intent) return missing()
    if (intent.refunded) return failure(400, 'invalid_request_error', 'charge_already_refunded')
    if (intent.status !== 'succeeded') return failure(400, 'invalid_request_error')
    const left = intent.amount - intent.amountRefunded
    const amount = part ?? left
    if (amount > left) return failure(400, 'invalid_request_error')
    const wrong = wrongAmount(amount, intent.currency)
    if (wrong && wrong !== 'amount_too_small') return failure(400, 'invalid_request_error', wrong)
    const { refundStatus: status } = settings
    const { currency } = intent
    const created = Math.floor(Date.now() / 1000)
    const made = { id: `re_${randomUUID()}`, object: 'refund', payment_intent: id, currency, created } as const
    const body = { ...made, status, amount, metadata }
    body satisfies Partial<Stripe.Refund>
    refunds.push({ ...body })
    if (status === 'failed') return { status: 200, body }
    intent.amountRefunded += amount
    intent.refunded = amount === left
    emit('charge.refunded', chargeOf(intent))
    return { status: 200, body }
  }

  /** The list starts with the newest. `ending_before` gives the page of the next newer ones. */
  function list(query: URLSearchParams): Reply {
    const types = [...query].flatMap(([name, value]) => (/^types\[/.test(name) ? [value] : []))
    const until = Number(query.get('created[lt]') ?? Number.POSITIVE_INFINITY)
    const limit = Number(query.get('limit') ?? 10)
    const all = events.filter((e) => types.includes(e.type) && e.created < until).reverse()
    const [before, after] = [query.get('ending_before'), query.get('starting_after')]
    const place = (cursor: string) => all.findIndex((e) => e.id === cursor)
    for (const cursor of [before, after])
      if (cursor !== null && place(cursor) < 0) return missing(`No such event: '${cursor}'`)
    const left = before !== null ? all.slice(0, place(before)) : all.slice(after === null ? 0 : place(after) + 1)
    const data = before !== null ? left.slice(-limit) : left.slice(0, limit)
    return { status: 200, body: { object: 'list', data, has_more: left.length > data.length } }
  }

  function emit(type: string, object: unknown): void {
    const created = Math.floor(Date.now() / 1000)
    const event = { id: `evt_${randomUUID()}`, object: 'event', type, created, data: { object } }
    events.push(event)
    if (!settings.sendsWebhooks || !options.webhookUrl) return
    const body = JSON.stringify(event)
    const headers = { 'stripe-signature': signStripe(options.webhookSecret, body) }
    // An event is sent once; a lost one is in the list of events.
    fetch(options.webhookUrl(), { method: 'POST', body, headers, signal: AbortSignal.timeout(5_000) })
      .then((response) => response.body?.cancel())
      .catch(() => {})
  }

  function move(id: string, status: Intent['status'], type: string): void {
    const intent = intents.get(id)
    if (!intent) throw new Error(`no intent ${id}`)
    intent.status = status
    intent.next_action = null
    emit(type, show(intent))
  }
  /** The result of the buyer's bank. It has no effect on a charge that does not wait for it. */
  function authenticate(id: string, isGood: boolean): void {
    const intent = intents.get(id)
    if (intent?.status !== 'requires_action') return
    if (!isGood)
      intent.last_payment_error = { type: 'invalid_request_error', code: 'payment_intent_authentication_failure' }
    if (isGood) authorize(id)
    else move(id, 'requires_payment_method', 'payment_intent.payment_failed')
  }
  const authorize = (id: string) => move(id, 'requires_capture', 'payment_intent.amount_capturable_updated')
  const succeed = (id: string) => move(id, 'succeeded', 'payment_intent.succeeded')
  const intentsOf = (order: string | undefined) =>
    [...intents.values()].filter((intent) => intent.metadata.order === order)

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    calls,
    events,
    settings,
    intents: intentsOf,
    /** These functions act on intents without a call of the API. */
    add,
    authenticate,
    authorize,
    succeed,
    cancel,
    refund,
    /** The buyer's bank returns a refund of a charge days later: the last refund, or the given one. */
    sendRefundBack(charge: string, which?: string) {
      const intent = intents.get(charge)
      const made = refunds.findLast(
        (one) => one.payment_intent === charge && one.status !== 'failed' && (which ?? one.id) === one.id,
      )
      if (!intent || !made) throw new Error(`${charge} is not refunded`)
      made.status = 'failed'
      intent.refunded = false
      intent.amountRefunded -= made.amount
      emit('refund.failed', { ...made })
    },
    refundsOf: (charge: string) => refunds.filter((one) => one.payment_intent === charge),
    /** The stand-in deletes events, as Stripe does after thirty days. */
    forgetEvents: () => events.splice(0),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const metadataIn = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const key = /^metadata\[(.+)\]$/.exec(name)?.[1]
      return key === undefined ? [] : [[key, value]]
    }),
  )

/** The part of Stripe's card data that is used. */
const VISA = { brand: 'visa', last4: '4242' } as Stripe.Charge.PaymentMethodDetails.Card

const chargeOf = ({ id, metadata, refunded, status, amount, amountRefunded, currency }: Intent) =>
  ({
    id: `ch_${id}`,
    object: 'charge',
    payment_intent: id,
    metadata,
    currency,
    amount,
    refunded,
    captured: status === 'succeeded',
    amount_captured: status === 'succeeded' ? amount : 0,
    amount_refunded: amountRefunded,
    payment_method_details: { type: 'card', card: VISA },
  }) satisfies Partial<Stripe.Charge>

/** The intent as JSON. It is a copy, so that an event keeps the state of its time. */
const show = (intent: Intent, isExpanded = false) => {
  const { refunded: _, amountRefunded: __, ...shown } = structuredClone(intent)
  const { last_payment_error, ...sent } = {
    ...shown,
    amount_capturable: intent.status === 'requires_capture' ? intent.amount : 0,
    amount_received: intent.status === 'succeeded' ? intent.amount : 0,
    latest_charge: `ch_${intent.id}`,
  }
  sent satisfies Partial<Stripe.PaymentIntent>
  return { ...sent, last_payment_error, ...(isExpanded && { latest_charge: chargeOf(intent) }) }
}
/** Shows intents with their charge if the query requests it. */
const expanded = (c: Context) => (intent: Intent) => show(intent, /[?&]expand[^=]*=[^&]*latest_charge/.test(c.req.url))

/**
 * The rules of docs.stripe.com/currencies: integers, whose last digits must be 0 in some currencies, and a minimum
 * charge in others.
 */
function wrongAmount(amount: number, currency: string): string | undefined {
  if (!Number.isInteger(amount)) return 'parameter_invalid_integer'
  if (/^(bhd|jod|kwd|omr|tnd)$/.test(currency) && amount % 10 !== 0) return 'invalid_charge_amount'
  if (/^(isk|ugx)$/.test(currency) && amount % 100 !== 0) return 'invalid_charge_amount'
  return amount < ({ eur: 50, usd: 50, jpy: 50, gbp: 30, huf: 17_500 }[currency] ?? 1) ? 'amount_too_small' : undefined
}

const missing = (message?: string) => failure(404, 'invalid_request_error', 'resource_missing', message)
const unexpectedState = (intent: Intent) =>
  failure(400, 'invalid_request_error', 'payment_intent_unexpected_state', undefined, show(intent))

function failure(
  status: number,
  type: string,
  code?: string,
  message = 'It did not work.',
  payment_intent?: unknown,
  decline_code?: string,
): Reply {
  return { status, body: { error: { type, code, decline_code, message, payment_intent } } }
}

const send = ({ status, body }: Reply) =>
  Response.json(body, { status, headers: { 'request-id': `req_${randomUUID()}` } })
