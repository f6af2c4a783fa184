/**
 * The checks before a visitor gets a place, the cheapest first: blocks and rules, sign-in, invitation, and proof of
 * work or Turnstile. It also has the checks on visitors who have a place.
 */

import * as v from 'valibot'
import {
  ACCOUNT_PREFIX,
  type JoinRequest,
  type LineAccess,
  MAX_DIFFICULTY,
  type Policy,
} from '../../shared/api/access.ts'
import { SaleId } from '../../shared/api/fields.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { problemIn } from '../../shared/problem.ts'
import { isDrawn, isFinal } from '../../shared/schedule.ts'
import { EDGE_ISSUER, type QueueClaims } from '../../shared/tokens.ts'
import { addressOf, type Call, refuse } from '../http/call.ts'
import { networksOf } from '../http/limits/networks.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { whereOf } from '../http/where.ts'
import { hasLeft } from '../queue/numbers/numbers.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { type Admission, claimsIn, deletePlaceCookie, type Place, requireAdmission } from '../visitor/credentials.ts'
import { sessionFault, sessionOf, signInUrl } from '../visitor/session.ts'
import {
  authenticate,
  placeOf,
  requireAccountPlace,
  setSecretCookie,
  type Visitor,
  visitorOf,
} from '../visitor/visitor.ts'
import { readJoin } from './join-request.ts'
import { NetworkShares, USUAL_DIFFICULTY } from './proofs/difficulty.ts'
import { redeemInvitation, refuseInvitation } from './proofs/invitation.ts'
import { type Proof, readProof } from './proofs/proof-of-work.ts'
import { passesTurnstile } from './proofs/turnstile.ts'
import { type Applicant, type Decision, decide, isBlocked, isOpenToAll } from './rules.ts'

// -- Newcomers ------------------------------------------------------------------------------------------------------

/** A visitor who may join. */
interface Admitted {
  /** The sale, in the line that the visitor joins. */
  readonly now: SaleNow
  /** The visitor, identified by what they have sent. */
  readonly visitor: Visitor
  /** The proof of work, if one was required. */
  readonly proof: Proof | null
  /** True if the visitor solved or passed a challenge for this place. */
  readonly hasProved: boolean
}

/**
 * Decides a join: who the visitor is, what they have proved, and which line they join. Throws the refusal: that of
 * the sale's phase, `invalid-fields`, `refused`, `sign-in-required`, `invitation-required`, `proof-required`,
 * `too-many-requests` or `try-again`. Adds the matching rule to `counts`, even if it refuses.
 */
export async function admit(
  known: SaleNow,
  newcomer: Visitor,
  counts: Partial<JoinCounts>,
  call: Call,
): Promise<Admitted> {
  refuseIfFinal(known)
  // An unreadable request is refused first, even if the sale needs none of its fields.
  const sent = await readJoin(call)
  const { policy } = known
  const applicant = await applicantOf(newcomer.name, policy, call)
  const decision = decide(policy, applicant, sent)
  const now = await inLine(known, decision.line, call)
  refuseUnlessJoinable(now)
  if (decision.rule !== null) counts.met = { [decision.rule]: 1 }
  const { difficulty, turnstile, invitation } = await requirementsOf(decision, applicant, now, sent, call)
  const proof = difficulty > 0 ? await readProof(sent.altcha, call) : null
  if (difficulty > 0 && !isEnough(proof, now.sale, difficulty, newcomer)) refuseProof(now)
  // A client without cookies is identified as the visitor of its proof.
  const visitor = proof && !newcomer.known ? { name: proof.visitor, cookie: null, known: true } : newcomer
  if (visitor.known) limitVisitor('join', visitor.name, call.config.JOINS_PER_VISITOR, call)
  if (turnstile && !(await passesTurnstile(sent.turnstile ?? '', call))) refuseTurnstile(now)
  if (invitation !== null) {
    // The cookie is set even if the join fails, because a redeemed invitation belongs to this visitor, who must be
    // recognised at the next attempt.
    setSecretCookie(visitor, call)
    await redeemInvitation(now.sale, invitation, visitor.name, call)
  }
  return { now, visitor, proof, hasProved: proof !== null || turnstile }
}

/** The requirements that remain for a new visitor after the checks. */
interface Requirements {
  /** The minimum difficulty of a proof of work; 0 if none is required. */
  readonly difficulty: number
  /** True if the visitor must also pass Turnstile's widget. */
  readonly turnstile: boolean
  /** The invitation to redeem once the visitor is certain; null if none is needed. */
  readonly invitation: string | null
}

