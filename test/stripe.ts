/**
 * A server that behaves as Stripe's documentation says, as far as a sale needs: form bodies, idempotency keys, errors in
 * Stripe's shape, kept events and signed webhooks. The payment method decides:
 *
 *     pm_card_visa            is authorized, and captured on request
 *     pm_card_chargeDeclined  402, card_declined
 *     pm_card_authenticate    402, authentication_required by the bank
 *     pm_card_processing      stays pending until `authorize` is called
 *     pm_card_lost_response   is authorized, but its first response is lost
 *     pm_card_unresponsive    never responds, and nothing happens
 *     pm_card_error_429, ...  that status, and nothing happens
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'

export interface Intent {
  readonly id: string
  readonly object: 'payment_intent'
  readonly amount: number
  readonly currency: string
  readonly metadata: Record<string, string>
  status: 'succeeded' | 'requires_capture' | 'processing' | 'canceled' | 'requires_payment_method'
  last_payment_error: { type: string; code: string } | null
  refunded: boolean
  refundMetadata: Record<string, string>
}

export interface Reply {
  readonly status: number
  readonly body: unknown
  /** The response is not sent. */
  readonly isLost?: boolean
}

interface StripeOptions {
  readonly secretKey: string
  readonly webhookSecret: string
  /** Without it no webhooks are sent. */
  readonly webhookUrl?: () => string
}

const ERROR_TYPES: Record<number, string> = { 409: 'idempotency_error', 429: 'rate_limit_error' }
const DECLINES: Record<string, string> = {
  pm_card_chargeDeclined: 'card_declined',
  pm_card_authenticate: 'authentication_required',
}
/** No key answers the same again after these. */
const NOT_KEPT = [0, 401, 403, 409, 429]

/** The header of a webhook: the time, and the HMAC of time and body. */
export function signStripe(secret: string, body: string, seconds = Math.floor(Date.now() / 1000)): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

