/** The sandbox as a payment provider. */
import * as v from 'valibot'
import { DECLINE_CODES } from '../../shared/api/public.ts'
import { type JsonCall, jsonClient } from '../lib/http/json-client.ts'
import { comparesTo } from '../lib/http/request.ts'
import {
  authorizeResult,
  type ChargeRecord,
  capturedOf,
  chargeKey,
  type PaymentProvider,
  type ProviderRefund,
} from './provider.ts'
import { signWebhook } from './sandbox.ts'

const Charge = v.pipe(
  v.object({
    charge: v.string(),
    order: v.pipe(v.string(), v.uuid()),
    status: v.picklist(['pending', 'requires_action', 'authorized', 'captured', 'declined', 'cancelled', 'refunded']),
    amount_minor: v.number(),
    currency: v.string(),
    action_url: v.optional(v.string(), ''),
    attempt: v.number(),
    refunded_minor: v.number(),
    code: v.optional(v.fallback(v.picklist(DECLINE_CODES), 'declined'), 'declined'),
  }),
  v.transform((sent): ChargeRecord => {
    const { charge, order, status, attempt, amount_minor: amountMinor, currency, refunded_minor: refundedMinor } = sent
    switch (status) {
      case 'authorized':
        return { charge, order, status, amountMinor, currency }
      case 'captured':
        return { charge, order, status, amountMinor, currency, refundedMinor }
      case 'requires_action':
        return { charge, order, status, attempt, action: { charge, url: sent.action_url } }
      case 'declined':
        return { charge, order, status, attempt, code: sent.code }
      default:
        return { charge, order, status }
    }
  }),
)
const Refunds = v.object({
  taken_minor: v.number(),
  refunds: v.array(v.object({ key: v.string(), amount_minor: v.number() })),
})
const refundOf = ({ key, amount_minor }: v.InferOutput<typeof Refunds>['refunds'][number]): ProviderRefund => ({
  id: key,
  key,
  amountMinor: amount_minor,
  isMade: true,
})
const Page = v.object({ records: v.array(Charge), cursor: v.string(), more: v.boolean() })
/** An older webhook is a replay. */
const TOLERANCE_SECONDS = 300
/** The limit is above the charges, captures and refunds that a worker has in progress. */
const CONNECTIONS = 512

class TurnedAway extends Error {}

/** Stripe's ids have no hyphens. */
export const isSandboxCharge = (charge: string) => /^ch_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(charge)

export function sandboxProvider(options: {
  /** Undefined if only webhooks are read. */
  readonly url: string | undefined
  readonly secret: string
  readonly timeoutMs: number
  /** The ledger's time, since the age of a webhook must not depend on this machine's clock. */
  readonly nowMs: () => number
}): PaymentProvider {
  const { url, timeoutMs } = options
  const send = url === undefined ? undefined : jsonClient({ url, timeoutMs, connections: CONNECTIONS })
  const call = async (path: string, request?: JsonCall): Promise<unknown> => {
    if (!send) throw new Error('no sandbox URL is set')
    const { status, text } = await send(path, request)
    if (status === 429) throw new TurnedAway('too many calls')
    if (status < 200 || status > 299) throw new Error(`the sandbox responded ${status}`)
    return JSON.parse(text)
  }

  /** Returns the charge after the action, which its state may not have allowed. */
  const act = async (charge: string, action: 'capture' | 'cancel' | 'refund', body: object = {}) =>
    v.parse(Charge, await call(`/charges/${encodeURIComponent(charge)}/${action}`, { body }))

  const returns = async (charge: string) => {
    const path = `/charges/${encodeURIComponent(charge)}/refunds`
    const { taken_minor: takenMinor, refunds } = v.parse(Refunds, await call(path))
    return { takenMinor, refunds: refunds.map(refundOf) }
  }

  return {
    name: 'sandbox',

    async authorize({ order, attempt, amountMinor, currency, method, returnUrl: return_url }) {
      const body = { order, attempt, amount_minor: amountMinor, currency, method, return_url }
      const headers = { 'idempotency-key': `charge-${chargeKey(order, attempt)}` }
      try {
        return authorizeResult(v.parse(Charge, await call('/charges', { body, headers })))
      } catch (error) {
        return { result: error instanceof TurnedAway ? 'turned_away' : 'unknown', reason: String(error) }
      }
    },

    capture: async ({ charge }) => capturedOf(await act(charge, 'capture')),

    async read(charge): Promise<ChargeRecord | undefined> {
      return v.parse(v.array(Charge), await call(`/charges?charge=${encodeURIComponent(charge)}`))[0]
    },

    cancel: (charge) => act(charge, 'cancel'),

    returns,

    async refund({ charge, key, amountMinor }) {
      const body = { key, ...(amountMinor !== null && { amount_minor: amountMinor }) }
      const { status } = await act(charge, 'refund', body)
      const made = (await returns(charge)).refunds.find((one) => one.key === key)
      if (!made) throw new Error(`the charge is ${status}`)
      return made
    },

    async find(order): Promise<ChargeRecord | undefined> {
      return v.parse(v.array(Charge), await call(`/charges?order=${order}`))[0]
    },

    async *changes(since) {
      let cursor = since ?? '0'
      for (let more = true; more; ) {
        const page = v.parse(Page, await call(`/changes?since=${encodeURIComponent(cursor)}`))
        cursor = page.cursor
        more = page.more
        yield { records: page.records, cursor }
      }
    },

    async readWebhook(header, body) {
      const given = header('sandbox-signature') ?? ''
      const seconds = Number(/^t=(\d{1,12}),/.exec(given)?.[1] ?? Number.NaN)
      const isValid = comparesTo(signWebhook(options.secret, body, seconds))(given)
      if (!isValid || Math.abs(options.nowMs() / 1000 - seconds) > TOLERANCE_SECONDS) return undefined
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Charge), body)
      return parsed.success ? parsed.output : null
    },
  }
}
