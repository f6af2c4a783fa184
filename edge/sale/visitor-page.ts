/** A visitor's own page: their place, their turn, or what they requested. No cache stores it. */
import { type Problem, problem, problemIn, problemResponse } from '../../shared/problem.ts'
import { isFinal } from '../../shared/schedule.ts'
import { refuseBlocked, refuseLost } from '../admission/admit.ts'
import { readJoin, typedIn } from '../admission/join-request.ts'
import { faultIn } from '../admission/proofs/invitation.ts'
import { hallFacts } from '../hall/hall-facts.ts'
import { type Call, hasParameter, seeOther } from '../http/call.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { renderSale } from '../pages/index.ts'
import { JOINED, type RequestedPage, type SaleView, type Shows } from '../pages/view.ts'
import { waitingPage } from '../protect/cf-waiting-room.ts'
import { requestedPage } from '../protect/protect.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { ownHeadersOf, viewOf } from '../view/respond.ts'
import { SIGN_OUT_PATH } from '../visitor/account-session.ts'
import { setJoinedCookie } from '../visitor/cookies.ts'
import {
  type Admission,
  deleteAdmissionCookie,
  deletePlaceCookie,
  findAdmission,
  issueAdmission,
  latestOrder,
  lineOf,
  type Place,
  renewPlace,
} from '../visitor/credentials.ts'
import { keepLanguage } from '../visitor/language.ts'
import { sessionOf, signInUrl } from '../visitor/session.ts'
import { accountPlace, authenticate, type Caller, isVisitor, visitorOf } from '../visitor/visitor.ts'

/** The parameter of a page that confirms a request for a mail. */
export const MAILED = 'mailed'

/**
 * The route `GET /sales/{sale}/line`. Without a place it shows the landing page's content, and after the sale the
 * final page.
 */
export async function showLine(sale: string, call: Call): Promise<Response> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const now = await publicNow(sale, call)
  const { phase } = now.schedule
  if (!isFinal(phase)) return visitorPage(now, null, call)
  // The response is not a redirect, because a cached landing page may redirect back here until it is purged.
  return pageOf(await viewOf(now, null, { kind: 'final', phase }, call), 200)
}

/** The response to a join by a page's script, which shows it, so that a join needs one request. */
export async function joinedPage(now: SaleNow, place: Place, first: boolean, call: Call): Promise<Response> {
  const { sale, num } = place.claims
  const isReady = now.place(num).status === 'ready'
  const admission = isReady ? await issueAdmission(place.claims, call) : null
  const onwards = admission && (await onwardsOf(admission, call))
  if (onwards !== null) return seeOther(onwards)
  // A page without scripts of ours cannot be the response to one.
  if (waitingPage(now, num, call)) return seeOther(`/sales/${sale}/line`)
  const shows = ownPlace(num, admission?.claims.exp, now)
  const hall = shows.kind === 'turn' ? { hall: await hallFacts(now, call) } : {}
  const view = { ...(await viewOf(now, num, shows, call)), ...hall, order: latestOrder(sale, call) }
  setJoinedCookie(call)
  return pageOf(await withAccount(view, call), first ? 201 : 200)
}

/** The address to which an admitted visitor goes on; null for whoever buys here. */
async function onwardsOf({ claims }: Admission, call: Call): Promise<string | null> {
  for (const { addressFor } of call.onwards) {
    const address = await addressFor(claims, call)
    if (address !== null) return address
  }
  return requestedPage(claims.sale, call)
}

/** The problems of a join that its form can show, and that the visitor can correct or wait for. */
const MENDABLE = /^\/problems\/((sign-in|proof)-required|too-many-requests|try-again)$/

/**
 * The landing page with the problem of a join in its form; null for a problem that another attempt does not solve.
 */
export async function pageAskingAgain(publicly: SaleNow, refusal: Problem, call: Call): Promise<Response | null> {
  const fault = faultIn(refusal)
  if (fault === null && !MENDABLE.test(refusal.type)) return null
  // The join may have been refused before its body was read.
  await readJoin(call).catch(() => {})
  const view = await viewOf(publicly, null, { kind: 'landing' }, call)
  const { invitation: code = '' } = typedIn(call)
  const asked = {
    order: latestOrder(publicly.sale, call),
    refusal,
    invitation: { code, fault },
    // A rule may require a proof even if the sale's own page does not.
    ...(refusal.kind === 'altcha' ? { challenge: String(refusal.challenge) } : {}),
  }
  return pageOf(await withAccount({ ...view, ...asked }, call), refusal.status, problemResponse(refusal).headers)
}

/** Adds the name under which the visitor is signed in at the shop, on pages that ask for it. */
async function withAccount(view: SaleView, call: Call): Promise<SaleView> {
  if (view.signIn === undefined && view.othersSignIn === undefined) return view
  // If the shop's keys are missing, nobody counts as signed in. Joining reports that error.
  const session = await sessionOf(call).catch((error) => void problemIn(error))
  const { name, email } = session?.claims ?? {}
  if (!session) return view
  const signedInAs = [name, email].find((one) => typeof one === 'string') ?? ''
  return { ...view, signedInAs, ...(call.config.oidc && { signOut: SIGN_OUT_PATH }) }
}

