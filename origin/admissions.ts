/**
 * Admissions, verified once: a buyer presents the same token for the checkout, the payment and every look at the order,
 * and a signature that held does not stop holding. Only its end is checked each time. What did not hold is not kept.
 */
import { Recent } from '../shared/recent.ts'
import type { AdmissionClaims, Verified } from '../shared/tokens.ts'
import type { Signatures, Signed } from './signatures.ts'
import { type FindKey, readAdmission } from './tokens.ts'

/** Tokens remembered; about 1 KB each. Those not seen for longest are forgotten first, and verified again. */
const MAX_REMEMBERED = 50_000

export class Admissions {
  readonly #find: FindKey
  readonly #signatures: Signatures
  readonly #held = new Recent<string, AdmissionClaims>(MAX_REMEMBERED)

  constructor(find: FindKey, signatures: Signatures) {
    this.#find = find
    this.#signatures = signatures
  }

  /** Reads an admission at `nowMs`. */
  async verify(token: string, nowMs: number): Promise<Verified<AdmissionClaims>> {
    const claims = this.#held.get(token)
    if (claims) return claims.exp * 1000 > nowMs ? { ok: true, claims } : { ok: false, reason: 'expired' }
    const verified = await readAdmission(this.#find, this.#check, token, nowMs)
    if (verified.ok) this.#held.set(token, verified.claims)
    return verified
  }

  readonly #check = (signed: Signed) => this.#signatures.check(signed)
}
