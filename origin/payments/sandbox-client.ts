/** The sandbox as a payment provider. */
import { timingSafeEqual } from 'hono/utils/buffer'
import * as v from 'valibot'
import { authorizeResult, type ChargeRecord, type PaymentProvider, wasCaptured } from './provider.ts'
import { signWebhook } from './sandbox.ts'

const Charge = v.pipe(
  v.object({
    charge: v.string(),
    order: v.pipe(v.string(), v.uuid()),
    status: v.picklist(['pending', 'authorized', 'captured', 'declined', 'cancelled', 'refunded']),
    amount_minor: v.number(),
    currency: v.string(),
  }),
  v.transform(({ amount_minor: amountMinor, ...charge }): ChargeRecord => ({ ...charge, amountMinor })),
)
const Page = v.object({ records: v.array(Charge), cursor: v.string(), more: v.boolean() })
/** An older webhook is a replay. */
const TOLERANCE_SECONDS = 300

export function sandboxProvider(options: {
  /** Undefined if only webhooks are read. */
  readonly url: string | undefined
  readonly secret: string
  readonly timeoutMs: number
  /** The ledger's time, since the age of a webhook must not depend on this machine's clock. */
  readonly nowMs: () => number
}): PaymentProvider {
  const call = async (path: string, request: RequestInit = {}) => {
    if (options.url === undefined) throw new Error('no sandbox URL is set')
    const signal = AbortSignal.timeout(options.timeoutMs)
    const response = await fetch(new URL(path, options.url), { ...request, signal })
    if (response.ok) return response.json()
    await response.body?.cancel()
    throw new Error(`the sandbox responded ${response.status}`)
  }

  /** Returns the charge after the action, which its state may not have allowed. */
  const act = async (charge: string, action: 'capture' | 'cancel' | 'refund') =>
    v.parse(Charge, await call(`/charges/${encodeURIComponent(charge)}/${action}`, { method: 'POST' }))

  return {
    name: 'sandbox',

    async authorize({ order, amountMinor, currency, method }) {
      const body = JSON.stringify({ order, amount_minor: amountMinor, currency, method })
      const headers = { 'content-type': 'application/json', 'idempotency-key': `charge-${order}` }
      try {
        return authorizeResult(v.parse(Charge, await call('/charges', { method: 'POST', body, headers })))
      } catch (error) {
        return { result: 'unknown', reason: String(error) }
      }
    },

    capture: async ({ charge }) => wasCaptured(await act(charge, 'capture')),

    cancel: (charge) => act(charge, 'cancel'),

    async refund({ charge }) {
      // Cancelled first, so that nobody captures it meanwhile.
      const { status } = await act(charge, 'cancel')
      if (status !== 'cancelled') await act(charge, 'refund')
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

    async readWebhook(headers, body) {
      const given = headers.get('sandbox-signature') ?? ''
      const seconds = Number(/^t=(\d{1,12}),/.exec(given)?.[1] ?? Number.NaN)
      const isValid = await timingSafeEqual(given, signWebhook(options.secret, body, seconds))
      if (!isValid || Math.abs(options.nowMs() / 1000 - seconds) > TOLERANCE_SECONDS) return undefined
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Charge), body)
      return parsed.success ? parsed.output : null
    },
  }
}
