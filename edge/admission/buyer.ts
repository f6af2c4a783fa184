/** A buyer at the edge: somebody whose turn it is, within the limits of calls. */

import type { Call } from '../http/call.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { type Admission, requireAdmission } from '../visitor/credentials.ts'
import { refuseBlockedIn } from './admit.ts'

/**
 * The admission of a caller who checks out, or does `what`. Throws `refused`, or `too-many-requests` if the caller or
 * their network does so too often.
 */
export async function requireBuyer(sale: string, call: Call, what = 'checkout'): Promise<Admission> {
  limitAddress(what, call.config.STATUS_PER_ADDRESS, call)
  const admission = await requireAdmission(sale, call)
  limitVisitor(what, admission.claims.sub, call.config.STATUS_PER_VISITOR, call)
  await refuseBlockedIn(sale, admission.claims.sub, call)
  return admission
}
