/**
 * Stripe as a payment provider, through its own library. A charge is a payment intent, confirmed at its creation
 * under the idempotency key of the order's attempt, and captured later. In between it may need its buyer, who
 * authenticates it at their bank. Its state comes from responses, from signed webhooks, and from the list of events
 * that Stripe keeps for thirty days.
 */

import Stripe from 'stripe'
import type { Card, DeclineCode } from '../../shared/api/public.ts'
import { fromStripe, toStripe } from '../../shared/api/stripe-amount.ts'
import { capital } from '../../shared/format.ts'
import type { PaymentAction } from '../ledger/schema/orders.ts'
import {
  authorizeResult,
  type ChargeRecord,
  capturedOf,
  chargeKey,
  type PaymentProvider,
  PROVIDER_TIMEOUT_MS,
  type ProviderRefund,
} from './provider.ts'

/** How far back events are read without a cursor: longer than any order stays unpaid. */
const FIRST_READ_SECONDS = 24 * 3600
const PAGE = 100
/** Refunds of one charge that are read: more than an order has lines and parts. */
const MOST_REFUNDS = 1_000
const TOLERANCE_SECONDS = 300
/** Which tells what was refunded, and the card. */
const WITH_CHARGE = { expand: ['latest_charge'] }
const EVENTS = [
  'payment_intent.requires_action',
  'payment_intent.amount_capturable_updated',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'refund.failed',
]

/**
 * Stripe's codes of errors and of issuers' declines (docs.stripe.com/error-codes, /declines/codes); any other:
 * declined.
 */
const DECLINE_CODES: Readonly<Record<string, DeclineCode>> = {
  insufficient_funds: 'insufficient_funds',
  expired_card: 'expired_card',
  incorrect_number: 'incorrect_details',
  invalid_number: 'incorrect_details',
  incorrect_cvc: 'incorrect_details',
  invalid_cvc: 'incorrect_details',
  invalid_expiry_month: 'incorrect_details',
  invalid_expiry_year: 'incorrect_details',
  incorrect_address: 'incorrect_details',
  incorrect_postal_code: 'incorrect_details',
  incorrect_zip: 'incorrect_details',
  payment_intent_authentication_failure: 'authentication_failed',
  authentication_failure: 'authentication_failed',
  authentication_required: 'authentication_failed',
}

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
  const isStored = (event: string): Promise<boolean> =>
    stripe.events.retrieve(event).then(
      () => true,
      (error) => {
        if (error.code === 'resource_missing') return false
        throw error
      },
    )

  const eventsBy = (query: Stripe.EventListParams) => stripe.events.list({ types: EVENTS, limit: PAGE, ...query })

  /**
   * The event to begin with if there is no cursor: the last one before the relevant time, or else the very first.
   * From there all events are read as usual, the oldest first, so that an interruption skips nothing.
   */
  async function firstEvent(): Promise<Stripe.Event | undefined> {
    const lt = Math.floor(options.nowMs() / 1000) - FIRST_READ_SECONDS
    let [first] = (await eventsBy({ created: { lt }, limit: 1 })).data
    if (first) return first
    // The events of a day at most, the newest first; new events do not move the pages that are still to be read.
    for await (const older of eventsBy({})) first = older
    return first
  }

  /** The charge after a change, even if its state did not allow the change. */
  const stateAfter = async (change: Promise<Stripe.PaymentIntent>, charge: string) =>
    recordOf(
      await change.catch((error) => {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
        return retrieve(charge)
      }),
    )

  const cancel = (charge: string) => stateAfter(stripe.paymentIntents.cancel(charge), charge)

  const retrieve = (charge: string) => stripe.paymentIntents.retrieve(charge, WITH_CHARGE)

  return {
    name: 'stripe',

    async authorize({ order, attempt, amountMinor, currency, method, returnUrl }) {
      try {
        const intent = await stripe.paymentIntents.create(
          {
            amount: toStripe(amountMinor, currency),
            currency: currency.toLowerCase(),
            // A confirmation token, made by Stripe's form on our page, which is valid once.
            ...(method.startsWith('ctoken_') ? { confirmation_token: method } : { payment_method: method }),
            confirm: true,
            capture_method: 'manual',
            automatic_payment_methods: { enabled: true, allow_redirects: 'always' },
            return_url: returnUrl,
            metadata: { order, attempt, order_page: returnUrl },
          },
          { idempotencyKey: `charge-${chargeKey(order, attempt)}` },
        )
        return authorizeResult(recordOf(intent))
      } catch (error) {
        if (isDecline(error)) return { result: 'declined', code: declineCodeOf(error) }
        if (isRefusal(error)) return { result: 'refused', code: error.code ?? error.type, reason: messageOf(error) }
        return { result: isTurnedAway(error) ? 'turned_away' : 'unknown', reason: messageOf(error) }
      }
    },

    read: (charge) => retrieve(charge).then(recordOf),

    capture: async ({ charge }) =>
      capturedOf(await stateAfter(stripe.paymentIntents.capture(charge, WITH_CHARGE), charge)),

    cancel,

    async returns(charge) {
      const { status, amount_received, currency } = await retrieve(charge)
      if (status !== 'succeeded') return { takenMinor: 0, refunds: [] }
      const list = stripe.refunds.list({ payment_intent: charge, limit: PAGE })
      const refunds = await list.autoPagingToArray({ limit: MOST_REFUNDS })
      return { takenMinor: fromStripe(amount_received, currency.toUpperCase()), refunds: refunds.map(refundOf) }
    },

    async refund({ charge, order, key, amountMinor, failed }) {
      const made = { payment_intent: charge, metadata: { order, refund: key } }
      if (amountMinor === null)
        // This call has no idempotency key, under which Stripe would repeat a failure for a day. It refunds what is
        // left of a charge only once in any case.
        return refundOf(await stripe.refunds.create(made))
      const { currency } = await retrieve(charge)
      const amount = toStripe(amountMinor, currency.toUpperCase())
      // Stripe repeats a failure under its key: another attempt, or another amount, has another one.
      const idempotencyKey = `refund-${key}-${failed}-${amount}`
      return refundOf(await stripe.refunds.create({ ...made, amount }, { idempotencyKey }))
    },

    async find(order): Promise<ChargeRecord | undefined> {
      const { data } = await stripe.paymentIntents.search({
        query: `metadata['order']:'${order}'`,
        limit: 10,
        expand: ['data.latest_charge'],
      })
      const records = data.map(recordOf)
      const first = (status: ChargeRecord['status']) => records.find((r) => r.status === status)
      return first('captured') ?? first('authorized') ?? first('requires_action') ?? first('pending') ?? records[0]
    },

    async *changes(since) {
      let cursor = since !== null && (await isStored(since)) ? since : null
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

    async readWebhook(header, body) {
      try {
        const event = await stripe.webhooks.constructEventAsync(
          body,
          header('stripe-signature') ?? '',
          options.webhookSecret,
          TOLERANCE_SECONDS,
          undefined,
          options.nowMs(),
        )
        return recordOfEvent(event)[0] ?? null
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined
        if (error instanceof SyntaxError) return null
        throw error
      }
    },
  }
}

