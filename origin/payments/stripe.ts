/**
 * Stripe, through its own library. A charge is a payment intent, confirmed as it is created, under the order's
 * idempotency key, and captured later; what became of it is learned from the answer, from signed webhooks, and from the
 * list of events that Stripe keeps for thirty days.
 */
import Stripe from 'stripe'
import { type ChargeRecord, type PaymentProvider, PROVIDER_TIMEOUT_MS, wasCaptured } from './provider.ts'

/** Without a cursor, events are read so far back: longer than any order stays unpaid. */
const FIRST_LOOK_SECONDS = 24 * 3600
const PAGE = 100
const TOLERANCE_SECONDS = 300
const EVENTS = [
  'payment_intent.amount_capturable_updated',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'refund.failed',
]

/**
 * Decimals by which Stripe's smallest unit of a currency is smaller than the minor unit of ISO 4217, where they differ
 * (docs.stripe.com/currencies: zero-decimal currencies, and their special cases).
 */
const MORE_DECIMALS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: -2 }

interface StripeOptions {
  readonly secretKey: string
  readonly webhookSecret: string
  /** Where Stripe is, when it is not where it usually is. */
  readonly apiUrl?: string | undefined
  readonly timeoutMs?: number
  /** The ledger's time, by which a webhook is fresh. */
  readonly nowMs: () => number
}

export function stripeProvider(options: StripeOptions): PaymentProvider {
  const { timeoutMs = PROVIDER_TIMEOUT_MS } = options
  const at = options.apiUrl === undefined ? undefined : new URL(options.apiUrl)
  const stripe = new Stripe(options.secretKey, {
    // The job is retried, with its backoff and its end; a retry inside it would only blur both.
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    ...(at && {
      host: at.hostname,
      port: at.port || (at.protocol === 'https:' ? 443 : 80),
      protocol: at.protocol === 'https:' ? 'https' : 'http',
    }),
  })

  /** False once Stripe keeps the event no longer, after a month in which there was none. */
  async function isKept(event: string): Promise<boolean> {
    try {
      await stripe.events.retrieve(event)
      return true
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError && error.code === 'resource_missing') return false
      throw error
    }
  }

  /**
   * Where to begin without a cursor: the last event before what matters, or the very first where there is none before. From
   * there everything is read as ever, the oldest first, so that a break leaves nothing out.
   */
  async function beginning(): Promise<Stripe.Event | undefined> {
    const lt = Math.floor(options.nowMs() / 1000) - FIRST_LOOK_SECONDS
    const [before] = (await stripe.events.list({ types: EVENTS, created: { lt }, limit: 1 })).data
    if (before) return before
    let oldest: Stripe.Event | undefined
    // No more than a day's, and more of them come only at the other end.
    for (let more = true; more; ) {
      const { data, has_more } = await stripe.events.list({
        types: EVENTS,
        limit: PAGE,
        ...(oldest && { starting_after: oldest.id }),
      })
      oldest = data.at(-1) ?? oldest
      more = has_more
    }
    return oldest
  }

  /** What stands after a change of an intent, also where its state did not allow the change any more. */
  async function standsAfter(change: Promise<Stripe.PaymentIntent>, charge: string): Promise<ChargeRecord> {
    const intent = await change.catch((error) => {
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
      return stripe.paymentIntents.retrieve(charge, { expand: ['latest_charge'] })
    })
    return recordOf(intent, orderOf(intent))
  }

  const cancel = (charge: string) => standsAfter(stripe.paymentIntents.cancel(charge), charge)

  return {
    name: 'stripe',

    async authorize({ order, amountMinor, currency, method }) {
      try {
        const intent = await stripe.paymentIntents.create(
          {
            amount: shifted(amountMinor, MORE_DECIMALS[currency] ?? 0),
            currency: currency.toLowerCase(),
            payment_method: method,
            confirm: true,
            capture_method: 'manual',
            // Nobody is there to be sent to their bank: what would need that is declined.
            error_on_requires_action: true,
            automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
            metadata: { order },
          },
          { idempotencyKey: `charge-${order}` },
        )
        const { charge, status } = recordOf(intent, order)
        if (status === 'authorized' || status === 'captured') return { result: 'authorized', charge }
        if (status === 'declined' || status === 'cancelled') return { result: 'declined', reason: status }
        return { result: 'unknown', reason: `the charge is ${status}` }
      } catch (error) {
        if (isRefusal(error)) return { result: 'declined', reason: error.code ?? error.type }
        return { result: isTurnedAway(error) ? 'turned_away' : 'unknown', reason: wordsOf(error) }
      }
    },

    async capture({ charge }) {
      const { status } = await standsAfter(stripe.paymentIntents.capture(charge), charge)
      return wasCaptured(status)
    },

    cancel,

    async refund({ charge, order }) {
      // What is cancelled first can be captured by nobody meanwhile.
      const { status } = await cancel(charge)
      if (status === 'cancelled') return
      try {
        // Without an idempotency key: under one, Stripe would answer every later attempt with the failure of the first, for
        // a day. It gives the whole of a charge back only once, whatever the key.
        const { status } = await stripe.refunds.create({ payment_intent: charge, metadata: { order } })
        if (status !== 'succeeded' && status !== 'pending') throw new Error(`the refund is ${status}`)
      } catch (error) {
        if (error instanceof Stripe.errors.StripeError && error.code === 'charge_already_refunded') return
        throw error
      }
    },

    async find(order): Promise<ChargeRecord | undefined> {
      const { data } = await stripe.paymentIntents.search({
        query: `metadata['order']:'${order}'`,
        limit: 10,
        expand: ['data.latest_charge'],
      })
      const records = data.map((intent) => recordOf(intent, order))
      const first = (status: ChargeRecord['status']) => records.find((r) => r.status === status)
      return first('captured') ?? first('authorized') ?? first('pending') ?? records[0]
    },

    async *changes(since) {
      let cursor = since !== null && (await isKept(since)) ? since : null
      if (cursor === null) {
        const first = await beginning()
        if (!first) return
        cursor = first.id
        yield { records: recordOfEvent(first), cursor }
      }
      for (let more = true; more; ) {
        // The page just after the cursor; within a page the newest comes first.
        const { data, has_more } = await stripe.events.list({
          types: EVENTS,
          limit: PAGE,
          ending_before: cursor,
        })
        more = has_more
        const [newest] = data
        if (!newest) return
        cursor = newest.id
        yield { records: data.reverse().flatMap(recordOfEvent), cursor }
      }
    },

    async readWebhook(headers, body) {
      try {
        const event = await stripe.webhooks.constructEventAsync(
          body,
          headers.get('stripe-signature') ?? '',
          options.webhookSecret,
          TOLERANCE_SECONDS,
          undefined,
          options.nowMs(),
        )
        return recordOfEvent(event)[0] ?? null
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined
        throw error
      }
    },
  }
}