/** Throws `refused`, `sign-in-required`, `not-open` or `invitation-required`. */
async function requirementsOf(
  { action, access }: Decision,
  applicant: Applicant | null,
  now: SaleNow,
  sent: JoinRequest,
  call: Call,
): Promise<Requirements> {
  if (action === 'blocked' || action === 'refuse') refuse('refused')
  if (access.sign_in === 'required' && !applicant?.session) await refuseSignIn(call)
  if (action === 'last' && !isDrawn(now.schedule)) refuseLast(now)
  // A visitor without an invitation is refused before they solve a challenge or wait.
  const invitation = access.invitation === 'required' ? (sent.invitation ?? refuseInvitation('none')) : null
  if (action === 'allow') return { difficulty: 0, turnstile: false, invitation }
  const turnstile = access.turnstile && call.config.turnstile !== null
  return { difficulty: leastDifficulty(access, action === 'prove', call), turnstile, invitation }
}

/** A caller who sent a session hears what is wrong with it. */
async function refuseSignIn(call: Call): Promise<never> {
  const detail = await sessionFault(call)
  return refuse('sign-in-required', { sign_in_url: signInUrl(call), ...(detail !== null && { detail }) })
}

function refuseIfFinal({ schedule: { phase } }: SaleNow): void {
  if (isFinal(phase)) refuse(phase === 'ended' ? 'ended' : 'sold-out')
}

function refuseUnlessJoinable(now: SaleNow): void {
  refuseIfFinal(now)
  const { schedule, atMs } = now
  const { phase, opens_at, pre_queue_opens_at } = schedule
  if (phase !== 'upcoming') return
  const opensInSeconds = (schedule.pre_queue_opens_at_ms - atMs) / 1000
  const retry_after_seconds = Math.max(1, Math.min(60, opensInSeconds))
  refuse('not-open', { opens_at, pre_queue_opens_at, retry_after_seconds })
}

/** Refuses a place at the end of the queue before the draw, because the queue has no end until then. */
function refuseLast({ schedule, atMs }: SaleNow): never {
  const { opens_at, anchor_at_ms } = schedule
  const detail = 'You can join once the sale is open, at the end of the line.'
  return refuse('not-open', { opens_at, detail, retry_after_seconds: Math.max(1, (anchor_at_ms - atMs) / 1000) })
}

/** Reads what the rules need to know of an applicant, which takes time; null if no rule depends on the applicant. */
async function applicantOf(visitor: string, policy: Policy, call: Call): Promise<Applicant | null> {
  if (isOpenToAll(policy)) return null
  const session = await sessionOf(call)
  return {
    address: addressOf(call) ?? '',
    ...whereOf(call),
    userAgent: call.request.headers.get('user-agent') ?? '',
    visitor,
    session: session ?? accountIn(visitor),
  }
}

/** The account in a visitor's name, without the claims of a session. */
const accountIn = (visitor: string) =>
  visitor.startsWith(ACCOUNT_PREFIX) ? { account: visitor.slice(ACCOUNT_PREFIX.length), claims: {} } : null

/**
 * True if the proof is for this sale, is at least as difficult as required now, and does not belong to another known
 * visitor.
 */
const isEnough = (proof: Proof | null, sale: string, difficulty: number, { name, known }: Visitor) =>
  proof !== null && proof.sale === sale && proof.difficulty >= difficulty && (!known || proof.visitor === name)

/** The refusal names the line's challenge if the sale has several lines. */
export function refuseProof({ sale, line, policy }: SaleNow): never {
  const challenge = `/sales/${sale}/challenge${policy.lines.length > 1 ? `?line=${line}` : ''}`
  return refuse('proof-required', { kind: 'altcha', challenge })
}

function refuseTurnstile({ sale }: SaleNow): never {
  const detail = "Pass the check of Turnstile's widget, and join with its token."
  return refuse('proof-required', { kind: 'turnstile', challenge: `/sales/${sale}`, detail })
}

// -- Proofs of work -------------------------------------------------------------------------------------------------

const shares = new NetworkShares()
/** The difficulty for visitors who need no proof, on a page that is the same for all and whose widget makes one. */
const TRIFLING = 1

/**
 * The difficulty of the challenge for a new visitor; 0 if the sale requires no proof. Counts the requests of each
 * network.
 */
