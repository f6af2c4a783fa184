/**
 * Verifies Cloudflare Turnstile for sales that use it, if the edge has its keys. The widget gives the page a token,
 * and siteverify says whether the token is valid. It accepts a token only once, so one token is good for one join.
 */
import * as v from 'valibot'
import { addressOf, type Call, refuse } from '../../http/call.ts'
import { tryTwice } from '../../http/origin.ts'

const TIMEOUT_MS = 3_000

const Verification = v.object({ success: v.boolean(), 'error-codes': v.optional(v.array(v.string()), []) })

/** Errors caused by the visitor. Any other error has its cause in the configuration or at Cloudflare. */
const BAD_TOKEN = new Set(['missing-input-response', 'invalid-input-response', 'timeout-or-duplicate'])

/** True for a valid token. Throws `try-again` while siteverify does not respond. */
export async function passesTurnstile(token: string, call: Call): Promise<boolean> {
  if (token === '') return false
  const settings = call.config.turnstile
  if (!settings) throw new Error('Turnstile is not set up')
  const address = addressOf(call)
  const body = new URLSearchParams({
    secret: settings.TURNSTILE_SECRET_KEY,
    response: token,
    ...(address !== null && { remoteip: address }),
    // The key makes a second attempt count as the same verification.
    idempotency_key: crypto.randomUUID(),
  })
  const isGood = await tryTwice('Turnstile token not verified', call, async () => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(settings.TURNSTILE_VERIFY_URL, { method: 'POST', body, signal })
    const { success, 'error-codes': errors } = v.parse(Verification, await response.json())
    if (success) return true
    if (errors.length > 0 && errors.every((error) => BAD_TOKEN.has(error))) return false
    throw new Error(errors.join(', ') || `status ${response.status}`)
  })
  return isGood ?? refuse('try-again', { detail: 'Your check could not be verified.', retry_after_seconds: 2 })
}
