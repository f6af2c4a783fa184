/**
 * Cloudflare Turnstile, for sales that ask for it where the edge has its keys: its widget gives the page a token, and
 * siteverify says whether the token is valid. It verifies a token once only, so one token is good for one join.
 */
import * as v from 'valibot'
import { type Call, refuse } from '../../call.ts'
import { readJoin } from '../join-request.ts'

const TIMEOUT_MS = 3_000
const TRIES = 2
const RETRY_MS = 200

const Verdict = v.object({ success: v.boolean(), 'error-codes': v.optional(v.array(v.string()), []) })

/** Errors caused by the visitor; any other error is ours, or Cloudflare's. */
const BAD_TOKEN = new Set(['missing-input-response', 'invalid-input-response', 'timeout-or-duplicate'])

/** Throws `proof-required` without a good token, and `try-again` while siteverify does not respond. */
export async function requireTurnstile(sale: string, call: Call): Promise<void> {
  const { turnstile } = await readJoin(call)
  if (turnstile === undefined || !(await isGood(turnstile, sale, call))) refuseTurnstile(sale)
}

const refuseTurnstile = (sale: string): never =>
  refuse('proof-required', {
    kind: 'turnstile',
    challenge: `/sales/${sale}`,
    detail: "Pass the check of Turnstile's widget, and join with its token.",
  })

async function isGood(token: string, sale: string, { config, request }: Call): Promise<boolean> {
  const settings = config.turnstile
  if (!settings) throw new Error('Turnstile is not set up')
  const address = request.headers.get(config.ADDRESS_HEADER)
  const body = new URLSearchParams({
    secret: settings.TURNSTILE_SECRET_KEY,
    response: token,
    ...(address !== null && { remoteip: address }),
    // The second try is the same verification.
    idempotency_key: crypto.randomUUID(),
  })
  for (let tries = 1; ; tries++) {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const response = await fetch(settings.TURNSTILE_VERIFY_URL, { method: 'POST', body, signal })
      const { success, 'error-codes': errors } = v.parse(Verdict, await response.json())
      if (success) return true
      if (errors.length > 0 && errors.every((error) => BAD_TOKEN.has(error))) return false
      throw new Error(errors.join(', ') || `status ${response.status}`)
    } catch (error) {
      if (tries === TRIES) {
        console.warn(JSON.stringify({ msg: 'Turnstile token not verified', sale, why: String(error) }))
        return refuse('try-again', { detail: 'Your check could not be verified.', retry_after_seconds: 2 })
      }
      await scheduler.wait(RETRY_MS * (0.5 + Math.random()))
    }
  }
}