export async function challengeDifficulty(known: SaleNow, visitor: string, wanted: JoinRequest, call: Call) {
  const { policy, sale } = known
  const applicant = await applicantOf(visitor, policy, call)
  const { action, access } = decide(policy, applicant, wanted)
  const least = leastDifficulty(access, action === 'prove', call)
  if (action === 'allow' || least === 0) return asksForProof(policy, call) ? TRIFLING : 0
  if (access.proof_of_work !== 'auto' && action !== 'prove') return least
  const networks = networksOf(addressOf(call) ?? '')
  return Math.min(MAX_DIFFICULTY, Math.round(least * shares.take(sale, networks, call.nowMs)))
}

/** True if any line requires a proof, because a page that is the same for all must then be able to make one. */
export const asksForProof = ({ lines }: Policy, call: Call) =>
  lines.some(({ access }) => leastDifficulty(access, false, call) > 0)

function leastDifficulty({ proof_of_work }: LineAccess, isRuled: boolean, { config }: Call): number {
  const asked = proof_of_work === 'off' ? 0 : proof_of_work === 'auto' ? USUAL_DIFFICULTY : proof_of_work
  return Math.max(config.POW_DIFFICULTY, asked, isRuled ? USUAL_DIFFICULTY : 0)
}

// -- Holders of a place, an admission or an order -------------------------------------------------------------------

/** Throws `refused` for a visitor who was blocked after they got their place. */
export async function refuseBlocked(visitor: string, policy: Policy, call: Call): Promise<void> {
  if (policy.blocks.length > 0 && isBlocked(policy, await applicantOf(visitor, policy, call))) refuse('refused')
}

/**
 * False if the turn of the place was missed, or if the place was given up. Before the draw no place is given up for
 * good. Throws `refused` for a visitor who was blocked meanwhile.
 */
export async function keepsPlace({ sub, num }: QueueClaims, now: SaleNow, call: Call): Promise<boolean> {
  await refuseBlocked(sub, now.policy, call)
  if (now.place(num).status === 'missed_turn') return false
  return !isDrawn(now.schedule) || !(await hasLeft(now, sub, num, call))
}

/** The place of a caller who asks where they are. */
interface AskedPlace {
  readonly place: Place
  /** False if the place was found by the caller's account. */
  readonly hasToken: boolean
}

/** Throws `invalid-token`, `signed-out`, or `too-many-requests` if the caller or their network asks too often. */
export async function requireAskedPlace(sale: string, call: Call): Promise<AskedPlace> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const held = placeOf(await authenticate(sale, call), call)
  const place = held ?? (await requireAccountPlace(sale, call))
  limitVisitor('status', place.claims.sub, call.config.STATUS_PER_VISITOR, call)
  return { place, hasToken: held !== null }
}

/**
 * Throws `refused` for a visitor who was blocked meanwhile, and `invalid-token` for a place that was given up before
 * its turn came.
 */
export async function refuseLost({ sub, num, sale }: QueueClaims, now: SaleNow, call: Call): Promise<void> {
  await refuseBlocked(sub, now.policy, call)
  if (now.place(num).status !== 'ready' || !(await hasLeft(now, sub, num, call))) return
  deletePlaceCookie(sale, call)
  refuse('invalid-token', { detail: 'This place was given up. Join again.' })
}

/**
 * The same check as `refuseBlocked`, for a call that needs no other data of the sale. The call continues while the
 * queue's objects are away, because the origin checks blocks too, though not by address.
 */
export async function refuseBlockedIn(
  sale: string,
  visitor: string | (() => Promise<string>),
  call: Call,
): Promise<void> {
  let now: SaleNow
  try {
    now = await publicNow(sale, call)
  } catch (error) {
    problemIn(error)
    return
  }
  if (now.policy.blocks.length === 0) return
  await refuseBlocked(typeof visitor === 'string' ? visitor : await visitor(), now.policy, call)
}

/**
 * The same check as `refuseBlocked`, for the token of a visitor or of an order. An order's token names no visitor, so
 * the cookie or the session does.
 */
export async function refuseBlockedHolder(token: string, call: Call): Promise<void> {
  const { iss, sub = '', sale } = claimsIn(token)
  if (!v.is(SaleId, sale)) return
  // The visitor is identified only if anybody is blocked, because that takes as long as the rest of the call.
  const visitor = iss === EDGE_ISSUER ? sub : async () => (await visitorOf(null, call)).name
  await refuseBlockedIn(sale, visitor, call)
}

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
