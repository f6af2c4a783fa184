/**
 * The line: joining it, asking for one's status, leaving it. A place is a signed token that says everything, so a status
 * is a signature check and one line of arithmetic; only a new visitor's number comes from somewhere else.
 */
import { PUBLIC_LINE, roomName } from '../../shared/api/access.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { problemIn } from '../../shared/problem.ts'
import { isDrawn, isFinal, type Place as PlaceNow, pollAfterMs, preQueueOpensAtMs } from '../../shared/schedule.ts'
import { bestLine, challengeDifficulty, refuseBlocked, requireAccess } from '../access/admit.ts'
import { redeemInvitation } from '../access/invitations.ts'
import { readJoin } from '../access/join-request.ts'
import { challengeFor, refuseProof, requireProof } from '../access/proof-of-work.ts'
import { limitAddress, limitJoins, limitVisitor } from '../access/rate-limits.ts'
import { requireTurnstile } from '../access/turnstile.ts'
import {
  deleteAdmissionCookie,
  deletePlaceCookie,
  issueAdmission,
  issuePlace,
  type Place,
  renewPlace,
} from '../auth/credentials.ts'
import { authenticate, placeOf, requirePlace, setSecretCookie, type Visitor, visitorOf } from '../auth/visitor.ts'
import { type Call, isBrowser, lineAsked, refuse, sendJson, sendNothing } from '../http.ts'
import { findNumber, forgetLine, giveUp, hasLeft, lineOf, nextNumber, numberOf, refuseLeft } from '../queue/numbers.ts'
import { count, type SaleNow, saleNow } from '../queue/sale-cache.ts'

/** `POST /sales/{sale}/queue` */
export async function join(sale: string, call: Call): Promise<Response> {
  const { now, place, first } = await takePlace(sale, call)
  return respond(first ? 201 : 200, now, place, true, call)
}

/** The place of whoever joins: a new one, or the one that they have, renewed. */
export async function takePlace(sale: string, call: Call) {
  try {
    const taken = await placeOrRefusal(sale, call)
    if (taken.first) count(sale, { joins: 1 }, call)
    return taken
  } catch (error) {
    const { type } = problemIn(error)
    const reason = type.slice('/problems/'.length)
    if (REFUSALS.has(reason)) count(sale, { refusals: { [reason]: 1 } }, call)
    throw error
  }
}

/** Those that are counted: what is asked of a visitor, and not what becomes of the sale. */
const REFUSALS = new Set(['refused', 'sign-in-required', 'invitation-required', 'proof-required', 'too-many-requests'])

async function placeOrRefusal(sale: string, call: Call) {
  const caller = await authenticate(sale, call)
  if (caller.place) limitAddress('rejoin', call.config.STATUS_PER_ADDRESS, call)
  else await limitJoins(call)
  const held = placeOf(sale, caller, call)
  const now = await saleNow(sale, call, held?.claims.line)
  if (held) await refuseBlocked(held.claims.sub, now.policy, call)
  return held && !(await isGone(held, now, call))
    ? { now, place: (await renewPlace(held, now.schedule, call)) ?? held, first: false }
    : newPlace(sale, now, held, call)
}

const hasPassed = (number: number, now: SaleNow) => now.place(number).status === 'missed_turn'

/** True of a place whose turn was missed, or which was given up: before the draw nobody can. */
async function isGone({ claims }: Place, now: SaleNow, call: Call): Promise<boolean> {
  return hasPassed(claims.num, now) || (isDrawn(now.schedule) && (await hasLeft(claims, now.ticketShards, call)))
}

/** The place of a caller who has none, or has lost the one they held. */
async function newPlace(sale: string, known: SaleNow, lost: Place | null, call: Call) {
  refuseIfFinal(known)
  const { config } = call
  // Also where nothing is asked for: what cannot be read is refused before anything is done.
  const wanted = await readJoin(call)
  const asking = await visitorOf(lost, call)
  const best = await bestLine(known.policy, asking.name, wanted, call)
  const now = best === known.line ? known : await saleNow(sale, call, best)
  refuseUnlessJoinable(now)
  const { difficulty, turnstile, byInvitation } = await requireAccess(sale, asking.name, now, call)
  const oneOf = now.policy.lines.length > 1 ? best : null
  const proof = difficulty > 0 ? await requireProof(sale, oneOf, difficulty, call) : null
  // A proof is made out to one visitor: another known one needs their own; whoever keeps no cookies is that visitor.
  if (proof && asking.known && proof.visitor !== asking.name) refuseProof(sale, oneOf)
  const visitor: Visitor = proof && !asking.known ? { name: proof.visitor, cookie: null, known: true } : asking
  const isKnown =
    visitor.known ||
    (visitor.untagged && (await findNumber(roomName(sale, best), visitor.name, now.ticketShards, call)) !== null)
  if (isKnown) limitVisitor('join', visitor.name, config.JOINS_PER_VISITOR, call)
  if (turnstile) await requireTurnstile(sale, call)
  if (byInvitation) {
    // Also where the join fails: the invitation is this visitor's from then on, and their next try must be theirs.
    setSecretCookie(visitor, call)
    await redeemInvitation(sale, visitor.name, call)
  }
  if (!isKnown) {
    const { number, first } = await nextNumber(roomName(sale, best), now.ticketShards, call)
    if (turnstile) count(sale, { proofs: 1 }, call)
    if (!byInvitation) setSecretCookie(visitor, call)
    return { now, place: await issuePlace(visitor.name, number, now.schedule, call), first }
  }
  const leaves = lost ? known.line : undefined
  const line = await lineOf(sale, visitor.name, { wanted: best, leaves }, now, call)
  const own = line === best ? now : await saleNow(sale, call, line)
  const instead_of = line === leaves ? lost?.claims.num : undefined
  const request = { sale: roomName(sale, line), visitor: visitor.name, paid_with: proof?.paidWith, instead_of }
  const { number, first } = await numberOf(request, own.ticketShards, call, (found) => hasPassed(found, own))
  if ((proof || turnstile) && first) count(sale, { proofs: 1 }, call)
  if (!byInvitation) setSecretCookie(visitor, call)
  return { now: own, place: await issuePlace(visitor.name, number, own.schedule, call), first }
}

