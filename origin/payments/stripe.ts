/**
 * Stripe as a payment provider, through its own library. A charge is a payment intent, confirmed at its creation under the
 * order's idempotency key, and captured later. Its state comes from responses, from signed webhooks, and from the list of
 * events that Stripe keeps for thirty days.
 */
import Stripe from 'stripe'
import {
  authorizeResult,
  type ChargeRecord,
  type PaymentProvider,
  PROVIDER_TIMEOUT_MS,
  wasCaptured,
} from './provider.ts'

/** How far back events are read without a cursor: longer than any order stays unpaid. */
const FIRST_READ_SECONDS = 24 * 3600
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

/** Extra decimals of Stripe's smallest unit compared to the minor unit of ISO 4217 (docs.stripe.com/currencies). */
const MORE_DECIMALS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: -2 }

interface StripeOptions {
  readonly secretKey: string
  readonly webhookSecret: string
  readonly apiUrl?: string | undefined
  readonly timeoutMs?: number
  /** The ledger's time, for the age of a webhook. */
  readonly nowMs: () => number
}

export function stripeProvider(options: StripeOptions): PaymentProvider {
  const { timeoutMs = PROVIDER_TIMEOUT_MS } = options
  const at = options.apiUrl === undefined ? undefined : new URL(options.apiUrl)
  const stripe = new Stripe(options.secretKey, {
    // The job is retried, with backoff and a limit.
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    ...(at && {
      host: at.hostname,
      port: at.port || (at.protocol === 'https:' ? 443 : 80),
      protocol: at.protocol === 'https:' ? 'https' : 'http',
    }),
  })

  /** False if Stripe has deleted the event, after a month without one. */
  const isKept = (event: string): Promise<boolean> =>
    stripe.events.retrieve(event).then(
      () => true,
      (error) => {
        if (error.code === 'resource_missing') return false
        throw error
      },
    )

  const eventsBy = (query: Stripe.EventListParams) => stripe.events.list({ types: EVENTS, limit: PAGE, ...query })

  /**
   * The event to begin with if there is no cursor: the last one before the relevant time, or else the very first. From there
   * all events are read as usual, the oldest first, so that an interruption skips nothing.
   */
  async function firstEvent(): Promise<Stripe.Event | undefined> {
    const lt = Math.floor(options.nowMs() / 1000) - FIRST_READ_SECONDS
    let [first] = (await eventsBy({ created: { lt }, limit: 1 })).data
    if (first) return first
    // At most the events of a day; new ones arrive at the other end.
    for await (const older of eventsBy({})) first = older
    return first
  }

  /** The charge after a change, even if its state did not allow the change. */
  const stateAfter = async (change: Promise<Stripe.PaymentIntent>, charge: string) =>
    recordOf(
      await change.catch((error) => {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
        return stripe.paymentIntents.retrieve(charge, { expand: ['latest_charge'] })
      }),
    )

  const cancel = (charge: string) => stateAfter(stripe.paymentIntents.cancel(charge), charge)

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
            // The buyer cannot be sent to their bank here; a charge that needs it is declined.
            error_on_requires_action: true,
            automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
            metadata: { order },
          },
          { idempotencyKey: `charge-${order}` },
        )
        return authorizeResult(recordOf(intent))
      } catch (error) {
        if (isRefusal(error)) return { result: 'declined', reason: error.code ?? error.type }
        return { result: isTurnedAway(error) ? 'turned_away' : 'unknown', reason: messageOf(error) }
      }
    },

    capture: async ({ charge }) => wasCaptured(await stateAfter(stripe.paymentIntents.capture(charge), charge)),

    cancel,

    async refund({ charge, order }) {
      // Cancelled first, so that nobody captures it meanwhile.
      const { status } = await cancel(charge)
      if (status === 'cancelled') return
      try {
        // Without an idempotency key, under which Stripe would repeat a failure for a day. It refunds a whole charge only
        // once in any case.
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
      const records = data.map(recordOf)
      const first = (status: ChargeRecord['status']) => records.find((r) => r.status === status)
      return first('captured') ?? first('authorized') ?? first('pending') ?? records[0]
    },

    async *changes(since) {
      let cursor = since !== null && (await isKept(since)) ? since : null
      if (cursor === null) {
        const first = await firstEvent()
        if (!first) return
        cursor = first.id
        yield { records: recordOfEvent(first), cursor }
      }
      for (let more = true; more; ) {
        // The page just after the cursor, with its newest event first.
        const { data, has_more } = await eventsBy({ ending_before: cursor })
        if (!data[0]) return
        cursor = data[0].id
        more = has_more
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

/** Other systems may use the same account, and the same name in their metadata. */
const isOrder = (id: string | undefined): id is string => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? '')

/** True for final refusals. After any other error the charge may have happened, or may happen later. */
function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  if (error instanceof Stripe.errors.StripeCardError) return true
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400
}

/** True if Stripe has not begun with the charge: a rate limit, or a key without permission. */
const isTurnedAway = (error: unknown) =>
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError ||
  error instanceof Stripe.errors.StripeRateLimitError

/** Stripe's error message, without the parts of the key that it repeats. */
function messageOf(error: unknown): string {
  const message = error instanceof Stripe.errors.StripeError ? `${error.type}: ${error.message}` : String(error)
  return message.replace(/\b[a-z]{2}_(test|live)_[^\s'")]+/g, '$1 key')
}

/** Divides by a power of ten, since those below 1 are inexact. Stripe rejects a fraction. */
const shifted = (amount: number, decimals: number) =>
  decimals < 0 ? amount / 10 ** -decimals : amount * 10 ** decimals

function recordOf(intent: Stripe.PaymentIntent): ChargeRecord {
  const status = statusOf(intent)
  const ref = { charge: intent.id, order: intent.metadata.order ?? '' }
  if (status !== 'authorized' && status !== 'captured') return { ...ref, status }
  const amount = status === 'authorized' ? intent.amount_capturable : intent.amount_received
  const currency = intent.currency.toUpperCase()
  return { ...ref, status, amountMinor: shifted(amount, -(MORE_DECIMALS[currency] ?? 0)), currency }
}

function statusOf({ status, latest_charge, last_payment_error }: Stripe.PaymentIntent): ChargeRecord['status'] {
  switch (status) {
    case 'succeeded':
      return typeof latest_charge === 'object' && latest_charge?.refunded ? 'refunded' : 'captured'
    case 'requires_capture':
      return 'authorized'
    case 'canceled':
      return 'cancelled'
    default:
      return status === 'requires_payment_method' && last_payment_error ? 'declined' : 'pending'
  }
}

/** The charge of an event, if it belongs to one of our orders. */
function recordOfEvent(event: Stripe.Event): ChargeRecord[] {
  switch (event.type) {
    case 'payment_intent.amount_capturable_updated':
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled':
      return isOrder(event.data.object.metadata.order) ? [recordOf(event.data.object)] : []
    case 'charge.refunded':
    case 'refund.failed': {
      const { payment_intent, metadata } = event.data.object
      const charge = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
      const order = metadata?.order
      if (!charge || !isOrder(order)) return []
      if (event.type === 'refund.failed') return [{ charge, order, status: 'refund_failed' }]
      return event.data.object.refunded ? [{ charge, order, status: 'refunded' }] : []
    }
    default:
      return []
  }
}