/** Other systems may use the same account, and call their things orders as well. */
const isOrder = (id: string | undefined): id is string =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? '')

/** True for answers that are a no for good; everything else may have happened, or may yet. */
function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  if (error instanceof Stripe.errors.StripeCardError) return true
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400
}

/** True for what Stripe does not begin with: too much was asked of it, or the key may not ask for this. */
function isTurnedAway(error: unknown): boolean {
  const { StripeAuthenticationError, StripePermissionError, StripeRateLimitError } = Stripe.errors
  return [StripeAuthenticationError, StripePermissionError, StripeRateLimitError].some(
    (kind) => error instanceof kind,
  )
}

/** What went wrong in Stripe's own words, without the parts of the key that it repeats. */
function wordsOf(error: unknown): string {
  const words = error instanceof Stripe.errors.StripeError ? `${error.type}: ${error.message}` : String(error)
  return words.replace(/\b[a-z]{2}_(test|live)_[^\s'")]+/g, '$1 key')
}

/** Divided where it gets smaller, since no power of ten below 1 is exact. What is no whole number then, Stripe refuses. */
const shifted = (amount: number, decimals: number) =>
  decimals < 0 ? amount / 10 ** -decimals : amount * 10 ** decimals

function orderOf(intent: Stripe.PaymentIntent): string {
  return intent.metadata.order ?? ''
}

function recordOf(intent: Stripe.PaymentIntent, order: string): ChargeRecord {
  const status = statusOf(intent)
  const of = { charge: intent.id, order }
  if (status !== 'authorized' && status !== 'captured') return { ...of, status }
  const amount = status === 'authorized' ? intent.amount_capturable : intent.amount_received
  const currency = intent.currency.toUpperCase()
  return { ...of, status, amountMinor: shifted(amount, -(MORE_DECIMALS[currency] ?? 0)), currency }
}

function statusOf(intent: Stripe.PaymentIntent): ChargeRecord['status'] {
  switch (intent.status) {
    case 'succeeded': {
      const { latest_charge } = intent
      return latest_charge && typeof latest_charge === 'object' && latest_charge.refunded
        ? 'refunded'
        : 'captured'
    }
    case 'requires_capture':
      return 'authorized'
    case 'canceled':
      return 'cancelled'
    case 'requires_payment_method':
      return intent.last_payment_error ? 'declined' : 'pending'
    default:
      return 'pending'
  }
}

/** The charge an event is about, if it is one of ours. */
function recordOfEvent(event: Stripe.Event): ChargeRecord[] {
  switch (event.type) {
    case 'payment_intent.amount_capturable_updated':
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled': {
      const intent = event.data.object
      const { order } = intent.metadata
      return isOrder(order) ? [recordOf(intent, order)] : []
    }
    case 'charge.refunded': {
      const { payment_intent, metadata, refunded } = event.data.object
      const charge = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
      const { order } = metadata
      return refunded && charge && isOrder(order) ? [{ charge, order, status: 'refunded' }] : []
    }
    case 'refund.failed': {
      const { payment_intent, metadata } = event.data.object
      const charge = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
      const order = metadata?.order
      return charge && isOrder(order) ? [{ charge, order, status: 'refund_failed' }] : []
    }
    default:
      return []
  }
}
