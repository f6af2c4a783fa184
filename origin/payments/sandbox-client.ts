/** The sandbox, as a payment provider. */
import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import type { ChargeRecord, ChargeRequest, ChargeResult, PaymentProvider } from './provider.ts'
import { signWebhook } from './sandbox.ts'

const Charge = v.object({
  charge: v.string(),
  order: v.pipe(v.string(), v.uuid()),
  status: v.picklist(['pending', 'succeeded', 'declined', 'refunded']),
})
/** A webhook older than this is a replay. */
const TOLERANCE_SECONDS = 300

export function sandboxProvider(options: {
  url: string
  secret: string
  timeoutMs: number
}): PaymentProvider {
  const call = async (path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(new URL(path, options.url), {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    if (!response.ok) throw new Error(`the provider answered ${response.status}`)
    return response.json()
  }

  return {
    name: 'sandbox',

    async charge({ order, amountMinor, currency, method }: ChargeRequest): Promise<ChargeResult> {
      try {
        const answer = v.parse(
          Charge,
          await call('/charges', { order, amount_minor: amountMinor, currency, method }),
        )
        if (answer.status === 'succeeded') return { result: 'succeeded', charge: answer.charge }
        if (answer.status === 'declined') return { result: 'declined', reason: 'card_declined' }
        return { result: 'unknown' }
      } catch {
        return { result: 'unknown' }
      }
    },

    async refund(charge) {
      await call(`/charges/${encodeURIComponent(charge)}/refund`, {})
    },

    async find(order): Promise<ChargeRecord | undefined> {
      return v.parse(v.array(Charge), await call(`/charges?order=${order}`))[0]
    },

    async recent(seconds) {
      return v.parse(v.array(Charge), await call(`/charges?seconds=${seconds}`))
    },

    async readWebhook(headers, body) {
      const given = headers.get('sandbox-signature') ?? ''
      const seconds = Number(/^t=(\d{1,12}),/.exec(given)?.[1] ?? Number.NaN)
      const digest = (text: string) => createHash('sha256').update(text).digest()
      const holds = timingSafeEqual(digest(given), digest(signWebhook(options.secret, body, seconds)))
      if (!holds || Math.abs(Date.now() / 1000 - seconds) > TOLERANCE_SECONDS) return undefined
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Charge), body)
      return parsed.success ? parsed.output : null
    },
  }
}
