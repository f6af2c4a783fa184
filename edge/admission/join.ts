/**
 * Joins a queue: identifies the caller, decides, and issues a number and a signed place. A caller who has a place
 * keeps it.
 */
import type { JoinCounts } from '../../shared/api/internal.ts'
import { problemIn } from '../../shared/problem.ts'
import { type Call, refuse } from '../http/call.ts'
import { isCrowded, limitAddress, limitJoins } from '../http/limits/rate-limits.ts'
import { traced } from '../http/trace.ts'
import { whereOf } from '../http/where.ts'
import { type NotTaken, type Taken, takeNumber } from '../queue/numbers/numbers.ts'
import { count, type SaleNow } from '../queue/sale-cache.ts'
import { inLine } from '../queue/sale-now.ts'
import { issuePlace, lineOf, type Place, renewPlace } from '../visitor/credentials.ts'
import { authenticate, placeOf, setSecretCookie, visitorOf } from '../visitor/visitor.ts'
import { admit, keepsPlace, refuseProof } from './admit.ts'
import { sourceOfJoin } from './join-request.ts'

/** A visitor's place in the line of `now`. */
interface TakenPlace {
  readonly now: SaleNow
  readonly place: Place
  /** False if the visitor had the number before. */
  readonly first: boolean
}

/** The place of a caller who joins: a new one, or the existing one, renewed. Counts the result. */
export async function takePlace(publicly: SaleNow, call: Call): Promise<TakenPlace> {
  const counts: Partial<JoinCounts> = {}
  try {
    const caller = await authenticate(publicly.sale, call)
    if (caller.place) limitAddress('rejoin', call.config.STATUS_PER_ADDRESS, call)
    else await limitJoins(call)
    const held = placeOf(caller, call)
    if (!held) return await newPlace(publicly, null, counts, call)
    const now = await inLine(publicly, lineOf(held.claims), call)
    return (await keepsPlace(held.claims, now, call))
      ? { now, place: (await renewPlace(held, now.schedule, call)) ?? held, first: false }
      : await newPlace(now, held, counts, call)
  } catch (error) {
    const { type } = problemIn(error)
    const reason = type.slice('/problems/'.length)
    if (REFUSALS.has(reason)) counts.refusals = { [reason]: 1 }
    if (reason === 'proof-required') countNetwork(counts, [0, 1], call)
    throw error
  } finally {
    count(publicly, counts, call)
  }
}

/** The refusals that are counted: those with a reason in the visitor or in the edge, not in the sale. */
const REFUSALS = new Set([
  ...['refused', 'sign-in-required', 'invitation-required', 'proof-required', 'too-many-requests'],
  'try-again',
])

async function newPlace(
  known: SaleNow,
  lost: Place | null,
  counts: Partial<JoinCounts>,
  call: Call,
): Promise<TakenPlace> {
  const { now, visitor, proof, hasProved } = await admit(known, await visitorOf(lost, call), counts, call)
  const missed = lost && { line: known.line, number: lost.claims.num }
  const recorded = visitor.known ? { name: visitor.name, paidWith: proof?.paidWith, missed } : null
  const taken = await traced('take number', () => takeNumber(now, recorded, call), describeTaken, call)
  if (typeof taken === 'string') return refuseNumber(taken, now)
  const { first } = taken
  // A visitor who joins again keeps the source that brought them.
  const src = lost?.claims.src ?? (await sourceOfJoin(call))
  if (first) {
    const crowded = isCrowded(taken.now.queue, taken.now.facts.limit_per_visitor, call) ? 1 : 0
    Object.assign(counts, { joins: 1, crowded, proofs: hasProved ? 1 : 0, ...(src && { sources: { [src]: 1 } }) })
    countNetwork(counts, [1, 0], call)
  }
  setSecretCookie(visitor, call)
  const claims = { sub: visitor.name, ...(src && { src }), num: taken.number }
  return { now: taken.now, place: await issuePlace(claims, taken.now.schedule, call), first }
}

/** Counts a join, or one without a proof, for its network. */
function countNetwork(counts: Partial<JoinCounts>, counted: [joined: number, unproved: number], call: Call): void {
  const { asn } = whereOf(call)
  if (asn !== null) counts.networks = { [asn]: counted }
}

/** An unknown visitor gets a number of this isolate's block, mostly from memory. */
function describeTaken(taken: Taken | NotTaken | undefined) {
  if (taken === undefined) return { attributes: {}, isError: true }
  const outcome = typeof taken === 'string' ? taken : taken.first ? 'new' : 'again'
  return { attributes: { 'queue.outcome': outcome }, isError: taken === 'unreachable' }
}

function refuseNumber(reason: NotTaken, now: SaleNow): never {
  if (reason === 'paid-already') return refuseProof(now)
  return reason === 'closed'
    ? refuse('try-again', { detail: 'Nobody can join at this moment.', retry_after_seconds: 2 })
    : refuse('try-again', { detail: 'The line could not be reached.', retry_after_seconds: 1 })
}
