/** The shop's connections: to the edge, for what buyers see and bring, and to the origin, for what the shop decides. */
import { FlashSale } from '@flash-sale/client'
import { Operators } from '@flash-sale/client/operators'
import { type Hold, TokenVerifier } from '@flash-sale/client/tokens'
import { Webhook } from 'standardwebhooks'

const { EDGE_URL = 'http://127.0.0.1:8787', ORIGIN_URL = 'http://127.0.0.1:3000' } = process.env

/** Reads a setting when it is needed, because a build has none. */
export function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} must be set`)
  return value
}

export const edge = new FlashSale(EDGE_URL)
export const operators = () => new Operators(ORIGIN_URL, { key: setting('OPERATOR_KEY') })
export const saleUrl = (sale: string) => `${EDGE_URL}/sales/${sale}`

const tokens = new TokenVerifier(EDGE_URL)
/** What is held for a buyer who comes from the waiting room; null if that has ended, or the edge did not sign it. */
export const readHold = (sale: string, token: string): Promise<Hold | null> =>
  tokens.hold(token, sale).catch(() => null)

const CONFIRM_TRIES = 5

/**
 * Sells a hold: true if it is sold, false if it is not and the money must go back. Throws if the answer is unknown, and
 * may be called again then.
 */
export async function confirm(hold: Hold, reference: string): Promise<boolean> {
  const id = `confirm-${hold.sub}`
  const body = JSON.stringify({ reference, amount_minor: hold.total_minor, currency: hold.currency })
  for (let tries = 1; ; tries++) {
    const at = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(setting('PAYMENT_SECRET')).sign(id, at, body),
    }
    const call = fetch(`${ORIGIN_URL}/orders/${hold.sub}/confirm`, { method: 'POST', headers, body })
    const status = await call.then((response) => response.status).catch(() => 'no response')
    if (status === 200 || status === 409) return status === 200
    if (tries === CONFIRM_TRIES) throw new Error(`Order ${hold.sub} could not be confirmed: ${status}`)
  }
}