/** The format must be checked, because other systems may use the same account and the same name in their metadata. */
const isOrder = (id: string | undefined): id is string => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? '')

/**
 * True for a final refusal of what was sent. After any other error the charge may have happened, or may happen later.
 */
const isRefusal = (error: unknown): error is Stripe.errors.StripeInvalidRequestError =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400

/**
 * True where the buyer can do something about it: another card, or one that exists. All else that was sent is the
 * shop's.
 */
function isDecline(error: unknown): error is Stripe.errors.StripeError {
  if (error instanceof Stripe.errors.StripeCardError) return true
  if (!isRefusal(error)) return false
  const { code = '', param = '' } = error
  const isOfMethod = /^(payment_method|confirmation_token)/.test(param)
  return isOfMethod || /^(payment_method_|token_|resource_missing$)/.test(code) || code in DECLINE_CODES
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

/** The attempt of a charge; 1 for a charge that another system made. */
const attemptIn = (metadata: Stripe.Metadata | null) => Number(metadata?.attempt ?? 1)

const declineCodeOf = (error: { readonly code?: string; readonly decline_code?: string } | null): DeclineCode =>
  DECLINE_CODES[error?.decline_code ?? ''] ?? DECLINE_CODES[error?.code ?? ''] ?? 'declined'

/**
 * A refund that waits for its buyer counts as made: what they do brings the money, and another refund would bring it
 * twice.
 */
const refundOf = ({ id, amount, currency, status, metadata }: Stripe.Refund): ProviderRefund => ({
  id,
  key: metadata?.refund ?? null,
  amountMinor: fromStripe(amount, currency.toUpperCase()),
  isMade: status !== 'failed' && status !== 'canceled',
})

function recordOf(intent: Stripe.PaymentIntent): ChargeRecord {
  const { id: charge, metadata, latest_charge } = intent
  const status = statusOf(intent)
  const ref = { charge, order: metadata.order ?? '' }
  const currency = intent.currency.toUpperCase()
  switch (status) {
    case 'requires_action':
      return { ...ref, status, attempt: attemptIn(metadata), action: actionOf(intent) }
    case 'declined':
      return { ...ref, status, attempt: attemptIn(metadata), code: declineCodeOf(intent.last_payment_error) }
    case 'authorized':
      return { ...ref, status, amountMinor: fromStripe(intent.amount_capturable, currency), currency }
    case 'captured': {
      const { amount_refunded: refunded = 0, payment_method_details: paidWith } =
        typeof latest_charge === 'object' ? (latest_charge ?? {}) : {}
      const card = cardOf(paidWith?.card)
      const refundedMinor = fromStripe(refunded, currency)
      const amountMinor = fromStripe(intent.amount_received, currency)
      return { ...ref, status, amountMinor, currency, ...(refunded > 0 && { refundedMinor }), ...(card && { card }) }
    }
    default:
      return { ...ref, status }
  }
}

/** Stripe's codes of the brands whose names are not the same with a capital. */
const BRANDS: Readonly<Record<string, string>> = {
  amex: 'American Express',
  cartes_bancaires: 'Cartes Bancaires',
  diners: 'Diners Club',
  eftpos_au: 'eftpos',
  jcb: 'JCB',
  unionpay: 'UnionPay',
}

function cardOf(card: Stripe.Charge.PaymentMethodDetails.Card | undefined): Card | undefined {
  const { brand, last4 } = card ?? {}
  if (!brand || !last4) return undefined
  return { brand: BRANDS[brand] ?? capital(brand), last4 }
}

/**
 * Where the buyer authenticates it: at the bank's address, or, if only Stripe's script can continue (of a form made
 * with it), on our page with that script.
 */
function actionOf({ id: charge, next_action, client_secret, metadata }: Stripe.PaymentIntent): PaymentAction {
  const url = next_action?.redirect_to_url?.url ?? `${metadata.order_page ?? ''}/pay`
  return { charge, url, ...(client_secret !== null && { client_secret }) }
}

function statusOf({ status, latest_charge, last_payment_error }: Stripe.PaymentIntent): ChargeRecord['status'] {
  switch (status) {
    case 'succeeded':
      return typeof latest_charge === 'object' && latest_charge?.refunded ? 'refunded' : 'captured'
    case 'requires_capture':
      return 'authorized'
    case 'canceled':
      return 'cancelled'
    case 'requires_action':
      return 'requires_action'
    default:
      return status === 'requires_payment_method' && last_payment_error ? 'declined' : 'pending'
  }
}

/** The charge of an event, if it belongs to one of our orders. */
function recordOfEvent(event: Stripe.Event): ChargeRecord[] {
  switch (event.type) {
    case 'payment_intent.requires_action':
    case 'payment_intent.amount_capturable_updated':
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled':
      return isOrder(event.data.object.metadata.order) ? [recordOf(event.data.object)] : []
    case 'refund.failed': {
      const refund = event.data.object
      const charge = chargeIn(refund)
      const order = refund.metadata?.order
      // One that a person made there names no order: its charge does.
      return charge
        ? [{ charge, order: isOrder(order) ? order : '', status: 'refund_failed', refund: refundOf(refund) }]
        : []
    }
    case 'charge.refunded': {
      const { metadata, refunded, captured, amount_captured, amount_refunded } = event.data.object
      const charge = chargeIn(event.data.object)
      const { order } = metadata
      if (!charge || !isOrder(order)) return []
      if (refunded) return [{ charge, order, status: 'refunded' }]
      if (!captured) return []
      const currency = event.data.object.currency.toUpperCase()
      const refundedMinor = fromStripe(amount_refunded, currency)
      const amountMinor = fromStripe(amount_captured, currency)
      return [{ charge, order, status: 'captured', amountMinor, currency, refundedMinor }]
    }
    default:
      return []
  }
}

const chargeIn = ({ payment_intent: intent }: Pick<Stripe.Refund, 'payment_intent'>) =>
  typeof intent === 'string' ? intent : intent?.id
