/**
 * Joining a line: the checks on a newcomer, in the order of what they cost, then a number and a signed place. A caller who
 * holds a place keeps it.
 */
import { roomName } from '../../shared/api/access.ts'
import { problemIn } from '../../shared/problem.ts'
import { isDrawn, isFinal, preQueueOpensAtMs } from '../../shared/schedule.ts'
import { type Call, refuse } from '../call.ts'
import { findNumber, type Given, hasLeft, lineOf, nextNumber, numberOf } from '../queue/numbers.ts'
import { count, type SaleNow, saleNow } from '../queue/sale-cache.ts'
import { issuePlace, type Place, renewPlace } from '../visitor/credentials.ts'
import { authenticate, placeOf, setSecretCookie, type Visitor, visitorOf } from '../visitor/visitor.ts'
import { bestLine, refuseBlocked, requireAccess } from './admit.ts'
import { readJoin } from './join-request.ts'
import { limitAddress, limitJoins, limitVisitor } from './limits/rate-limits.ts'
import { redeemInvitation } from './proofs/invitation.ts'
import { type Proof, refuseProof, requireProof } from './proofs/proof-of-work.ts'
import { requireTurnstile } from './proofs/turnstile.ts'

/** A visitor's place, in the line of `now`. */
interface TakenPlace {
  readonly now: SaleNow
  readonly place: Place
  /** False if the visitor had the number before. */
  readonly first: boolean
}

/** The place of a caller who joins: a new one, or the one that they have, renewed. Counts joins and refusals. */
export async function takePlace(sale: string, call: Call): Promise<TakenPlace> {
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

/** The refusals that are counted: those for a reason of the visitor's, not of the sale's. */
const REFUSALS = new Set(['refused', 'sign-in-required', 'invitation-required', 'proof-required', 'too-many-requests'])

async function placeOrRefusal(sale: string, call: Call): Promise<TakenPlace> {
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

/** True of a place whose turn was missed, or which was given up. Before the draw a place is never given up for good. */
async function isGone({ claims }: Place, now: SaleNow, call: Call): Promise<boolean> {
  return hasPassed(claims.num, now) || (isDrawn(now.schedule) && (await hasLeft(claims, now.ticketShards, call)))
}

/** The place of a caller who has none, or whose turn has passed (`lost`). */
async function newPlace(sale: string, known: SaleNow, lost: Place | null, call: Call): Promise<TakenPlace> {
  refuseIfFinal(known)
  // An unreadable request is refused before anything is done, also where the sale needs nothing of it.
  const wanted = await readJoin(call)
  const asking = await visitorOf(lost, call)
  const best = await bestLine(known.policy, asking.name, wanted, call)
  const now = best === known.line ? known : await saleNow(sale, call, best)
  refuseUnlessJoinable(now)
  const newcomer = await meetRequirements(sale, now, asking, call)
  const { visitor, proof, turnstile, byInvitation } = newcomer
  const given = newcomer.isKnown
    ? await numberOfKnown(sale, now, newcomer, lost && { line: known.line, number: lost.claims.num }, call)
    : { now, ...(await nextNumber(roomName(sale, best), now.ticketShards, call)) }
  if ((proof || turnstile) && given.first) count(sale, { proofs: 1 }, call)
  if (!byInvitation) setSecretCookie(visitor, call)
  return {
    now: given.now,
    place: await issuePlace(visitor.name, given.number, given.now.schedule, call),
    first: given.first,
  }
}

/** A visitor who may join. */
interface Newcomer {
  readonly visitor: Visitor
  /** True if a ticket shard may have recorded the visitor. */
  readonly isKnown: boolean
  readonly proof: Proof | null
  readonly turnstile: boolean
  readonly byInvitation: boolean
}

/** Checks what the line requires of a newcomer, and who they are by then. Throws what requireAccess and the checks throw. */
async function meetRequirements(sale: string, now: SaleNow, asking: Visitor, call: Call): Promise<Newcomer> {
  const { difficulty, turnstile, byInvitation } = await requireAccess(sale, asking.name, now, call)
  const oneOf = now.policy.lines.length > 1 ? now.line : null
  const proof = difficulty > 0 ? await requireProof(sale, oneOf, difficulty, call) : null
  // A proof is for one visitor. Another known visitor needs their own; a client without cookies is the visitor of its proof.
  if (proof && asking.known && proof.visitor !== asking.name) refuseProof(sale, oneOf)
  const visitor: Visitor = proof && !asking.known ? { name: proof.visitor, cookie: null, known: true } : asking
  const isKnown =
    visitor.known ||
    (visitor.untagged === true &&
      (await findNumber(roomName(sale, now.line), visitor.name, now.ticketShards, call)) !== null)
  if (isKnown) limitVisitor('join', visitor.name, call.config.JOINS_PER_VISITOR, call)
  if (turnstile) await requireTurnstile(sale, call)
  if (byInvitation) {
    // Set even if the join fails: the invitation now belongs to this visitor, who must come back as the same one.
    setSecretCookie(visitor, call)
    await redeemInvitation(sale, visitor.name, call)
  }
  return { visitor, isKnown, proof, turnstile, byInvitation }
}

/** The number of a known visitor, in the line that they chose first; a new one instead of the number that they have lost. */
async function numberOfKnown(
  sale: string,
  now: SaleNow,
  { visitor, proof }: Newcomer,
  lost: { readonly line: string; readonly number: number } | null,
  call: Call,
): Promise<Given & { readonly now: SaleNow }> {
  const line = await lineOf(sale, visitor.name, { wanted: now.line, leaves: lost?.line }, now, call)
  const own = line === now.line ? now : await saleNow(sale, call, line)
  const instead_of = line === lost?.line ? lost.number : undefined
  const request = { sale: roomName(sale, line), visitor: visitor.name, paid_with: proof?.paidWith, instead_of }
  const given = await numberOf(request, own.ticketShards, call, (found) => hasPassed(found, own))
  return { ...given, now: own }
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
