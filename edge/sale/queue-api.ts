/**
 * The queue's API: join, status, leave, challenge. A place is a signed token that contains all its data, so a status
 * needs only a signature check and simple arithmetic. Only the number of a new visitor comes from elsewhere.
 */
import type { QueueAnswer } from '../../shared/api/public.ts'
import { problemIn } from '../../shared/problem.ts'
import { isDrawn, isFinal, type Place as PlaceNow, pollAfterMs, pollMaxMs } from '../../shared/schedule.ts'
import { challengeDifficulty, refuseLost, requireAskedPlace } from '../admission/admit.ts'
import { takePlace } from '../admission/join.ts'
import { challengeFor } from '../admission/proofs/proof-of-work.ts'
import {
  type Call,
  isBrowser,
  isScript,
  lineParameter,
  refuse,
  seeOther,
  sendJson,
  sendNothing,
  wantsHtml,
} from '../http/call.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { JOINED } from '../pages/view.ts'
import { giveUpPlace, leaveLobby } from '../queue/numbers/numbers.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { lineNow, publicNow } from '../queue/sale-now.ts'
import {
  deleteAdmissionCookie,
  deletePlaceCookie,
  issueAdmission,
  lineOf,
  type Place,
  renewPlace,
} from '../visitor/credentials.ts'
import { authenticate, requirePlace, setSecretCookie, visitorOf } from '../visitor/visitor.ts'
import { joinedPage, pageAskingAgain } from './visitor-page.ts'

/**
 * The route `POST /sales/{sale}/queue`. A page's script shows its response, a plain form is redirected to a page, and
 * every other client gets JSON.
 */
export async function join(sale: string, call: Call): Promise<Response> {
  const { request } = call
  const publicly = await publicNow(sale, call)
  try {
    const { now, place, first } = await takePlace(publicly, call)
    const isForm = wantsHtml(request)
    if (isForm && isScript(request)) return await joinedPage(now, place, first, call)
    const joined = await respond(first ? 201 : 200, now, place, true, call)
    return isForm ? seeOther(`/sales/${sale}/line?${JOINED}`) : joined
  } catch (error) {
    return (wantsHtml(request) && (await pageAskingAgain(publicly, problemIn(error), call))) || Promise.reject(error)
  }
}

/**
 * The route `GET /sales/{sale}/queue/status`. Who is signed in needs no token: the response brings it, and later calls
 * with it need no look-up.
 */
export async function status(sale: string, call: Call): Promise<Response> {
  const { place, hasToken } = await requireAskedPlace(sale, call)
  const { claims } = place
  let now: SaleNow
  try {
    now = await lineNow(sale, lineOf(claims), call)
  } catch (error) {
    if (problemIn(error).status !== 503) throw error
    // The sale's state is unknown at this moment, but the token is enough to keep the place.
    return sendJson(bodyOf(claims, UNKNOWN, call))
  }
  await refuseLost(claims, now, call)
  const renewed = await renewPlace(place, now.schedule, call)
  return respond(200, now, renewed ?? place, !hasToken || renewed !== null, call)
}

/**
 * The route `DELETE /sales/{sale}/queue`. A visitor who returns after the opening joins at the end. Before the
 * opening they get their old number again, because leaving and joining would otherwise be a way to hold many.
 */
export async function leave(sale: string, call: Call): Promise<Response> {
  const { config } = call
  limitAddress('leave', config.JOINS_PER_ADDRESS, call)
  const { claims } = await requirePlace(sale, call)
  const { sub, num } = claims
  limitVisitor('leave', sub, config.JOINS_PER_VISITOR, call)
  // If the queue's objects cannot be reached, the visitor still leaves.
  const now = await lineNow(sale, lineOf(claims), call).catch((error) => void problemIn(error))
  if (now && !isFinal(now.schedule.phase))
    await (isDrawn(now.schedule) ? giveUpPlace(now, sub, num, call) : leaveLobby(now, sub, num, call))
  deletePlaceCookie(sale, call)
  deleteAdmissionCookie(sale, call)
  return sendNothing()
}

/** The route `POST /sales/{sale}/leave`: leaves by a plain form. */
export async function leaveForm(sale: string, call: Call): Promise<Response> {
  const left = await leave(sale, call)
  return wantsHtml(call.request) ? seeOther(`/sales/${sale}`) : left
}

/**
 * The route `GET /sales/{sale}/challenge`: the challenge to solve before joining, if the sale requires a proof of
 * work.
 */
export async function challenge(sale: string, call: Call): Promise<Response> {
  limitAddress('challenge', call.config.JOINS_PER_ADDRESS, call)
  // A visitor with a place also gets a challenge, because they need a new number if its turn has passed.
  const { place } = await authenticate(sale, call)
  const visitor = await visitorOf(place, call)
  const wanted = { line: lineParameter(call) }
  const difficulty = await challengeDifficulty(await publicNow(sale, call), visitor.name, wanted, call)
  if (difficulty === 0) refuse('not-found')
  const challenge = await challengeFor(sale, visitor.name, difficulty, call)
  setSecretCookie(visitor, call)
  return sendJson(challenge)
}

/** The response to join and status. It contains the place's token only if the caller does not have it yet. */
async function respond(
  httpStatus: 200 | 201,
  now: SaleNow,
  place: Place,
  isNew: boolean,
  call: Call,
): Promise<Response> {
  const current = now.place(place.claims.num)
  const admission = current.status === 'ready' ? await issueAdmission(place.claims, call) : null
  const inCookies = isBrowser(call.request)
  const body: QueueAnswer = {
    ...bodyOf(place.claims, current, call),
    queue_token: inCookies || !isNew ? undefined : place.token,
    admission_token: inCookies ? undefined : admission?.token,
    admission_expires_at: admission ? new Date(admission.claims.exp * 1000).toISOString() : undefined,
  }
  return sendJson(body, httpStatus)
}

const nothing = { position: null, position_in_queue: null, estimated_wait_time: null }
const UNKNOWN: PlaceNow = { status: 'paused', now_serving: 0, ...nothing }

function bodyOf(claims: Place['claims'], current: PlaceNow, { config }: Call): QueueAnswer {
  const { num: number } = claims
  const { status, position_in_queue, now_serving, estimated_wait_time } = current
  const poll_after_ms = Math.min(pollMaxMs(config.CLAIM_SECONDS), pollAfterMs(current, Math.random()))
  return { status, line: lineOf(claims), number, position_in_queue, now_serving, estimated_wait_time, poll_after_ms }
}