function refuseIfFinal({ schedule: { phase } }: SaleNow): void {
  if (isFinal(phase)) refuse(phase === 'ended' ? 'ended' : 'sold-out')
}

function refuseUnlessJoinable(now: SaleNow): void {
  refuseIfFinal(now)
  const { schedule, atMs } = now
  const { phase, opens_at, pre_queue_opens_at } = schedule
  if (phase !== 'upcoming') return
  const opensInSeconds = (preQueueOpensAtMs(schedule) - atMs) / 1000
  const retry_after_seconds = Math.max(1, Math.min(60, opensInSeconds))
  refuse('not-open', { opens_at, pre_queue_opens_at, retry_after_seconds })
}

/** `GET /sales/{sale}/queue/status` */
export async function status(sale: string, call: Call): Promise<Response> {
  const { config } = call
  limitAddress('status', config.STATUS_PER_ADDRESS, call)
  const place = await requirePlace(sale, call)
  limitVisitor('status', place.claims.sub, config.STATUS_PER_VISITOR, call)
  let now: SaleNow
  try {
    now = await saleNow(sale, call, place.claims.line)
  } catch (error) {
    if (problemIn(error).status !== 503) throw error
    // Nothing is known of the sale at this moment, but the place is in the token.
    return sendJson(bodyOf(place.claims, UNKNOWN))
  }
  await refuseBlocked(place.claims.sub, now.policy, call)
  if (now.place(place.claims.num).status === 'ready') await refuseLeft(place.claims, now.ticketShards, call)
  const renewed = await renewPlace(place, now.schedule, call)
  return respond(200, now, renewed ?? place, renewed !== null, call)
}

/**
 * `DELETE /sales/{sale}/queue`. Whoever comes back after the opening joins at the end; before it they have the lot they
 * had, or leaving and joining again would be a way to hold many.
 */
export async function leave(sale: string, call: Call): Promise<Response> {
  const { config } = call
  limitAddress('leave', config.JOINS_PER_ADDRESS, call)
  const { claims } = await requirePlace(sale, call)
  const { sub, num } = claims
  limitVisitor('leave', sub, config.JOINS_PER_VISITOR, call)
  try {
    const now = await saleNow(sale, call, claims.line)
    const { schedule, ticketShards, line } = now
    if (isDrawn(schedule) && !isFinal(schedule.phase))
      await Promise.all([giveUp(claims, ticketShards, call), forgetLine(sale, sub, now, call)])
    else if (!isFinal(schedule.phase))
      await Promise.all([
        numberOf({ sale: roomName(sale, line), visitor: sub, has: num }, ticketShards, call),
        lineOf(sale, sub, { wanted: line }, now, call),
      ])
  } catch (error) {
    // Without the line's objects the visitor leaves all the same.
    problemIn(error)
  }
  deletePlaceCookie(sale, call)
  deleteAdmissionCookie(sale, call)
  return sendNothing()
}

/** `GET /sales/{sale}/challenge`: what to solve before joining, where a proof of work is asked for. */
export async function challenge(sale: string, call: Call): Promise<Response> {
  limitAddress('challenge', call.config.JOINS_PER_ADDRESS, call)
  // A holder too: they may need a number instead of one whose turn has passed.
  const { place } = await authenticate(sale, call)
  const visitor = await visitorOf(place, call)
  const known = await saleNow(sale, call)
  const line = await bestLine(known.policy, visitor.name, { line: lineAsked(call) }, call)
  const now = line === known.line ? known : await saleNow(sale, call, line)
  const difficulty = await challengeDifficulty(sale, visitor.name, now, call)
  if (difficulty === 0) refuse('not-found')
  const challenge = await challengeFor(sale, visitor.name, difficulty, call)
  setSecretCookie(visitor, call)
  return sendJson(challenge)
}

/** What join and status respond; the place's token only where it is new to the caller. */
async function respond(
  httpStatus: 200 | 201,
  now: SaleNow,
  place: Place,
  isNew: boolean,
  call: Call,
): Promise<Response> {
  const { num } = place.claims
  const current = now.place(num)
  const admission = current.status === 'ready' ? await issueAdmission(place.claims, call) : null
  const inCookies = isBrowser(call.request)
  const body: QueueAnswer = {
    ...bodyOf(place.claims, current),
    queue_token: inCookies || !isNew ? undefined : place.token,
    admission_token: inCookies ? undefined : admission?.token,
    admission_expires_at: admission ? new Date(admission.claims.exp * 1000).toISOString() : undefined,
  }
  return sendJson(body, httpStatus)
}

const nothing = { position: null, position_in_queue: null, estimated_wait_time: null }
const UNKNOWN: PlaceNow = { status: 'paused', now_serving: 0, ...nothing }

function bodyOf({ num: number, line = PUBLIC_LINE }: Place['claims'], current: PlaceNow): QueueAnswer {
  const { status, position_in_queue, now_serving, estimated_wait_time } = current
  const poll_after_ms = pollAfterMs(current, Math.random())
  return { status, line, number, position_in_queue, now_serving, estimated_wait_time, poll_after_ms }
}
