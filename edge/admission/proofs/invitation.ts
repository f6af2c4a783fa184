/**
 * Invitations at the edge. The origin knows the invitations, and admits a visitor by one, which then holds for all
 * joins of that visitor.
 */

import * as v from 'valibot'
import { JoinRequest } from '../../../shared/api/access.ts'
import { tryParse } from '../../../shared/parse.ts'
import type { Problem } from '../../../shared/problem.ts'
import { type Call, refuse } from '../../http/call.ts'
import { limitAddress, limitGuesses } from '../../http/limits/rate-limits.ts'
import { callInternal, tryTwice } from '../../http/origin.ts'
import type { InvitationFault } from '../../pages/view.ts'

/** One address may send this many unknown invitations, which allows for a few typing errors. */
const GUESSES = { calls: 20, seconds: 60 }
const TIMEOUT_MS = 3_000

const Redeemed = v.object({
  /** `void` is a link that has expired or was declared void. */
  result: v.picklist(['redeemed', 'used_up', 'unknown', 'void']),
})

const WHY: Readonly<Record<InvitationFault, string>> = {
  none: 'Join with the code or the link of your invitation.',
  unknown: 'There is no such invitation. Check its letters, or open its link.',
  void: 'This invitation is no longer valid. Ask for a new one.',
  used_up: 'This invitation has been used by others as often as it allows.',
}

/**
 * Redeems an invitation for this visitor, who may use it again. Throws `invitation-required` if it is not valid, and
 * `try-again` while the origin does not respond.
 */
export async function redeemInvitation(sale: string, invitation: string, visitor: string, call: Call): Promise<void> {
  const guesses = call.config.production ? GUESSES : null
  limitGuesses('invitation', guesses, call)
  const result = await redeem(sale, invitation, visitor, call)
  // Valid invitations do not count, because many invited people may share an address.
  if (result === 'unknown') limitAddress('invitation', guesses, call)
  if (result !== 'redeemed') refuseInvitation(result)
}

/** The invitation in the address of a link, `/sales/{sale}?invitation=..`; null if there is none. */
export function linkedInvitation({ request: { url } }: Call): string | null {
  if (!url.includes('?')) return null
  const invitation = new URL(url).searchParams.get('invitation')
  return tryParse(JoinRequest, { invitation })?.invitation ?? null
}

/** The fault of the invitation in this problem of a join; null for any other problem. */
export function faultIn({ type, errors, reason }: Problem): InvitationFault | null {
  if (type === '/problems/invitation-required') return reason as InvitationFault
  return errors?.some(({ field }) => field === 'invitation') ? 'unknown' : null
}

/** `reason` is for the page, which describes it in the visitor's language. */
export const refuseInvitation = (reason: InvitationFault) =>
  refuse('invitation-required', { detail: WHY[reason], reason })

/** The call may be repeated, because the same visitor may redeem the same invitation again. */
async function redeem(sale: string, invitation: string, visitor: string, call: Call) {
  const result = await tryTwice('invitation not checked', call, async () => {
    const response = await callInternal(`/sales/${sale}/redeem`, call, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ visitor, invitation }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return v.parse(Redeemed, await response.json()).result
  })
  const detail = 'Your invitation cannot be checked at this moment. It stays good.'
  return result ?? refuse('try-again', { detail, retry_after_seconds: 2 })
}
