/**
 * The line: joining it, asking where one stands, leaving it. A place is a signed token that says everything, so that
 * asking is a signature check and one line of arithmetic; only a new visitor's number comes from somewhere else.
 */
import type { QueueAnswer } from '../../shared/api/public.ts'
import { type Problem, problem, problemIn } from '../../shared/problem.ts'
import { isDrawn, isFinal, type Place, pollAfterMs, preQueueOpensAtMs } from '../../shared/schedule.ts'
import { ADMISSION, ADMISSION_TTL_SECONDS, QUEUE, type QueueClaims, signToken } from '../../shared/tokens.ts'
import { cookie, noCookie } from '../auth/cookies.ts'
import { challengeFor, proofOf, proofRequired } from '../auth/proof-of-work.ts'
import { limited, limitedByAddress } from '../auth/rate-limits.ts'
import { type Presented, presentedPlace, visitorCookies, visitorOf } from '../auth/visitor.ts'
import { type Call, isBrowser, NO_STORE, problemAnswer, unkeptAnswer, withCookies } from '../http.ts'
import { forget, type Given, nextNumber, numberOf } from '../queue/numbers.ts'
import { type SaleNow, saleNow } from '../queue/sale-cache.ts'

/** How long after the opening (or the end, where one is set) a place in line is still good. */
const PLACE_TTL_SECONDS = 24 * 3600
/** A place is made to last longer only if it is by so much. */
const LONGER_SECONDS = 3600

/** With this a form's join leads to the page, which says what is wrong where it comes without the place. */
export const JOINED = 'joined'

/** `POST /sales/{sale}/queue` */
export async function join(sale: string, call: Call): Promise<Response> {
  const { config, nowMs } = call
  const refused = limitedByAddress('join', config.limits.joinsPerAddress, call)
  if (refused) return problemAnswer(refused)
  const now = await saleNow(sale, call)
  const presented = await presentedPlace(sale, call)
  if (presented.kind === 'bad' || presented.kind === 'signed-out') return noPlace(presented, sale, call)
  const place = presented.kind === 'place' ? presented.claims : null
  const passed = place && now.place(place.num).status === 'missed_turn' ? place : null
  if (presented.kind === 'place' && !passed) {
    const { claims, token } = (await longerPlace(now, presented.claims, call)) ?? presented
    return answer(200, now, claims, call, token)
  }

  const { phase } = now.schedule
  if (isFinal(phase)) return problemAnswer(problem(phase === 'ended' ? 'ended' : 'sold-out'))
  if (phase === 'upcoming') return problemAnswer(notOpen(now))
  const given = await newPlace(sale, now, passed, call)
  if ('type' in given) return problemAnswer(given)
  const iat = Math.floor(nowMs / 1000)
  const claims = { sub: given.visitor, sale, num: given.number, iat, exp: placeExpires(now, iat) }
  const token = await signToken(QUEUE, config.keys.queue, claims)
  return answer(given.first ? 201 : 200, now, claims, call, token, visitorCookies(given.secret, call))
}

/** Whose number it is, and the secret to know them by again, where there is one. */
interface Named {
  readonly visitor: string
  readonly secret: string | null
}

/** A number for a visitor without one, or instead of one whose turn has passed. */
async function newPlace(
  sale: string,
  now: SaleNow,
  passed: QueueClaims | null,
  call: Call,
): Promise<(Given & Named) | Problem> {
  const { config, nowMs } = call
  const proof = config.powDifficulty > 0 ? await proofOf(sale, call) : null
  if (proof && 'type' in proof) return proof
  const visitor = passed ? { name: passed.sub, secret: null, known: true } : await visitorOf(call)
  // A proof is made out to somebody; whoever is somebody else needs their own.
  if (proof && visitor.known && proof.visitor !== visitor.name) return proofRequired(sale)
  // Whoever keeps no cookies is the one their proof was made out to.
  const { name, secret } = proof && !visitor.known ? { name: proof.visitor, secret: null } : visitor
  const named = { visitor: name, secret }
  if (!visitor.known && !proof) return { ...(await nextNumber(sale, call)), ...named }
  const tooMany = limited('join', name, config.limits.joinsPerVisitor, nowMs)
  if (tooMany) return tooMany

  const request = { sale, visitor: name, ...(proof ? { paid_with: proof.paidWith } : {}) }
  const given = await numberOf(passed ? { ...request, instead_of: passed.num } : request, call)
  // Somebody who lost their token finds their old number, and its turn may have passed.
  const old = !given.first && now.place(given.number).status === 'missed_turn'
  return { ...(old ? await numberOf({ ...request, instead_of: given.number }, call) : given), ...named }
}

