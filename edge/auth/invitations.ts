/** Invitations at the edge: the origin knows who was invited, and lets a visitor in by one, once and for all their joins. */
import * as v from 'valibot'
import { type Call, refuse } from '../http.ts'
import { limitAddress } from './rate-limits.ts'

/** Guesses of one address: a person mistypes a few times. */
const GUESSES = { calls: 20, seconds: 60 }
const TIMEOUT_MS = 3_000
const TRIES = 2
const RETRY_MS = 200

const Redeemed = v.object({ verdict: v.picklist(['redeemed', 'used_up', 'unknown']) })

const WHY = {
  none: 'Join with the code or the link of your invitation.',
  unknown: 'There is no such invitation. Check its letters, or open its link.',
  used_up: 'This invitation has been used by others as often as it allows.',
}

/** Throws `invitation-required` without a good one, and `try-again` while the origin does not respond. */
export async function requireInvitation(
  sale: string,
  invitation: string | null,
  visitor: string,
  call: Call,
): Promise<void> {
  if (invitation === null) return refuseInvitation('none')
  if (call.config.production) limitAddress('invitation', GUESSES, call)
  const verdict = await redeem(sale, invitation, visitor, call)
  if (verdict !== 'redeemed') refuseInvitation(verdict)
}

const refuseInvitation = (why: keyof typeof WHY) => refuse('invitation-required', { detail: WHY[why] })

/** The same visitor may redeem the same invitation again, so the call may be repeated. */
async function redeem(sale: string, invitation: string, visitor: string, { config }: Call) {
  for (let tries = 1; ; tries++) {
    try {
      const response = await fetch(`${config.ORIGIN_URL}/internal/sales/${sale}/redeem`, {
        method: 'POST',
        headers: { authorization: `Bearer ${config.EDGE_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ visitor, invitation }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (!response.ok) throw new Error(`status ${response.status}`)
      return v.parse(Redeemed, await response.json()).verdict
    } catch (error) {
      if (tries === TRIES) {
        console.warn(JSON.stringify({ msg: 'invitation not checked', sale, why: String(error) }))
        const detail = 'Your invitation cannot be checked at this moment. It stays good.'
        return refuse('try-again', { detail, retry_after_seconds: 2 })
      }
      await scheduler.wait(RETRY_MS * (0.5 + Math.random()))
    }
  }
}
