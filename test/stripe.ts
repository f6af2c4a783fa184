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
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Intent {
  readonly id: string
  readonly object: 'payment_intent'
  readonly amount: number
  readonly currency: string
  readonly metadata: Record<string, string>
  status: 'succeeded' | 'requires_capture' | 'processing' | 'canceled' | 'requires_payment_method'
  last_payment_error: { type: string; code: string } | null
  refunded: boolean
  /** The metadata of its refund. */
  refundMetadata: Record<string, string>
}

export interface StripeEvent {
  readonly id: string
  readonly object: 'event'
  readonly type: string
  readonly created: number
  readonly data: { readonly object: unknown }
}

export interface Reply {
  readonly status: number
  readonly body: unknown
  /** The response is not sent. */
  readonly lost?: boolean
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
  const v1 = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${v1}`
}

export async function startStripe(options: StripeOptions) {
  const intents = new Map<string, Intent>()
  const events: StripeEvent[] = []
  const replies = new Map<string, { form: string; reply: Reply }>()
  const calls: string[] = []
  let sendsWebhooks = true
  let refundStatus = 'succeeded'
  let turnAway = 0

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => send(response, failure(500, 'api_error', String(error))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(request.url ?? '/', 'http://stripe')
    calls.push(`${request.method} ${url.pathname}`)
    const secret = request.headers.authorization?.replace('Bearer ', '')
    if (secret !== options.secretKey) {
      const message = `Invalid API Key provided: ${secret?.replace(/(?<=_)[a-z]+(?=\w{4}$)/, '*****')}`
      return send(response, failure(401, 'invalid_request_error', undefined, message))
    }
    if (request.method !== 'POST') return send(response, read(url))
    if (turnAway > 0) {
      turnAway--
      return send(response, failure(429, 'rate_limit_error'))
    }
    const key = String(request.headers['idempotency-key'] ?? '')
    const kept = key ? replies.get(key) : undefined
    if (kept && kept.form !== text) return send(response, failure(400, 'idempotency_error'))
    if (kept) return send(response, kept.reply)
    const { lost, ...reply } = write(url.pathname, new URLSearchParams(text))
    if (key && !NOT_KEPT.includes(reply.status)) replies.set(key, { form: text, reply })
    // The client of a lost response gives up by itself.
    if (!lost) send(response, reply)
  }

  function write(path: string, form: URLSearchParams): Reply {
    const [, , kind, id = '', action] = path.split('/')
    if (kind === 'payment_intents' && id === '') return create(form)
    if (kind === 'payment_intents' && action === 'cancel') return cancel(id)
    if (kind === 'payment_intents' && action === 'capture') return capture(id)
    if (kind === 'refunds') return refund(form.get('payment_intent') ?? '', metadataIn(form))
    return failure(404, 'invalid_request_error')
  }

  function create(form: URLSearchParams): Reply {
    const method = form.get('payment_method') ?? ''
    const status = Number(/^pm_card_error_(\d{3})$/.exec(method)?.[1])
    if (status) return failure(status, ERROR_TYPES[status] ?? 'api_error')
    if (method === 'pm_card_unresponsive') return { status: 0, body: null, lost: true }
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
    return { status: 200, body: show(intent), lost: method === 'pm_card_lost_response' }
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
    const body = { id: `re_${intent.id}`, object: 'refund', status: refundStatus }
    if (refundStatus === 'failed') return { status: 200, body }
    intent.refunded = true
    intent.refundMetadata = metadata
    emit('charge.refunded', chargeOf(intent))
    return { status: 200, body }
  }

  function read(url: URL): Reply {
    const [, , kind, id = ''] = url.pathname.split('/')
    const expand = [...url.searchParams].some(
      ([name, value]) => /^expand/.test(name) && /latest_charge$/.test(value),
    )
    if (kind === 'events' && id === '') return list(url.searchParams)
    const event = kind === 'events' ? events.find((e) => e.id === id) : undefined
    if (event) return { status: 200, body: event }
    if (kind === 'payment_intents' && id === 'search') {
      const order = /^metadata\['order'\]:'(.*)'$/.exec(url.searchParams.get('query') ?? '')?.[1]
      const found = [...intents.values()].filter((intent) => intent.metadata.order === order).reverse()
      const data = found.map((intent) => show(intent, expand))
      return { status: 200, body: { object: 'search_result', data, has_more: false, url: url.pathname } }
    }
    const intent = kind === 'payment_intents' ? intents.get(id) : undefined
    return intent ? { status: 200, body: show(intent, expand) } : missing()
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
    const left =
      before !== null ? all.slice(0, place(before)) : all.slice(after === null ? 0 : place(after) + 1)
    const data = before !== null ? left.slice(-limit) : left.slice(0, limit)
    return {
      status: 200,
      body: { object: 'list', data, has_more: left.length > data.length, url: '/v1/events' },
    }
  }

  function emit(type: string, object: unknown): void {
    const created = Math.floor(Date.now() / 1000)
    const event: StripeEvent = { id: `evt_${randomUUID()}`, object: 'event', type, created, data: { object } }
    events.push(event)
    if (!sendsWebhooks || !options.webhookUrl) return
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

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    events,
    intents: (order: string) => [...intents.values()].filter((intent) => intent.metadata.order === order),
    /** These act on intents without a call of the API. */
    add,
    authorize,
    succeed,
    cancel,
    refund,
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
    /** The status of refunds from now on. */
    refundsAre: (status: 'succeeded' | 'pending' | 'failed') => {
      refundStatus = status
    },
    /** Rejects this many of the next writes with 429. */
    turnAway: (times: number) => {
      turnAway = times
    },
    sendWebhooks: (send: boolean) => {
      sendsWebhooks = send
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
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
const show = (intent: Intent, expand = false) => {
  const { refunded: _, refundMetadata: __, ...shown } = structuredClone(intent)
  return {
    ...shown,
    amount_capturable: intent.status === 'requires_capture' ? intent.amount : 0,
    amount_received: intent.status === 'succeeded' ? intent.amount : 0,
    latest_charge: expand ? chargeOf(intent) : `ch_${intent.id}`,
  }
}

const missing = (message?: string) => failure(404, 'invalid_request_error', 'resource_missing', message)
const unexpectedState = (intent: Intent) =>
  failure(400, 'invalid_request_error', 'payment_intent_unexpected_state', undefined, show(intent))

function failure(
  status: number,
  type: string,
  code?: string,
  message = 'It did not work.',
  intent?: unknown,
): Reply {
  const error = {
    type,
    ...(code && { code }),
    message,
    ...(intent !== undefined && { payment_intent: intent }),
  }
  return { status, body: { error } }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${randomUUID()}` })
  response.end(JSON.stringify(body))
}