/** `GET /sales/{sale}/queue/status` */
export async function status(sale: string, call: Call): Promise<Response> {
  const { limits } = call.config
  const refused = limitedByAddress('status', limits.statusPerAddress, call)
  if (refused) return problemAnswer(refused)
  const presented = await presentedPlace(sale, call)
  if (presented.kind !== 'place') return noPlace(presented, sale, call)
  const tooMany = limited('status', presented.claims.sub, limits.statusPerVisitor, call.nowMs)
  if (tooMany) return problemAnswer(tooMany)
  const now = await saleNow(sale, call).catch(problemIn)
  if ('type' in now) return now.status === 503 ? placeKept(presented.claims) : problemAnswer(now)
  const longer = await longerPlace(now, presented.claims, call)
  return answer(200, now, longer?.claims ?? presented.claims, call, longer?.token ?? null)
}

/**
 * `DELETE /sales/{sale}/queue`. Whoever comes back after the opening joins at the end; before it they have the lot they
 * had, or leaving and joining again would be a way to hold many.
 */
export async function leave(sale: string, call: Call): Promise<Response> {
  const { limits } = call.config
  const refused = limitedByAddress('leave', limits.joinsPerAddress, call)
  if (refused) return problemAnswer(refused)
  const presented = await presentedPlace(sale, call)
  if (presented.kind !== 'place') return noPlace(presented, sale, call)
  const tooMany = limited('leave', presented.claims.sub, limits.joinsPerVisitor, call.nowMs)
  if (tooMany) return problemAnswer(tooMany)
  const now = await saleNow(sale, call).catch(problemIn)
  if (!('type' in now) && !isFinal(now.schedule.phase)) {
    const { sub, num } = presented.claims
    if (isDrawn(now.schedule)) await forget(sale, sub, call)
    else await numberOf({ sale, visitor: sub, has: num }, call).catch(problemIn)
  }
  const response = new Response(null, { status: 204, headers: { 'cache-control': NO_STORE } })
  return withCookies(response, placeForgotten(sale, call))
}

/** `GET /sales/{sale}/challenge`: what to solve before joining, where a proof of work is asked for. */
export async function challenge(sale: string, call: Call): Promise<Response> {
  const refused = limitedByAddress('challenge', call.config.limits.joinsPerAddress, call)
  if (refused) return problemAnswer(refused)
  if (call.config.powDifficulty === 0) return problemAnswer(problem('not-found'))
  const { challenge, cookies } = await challengeFor(sale, call)
  return withCookies(unkeptAnswer(challenge), cookies)
}

/** The cookies that make a browser forget its place. */
export function placeForgotten(sale: string, { secure }: Call): string[] {
  return [noCookie(`queue-${sale}`, secure), noCookie(`admission-${sale}`, secure)]
}

/** An admission for the holder of a place whose turn has come. */
export async function admit(claims: QueueClaims, { config, nowMs }: Call) {
  const iat = Math.floor(nowMs / 1000)
  const exp = iat + ADMISSION_TTL_SECONDS
  const { sub, sale, num } = claims
  const token = await signToken(ADMISSION, config.keys.admission, {
    sub,
    sale,
    num,
    jti: crypto.randomUUID(),
    iat,
    exp,
  })
  return { token, exp }
}