export async function startStripe(options: StripeOptions) {
  const intents = new Map<string, Intent>()
  const events: { id: string; type: string; created: number }[] = []
  const replies = new Map<string, { form: string; reply: Reply }>()
  const calls: string[] = []
  /** Tests change these; `turnAway` writes are rejected with 429. */
  const settings = { sendsWebhooks: true, refundStatus: 'succeeded', turnAway: 0 }

  const app = new Hono()
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
  app.post('/v1/payment_intents/:id/capture', (c) => write(c, () => capture(c.req.param('id'))))
  app.post('/v1/refunds', (c) => write(c, (form) => refund(form.get('payment_intent') ?? '', metadataIn(form))))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  await once(server, 'listening')

  async function write(c: Context, act: (form: URLSearchParams) => Reply): Promise<Response> {
    if (settings.turnAway > 0) {
      settings.turnAway--
      return send(failure(429, 'rate_limit_error'))
    }
    const form = await c.req.text()
    const key = c.req.header('idempotency-key')
    const kept = key && replies.get(key)
    if (kept) return send(kept.form === form ? kept.reply : failure(400, 'idempotency_error'))
    const { isLost, ...reply } = act(new URLSearchParams(form))
    if (key && !NOT_KEPT.includes(reply.status)) replies.set(key, { form, reply })
    // The client of a lost response gives up by itself.
    return isLost ? new Promise(() => {}) : send(reply)
  }

  function create(form: URLSearchParams): Reply {
    const method = form.get('payment_method') ?? ''
    const status = Number(/^pm_card_error_(\d{3})$/.exec(method)?.[1])
    if (status) return failure(status, ERROR_TYPES[status] ?? 'api_error')
    if (method === 'pm_card_unresponsive') return { status: 0, body: null, isLost: true }
    if (!method.startsWith('pm_card_'))
      return failure(400, 'invalid_request_error', 'resource_missing', `No such PaymentMethod: '${method}'`)
    const intent = add(metadataIn(form), Number(form.get('amount')), form.get('currency') ?? '')
    if (form.get('confirm') !== 'true') return { status: 200, body: show(intent) }
    const code = DECLINES[method]
    if (code !== undefined) {
      intent.last_payment_error = { type: 'card_error', code }
      emit('payment_intent.payment_failed', show(intent))
      return failure(402, 'card_error', code, 'Your card was declined.', show(intent))
    }
    intent.status = 'processing'
    const proceed = form.get('capture_method') === 'manual' ? authorize : succeed
    if (method !== 'pm_card_processing') proceed(intent.id)
    return { status: 200, body: show(intent), isLost: method === 'pm_card_lost_response' }
  }

  function add(metadata: Record<string, string>, amount: number, currency: string): Intent {
    const intent: Intent = {
      ...{
        id: `pi_${randomUUID().replaceAll('-', '')}`,
        object: 'payment_intent',
        amount,
        currency,
        metadata,
      },
      ...{ status: 'requires_payment_method', last_payment_error: null, refunded: false, refundMetadata: {} },
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
    emit('payment_intent.canceled', show(intent))
    return { status: 200, body: show(intent) }
  }

  function capture(id: string): Reply {
    const intent = intents.get(id)
    if (!intent) return missing()
    if (intent.status !== 'requires_capture') return unexpectedState(intent)
    succeed(id)
    return { status: 200, body: show(intent) }
  }

  function refund(id: string, metadata: Record<string, string> = {}): Reply {
    const intent = intents.get(id)
    if (!intent) return missing()
    if (intent.refunded) return failure(400, 'invalid_request_error', 'charge_already_refunded')
    if (intent.status !== 'succeeded') return failure(400, 'invalid_request_error')
    const body = { id: `re_${intent.id}`, object: 'refund', status: settings.refundStatus }
    if (settings.refundStatus === 'failed') return { status: 200, body }
    intent.refunded = true
    intent.refundMetadata = metadata
    emit('charge.refunded', chargeOf(intent))
    return { status: 200, body }
  }

  /** The newest first. `ending_before` gives the page just before, that is just newer. */
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
    // Sent once: a lost one is in the list of events.
    fetch(options.webhookUrl(), { method: 'POST', body, headers, signal: AbortSignal.timeout(5_000) })
      .then((response) => response.body?.cancel())
      .catch(() => {})
  }

  function move(id: string, status: Intent['status'], type: string): void {
    const intent = intents.get(id)
    if (!intent) throw new Error(`no intent ${id}`)
    intent.status = status
    emit(type, show(intent))
  }
  const authorize = (id: string) => move(id, 'requires_capture', 'payment_intent.amount_capturable_updated')
  const succeed = (id: string) => move(id, 'succeeded', 'payment_intent.succeeded')
  const intentsOf = (order: string | undefined) =>
    [...intents.values()].filter((intent) => intent.metadata.order === order)

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    events,
    settings,
    intents: intentsOf,
    /** These act on intents without a call of the API. */
    ...{ add, authorize, succeed, cancel, refund },
    /** The buyer's bank sends a refund back, days later. */
    sendRefundBack(id: string) {
      const intent = intents.get(id)
      if (!intent?.refunded) throw new Error(`${id} is not refunded`)
      intent.refunded = false
      const metadata = intent.refundMetadata
      emit('refund.failed', { object: 'refund', payment_intent: id, status: 'failed', metadata })
    },
    /** Stripe keeps events for thirty days. */
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

const chargeOf = ({ id, metadata, refunded }: Intent) => ({
  ...{ id: `ch_${id}`, object: 'charge', payment_intent: id, metadata, refunded },
})

/** The intent as JSON; a copy, so that an event keeps the state of its time. */
const show = (intent: Intent, isExpanded = false) => {
  const { refunded: _, refundMetadata: __, ...shown } = structuredClone(intent)
  return {
    ...shown,
    amount_capturable: intent.status === 'requires_capture' ? intent.amount : 0,
    amount_received: intent.status === 'succeeded' ? intent.amount : 0,
    latest_charge: isExpanded ? chargeOf(intent) : `ch_${intent.id}`,
  }
}
/** Shows intents with their charge, if the query asks for it. */
const expanded = (c: Context) => (intent: Intent) => show(intent, /[?&]expand[^=]*=[^&]*latest_charge/.test(c.req.url))

const missing = (message?: string) => failure(404, 'invalid_request_error', 'resource_missing', message)
const unexpectedState = (intent: Intent) =>
  failure(400, 'invalid_request_error', 'payment_intent_unexpected_state', undefined, show(intent))

function failure(
  status: number,
  type: string,
  code?: string,
  message = 'It did not work.',
  payment_intent?: unknown,
): Reply {
  return { status, body: { error: { type, code, message, payment_intent } } }
}

const send = ({ status, body }: Reply) =>
  Response.json(body, { status, headers: { 'request-id': `req_${randomUUID()}` } })