/** A page for one visitor: what they requested, or otherwise their own place. */
export async function visitorPage(publicly: SaleNow, wanted: RequestedPage | null, call: Call): Promise<Response> {
  const { sale } = publicly
  keepLanguage(call)
  const caller = await authenticate(sale, call)
  const { refusal } = caller
  const admitted = await findAdmission(sale, call)
  const isLookedUp = wanted === null && !admitted && !caller.place && !refusal
  const place = isLookedUp ? await placeElsewhere(publicly, call) : caller.place
  const holder = place ?? admitted
  if (holder && wanted === null) limitVisitor('status', holder.claims.sub, call.config.STATUS_PER_VISITOR, call)
  const now = holder ? await inLine(publicly, lineOf(holder.claims), call) : publicly
  if (place && !admitted) await refuseLost(place.claims, now, call)
  else if (holder) await refuseBlocked(holder.claims.sub, now.policy, call)
  // A turn lasts while its admission is valid, whoever has been called since. Without an admission it begins when the
  // place is called.
  const isReady = place !== null && now.place(place.claims.num).status === 'ready'
  const admission = admitted ?? (isReady ? await issueAdmission(place.claims, call) : null)
  const onwards = admission && (await onwardsOf(admission, call))
  if (onwards !== null) {
    if (await isVisitor(admission?.claims.sub ?? '', call)) return seeOther(onwards)
    // The place belongs to another visitor, so the protected site would send them back here again and again. They can
    // only join again.
    deletePlaceCookie(sale, call)
    deleteAdmissionCookie(sale, call)
    return pageOf({ ...(await viewOf(now, null, { kind: 'landing' }, call)), order: null }, 200)
  }

  if (place) await renewPlace(place, now.schedule, call)
  if (refusal === 'invalid-token') {
    deletePlaceCookie(sale, call)
    deleteAdmissionCookie(sale, call)
  }
  const number = place?.claims.num ?? admission?.claims.num ?? null
  const missing = admission ? null : await missingPlace(caller, call)
  const own = ownPlace(number, admission?.claims.exp, now)
  const shows = (wanted && turnAgain(wanted, own, now)) ?? (wanted?.kind === 'quote' ? own : wanted) ?? missing ?? own
  const custom = shows.kind === 'line' ? waitingPage(now, shows.number, call) : null
  if (custom) return custom
  // The link to an order is shown on all pages except its own.
  const order = shows.kind === 'order' ? shows.order.order_id : latestOrder(sale, call)
  const hall = shows.kind === 'turn' ? { hall: await hallFacts(now, call) } : {}
  const mail = shows.kind === 'line' ? await mailOf(call) : {}
  const view = { ...(await viewOf(now, number, shows, call)), ...hall, ...mail, order }
  const status = wanted?.kind === 'problem' ? wanted.problem.status : 200
  return pageOf(wanted ? view : await withAccount(view, call), status)
}

/**
 * The place that the account has from another browser. While it cannot be looked up, the page is one of a visitor who
 * may join, and joining finds the place.
 */
const placeElsewhere = (publicly: SaleNow, call: Call) =>
  accountPlace(publicly, call).catch((error) => {
    if (problemIn(error).status !== 503) throw error
    return null
  })

/** The page's data about mails: whether one was just requested, and the address of the signed-in visitor. */
async function mailOf(call: Call): Promise<Pick<SaleView, 'mailed' | 'accountEmail'>> {
  const session = await sessionOf(call).catch(() => null)
  const { email } = session?.claims ?? {}
  return { mailed: hasParameter(MAILED, call), ...(typeof email === 'string' && { accountEmail: email }) }
}

/**
 * The turn with the visitor's choice, if a purchase met a problem that another choice or attempt may solve; null for
 * any other problem.
 */
function turnAgain(wanted: RequestedPage, own: Shows, { facts }: SaleNow): Shows | null {
  if (own.kind !== 'turn') return null
  if (wanted.kind === 'quote') return { ...own, entered: wanted }
  if (wanted.kind !== 'problem' || !wanted.chosen) return null
  const { problem, chosen } = wanted
  const { type, status, errors, retry_after_seconds } = problem
  const isLess = type.endsWith('/sold-out') && facts.products.some(({ available }) => available > 0)
  const mayMend =
    isLess || errors !== undefined || status === 503 || MENDABLE_IN_TURN.test(type) || /too-many/.test(type)
  const isForGood = type.endsWith('/too-many-orders') && retry_after_seconds === undefined
  return mayMend && !isForGood ? { ...own, entered: { problem, chosen } } : null
}
const MENDABLE_IN_TURN = /(all-in-carts|seat-taken|price-changed|promo-code-used-up|promo-code-unknown)$/

function ownPlace(number: number | null, admittedUntilSeconds: number | undefined, now: SaleNow): Shows {
  if (admittedUntilSeconds !== undefined) return { kind: 'turn', untilMs: admittedUntilSeconds * 1000 }
  return number === null ? { kind: 'landing' } : { kind: 'line', place: now.place(number), number }
}

/** The reason why a browser does not show the place that it was given. */
async function missingPlace({ place, refusal }: Caller, call: Call) {
  const shows = (problem: Problem) => ({ kind: 'problem', problem }) as const
  if (refusal === 'signed-out') return shows(problem('signed-out', { sign_in_url: signInUrl(call) }))
  const { headers } = call.request
  // The visitor was sent here by the page's own form or script, and did not follow a link.
  const hasJoined = hasParameter(JOINED, call) && headers.get('sec-fetch-site') === 'same-origin'
  if (place || refusal || !hasJoined) return null
  // The address also stays after the place was given up. A visitor who is still known has a browser that stores
  // cookies.
  const { known } = await visitorOf(null, call)
  return known ? null : shows(problem('cookies-required'))
}

/** The runtime encodes a page in half the time that it takes over a string in a response. */
const UTF8 = new TextEncoder()

function pageOf(view: SaleView, status: number, refused?: Readonly<Record<string, string>>): Response {
  const headers = ownHeadersOf(view)
  return new Response(UTF8.encode(renderSale(view)), {
    status,
    headers: refused ? { ...refused, ...Object.fromEntries(headers) } : headers,
  })
}