/** Join and status answer alike; `token` is the place's, where it is to be told; `others`, cookies to send besides. */
async function answer(
  httpStatus: 200 | 201,
  now: SaleNow,
  claims: QueueClaims,
  call: Call,
  token: string | null,
  others: readonly string[] = [],
): Promise<Response> {
  const place = now.place(claims.num)
  const browser = isBrowser(call.request)
  const admission = place.status === 'ready' ? await admit(claims, call) : null
  const body: QueueAnswer = {
    ...placeTold(place, claims.num),
    queue_token: browser || token === null ? undefined : token,
    admission_token: browser || !admission ? undefined : admission.token,
    admission_expires_at: admission ? new Date(admission.exp * 1000).toISOString() : undefined,
  }
  const cookies = [...others]
  if (token !== null) cookies.push(placeCookie(claims, token, call))
  if (admission) cookies.push(admissionCookie(claims.sale, admission.token, call))
  return withCookies(unkeptAnswer(body, httpStatus), cookies)
}

/** The cookie in which a browser keeps its place. */
export function placeCookie({ sale, exp }: QueueClaims, token: string, { secure, nowMs }: Call): string {
  return cookie(`queue-${sale}`, token, secure, exp - Math.floor(nowMs / 1000))
}

/**
 * The same place for longer, where an opening or an end was put off since it was signed, or its holder has waited on for
 * a while; null where it lasts. Whoever waits must not find, when their turn comes, that their place has run out.
 */
export async function longerPlace(
  now: SaleNow,
  claims: QueueClaims,
  { config, nowMs }: Call,
): Promise<{ readonly claims: QueueClaims; readonly token: string } | null> {
  const exp = placeExpires(now, Math.floor(nowMs / 1000))
  if (exp - claims.exp < LONGER_SECONDS) return null
  const longer = { ...claims, exp }
  return { claims: longer, token: await signToken(QUEUE, config.keys.queue, longer) }
}

export function admissionCookie(sale: string, token: string, { secure }: Call): string {
  return cookie(`admission-${sale}`, token, secure, ADMISSION_TTL_SECONDS)
}

/** A bad token is never answered with another one; a browser's bad cookie is taken away, so that it can join anew. */
function noPlace({ kind }: Presented, sale: string, call: Call): Response {
  if (kind === 'signed-out') return problemAnswer(problem(kind))
  return problemAnswer(problem('invalid-token'), [noCookie(`queue-${sale}`, call.secure)])
}

/** Nothing is known of the sale at this moment, but the place is in the token. */
function placeKept(claims: QueueClaims): Response {
  const nothing = { position: null, position_in_queue: null, now_serving: 0, estimated_wait_time: null }
  const body: QueueAnswer = placeTold({ status: 'paused', ...nothing }, claims.num)
  return unkeptAnswer(body)
}

/** What join and status tell of a place. */
function placeTold(place: Place, number: number) {
  const { status, position_in_queue, now_serving, estimated_wait_time } = place
  const poll_after_ms = pollAfterMs(place, Math.random())
  return { status, number, position_in_queue, now_serving, estimated_wait_time, poll_after_ms }
}

function notOpen({ schedule, atMs }: SaleNow): Problem {
  const opensInMs = preQueueOpensAtMs(schedule) - atMs
  return problem('not-open', {
    opens_at: schedule.opens_at,
    pre_queue_opens_at: schedule.pre_queue_opens_at,
    retry_after_seconds: Math.max(1, Math.min(60, opensInMs / 1000)),
  })
}

function placeExpires({ schedule }: SaleNow, nowSeconds: number): number {
  const lastMs = Math.max(schedule.anchor_at_ms, schedule.ends_at_ms ?? 0)
  return Math.max(nowSeconds, Math.floor(lastMs / 1000)) + PLACE_TTL_SECONDS
}
