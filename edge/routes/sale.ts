/**
 * The sale as its visitors see it: its page in every phase, its document, its schedule, and the pages of one's own order.
 */
import { isLive } from '../../shared/order-status.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import { isFinal, type Schedule } from '../../shared/schedule.ts'
import type { QueueClaims } from '../../shared/tokens.ts'
import { type Presented, presentedPlace, visitorOf } from '../auth/visitor.ts'
import { type Call, isKnown, NO_STORE, seeOther, unkeptAnswer, wantsJson, withCookies } from '../http.ts'
import { renderSale } from '../pages/index.ts'
import { languageOf, PAGE_HEADERS, publicSale, viewOf } from '../pages/respond.ts'
import type { SaleView, Shows } from '../pages/view.ts'
import { wantedPage } from '../protect/protect.ts'
import { type SaleNow, saleNow } from '../queue/sale-cache.ts'
import { ALREADY, admissionFor, buy, changeOrder, type FormResult, keptOrder, orderFor } from './checkout.ts'
import { finalAnswer } from './final.ts'
import { admissionCookie, admit, JOINED, longerPlace, placeCookie, placeForgotten } from './queue.ts'

/** `GET /sales/{sale}`: the page, or the public document for those who ask for JSON. */
export async function showSale(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  const { phase } = now.schedule
  if (isFinal(phase)) return finalAnswer(sale, phase, now, call)
  if (wantsJson(call.request)) return unkeptAnswer(publicSale(now))
  return livePage(sale, now, null, call)
}

/** `GET /sales/{sale}/schedule` */
export async function schedule(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  const second = Math.floor(now.atMs / 1000)
  let written = schedules.get(now.schedule)
  if (written?.second !== second) {
    const { server_time_ms: _, ...rest } = now.schedule
    // A line that stands for want of news has the version it had: its phase tells the two apart. And the second, since a
    // cache that is told that nothing has changed hands out what it has as if it were of this moment, time and all.
    const etag = `W/"${now.schedule.version}-${now.schedule.phase}-${second}"`
    const headers = new Headers({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=1',
      etag,
    })
    written = { second, json: JSON.stringify(rest).slice(0, -1), etag, headers }
    schedules.set(now.schedule, written)
  }
  const { json, etag, headers } = written
  if (isKnown(call.request, etag)) return new Response(null, { status: 304, headers })
  return new Response(`${json},"server_time_ms":${now.atMs}}`, { headers })
}

/** Schedules as they are sent in one second, but for the time: a great many ask for the same one. */
const schedules = new WeakMap<
  Schedule,
  { readonly second: number; readonly json: string; readonly etag: string; readonly headers: Headers }
>()

/** `GET /sales/{sale}/order/{order}` */
export async function showOrder(sale: string, order: string, call: Call): Promise<Response> {
  const [now, found] = await Promise.all([saleNow(sale, call), orderFor(sale, order, call)])
  if ('type' in found) {
    const path = found.retry_after_seconds === undefined ? undefined : `/sales/${sale}/order/${order}`
    return livePage(sale, now, { kind: 'problem', problem: found, path }, call)
  }
  // The address stays when the order is over.
  const alreadyHas = call.request.url.endsWith(`?${ALREADY}`) && isLive(found.status)
  return livePage(sale, now, { kind: 'order', order: found, alreadyHas }, call)
}

/** `POST /sales/{sale}/buy` */
export async function buyForm(sale: string, call: Call): Promise<Response> {
  return formAnswer(sale, await buy(sale, call), call)
}

/** `POST /sales/{sale}/order/{order}/payment` and `/cancel` */
export async function orderForm(sale: string, order: string, what: 'payment' | 'cancel', call: Call) {
  return formAnswer(sale, await changeOrder(sale, order, what, call), call)
}

async function formAnswer(sale: string, result: FormResult, call: Call): Promise<Response> {
  if ('go' in result) return result.go
  return livePage(sale, await saleNow(sale, call), { kind: 'problem', ...result }, call)
}

/** A page for one visitor: what they asked for, or else their own place; and so it is never kept. */
async function livePage(
  sale: string,
  now: SaleNow,
  wanted: Extract<Shows, { kind: 'order' | 'problem' }> | null,
  call: Call,
): Promise<Response> {
  const presented = await presentedPlace(sale, call)
  const claims = presented.kind === 'place' ? presented.claims : null
  const turn = await turnOf(sale, claims, now, call)
  const cookies = turn?.fresh ? [admissionCookie(sale, turn.fresh, call)] : []
  const onwards = turn ? wantedPage(sale, call) : null
  if (onwards !== null) return seeOther(onwards, cookies)
  const longer = claims && (await longerPlace(now, claims, call))
  if (longer) cookies.push(placeCookie(longer.claims, longer.token, call))
  if (presented.kind === 'bad') cookies.push(...placeForgotten(sale, call))

  const number = claims?.num ?? turn?.number ?? null
  const missing = turn ? null : await notKept(presented, call)
  const shows = wanted ?? (missing ? { kind: 'problem', problem: missing } : placeShown(number, turn, now))
  const order = keptOrder(sale, call)
  const view = () => ({ ...viewOf(sale, now, number, shows, call), order })
  const page =
    shows.kind === 'landing' && order === null
      ? cachedLanding(now, languageOf(call.request), view)
      : renderSale(view())
  const response = new Response(page, {
    status: wanted?.kind === 'problem' ? wanted.problem.status : 200,
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
  return withCookies(response, cookies)
}

/** Why a browser does not show the place that it was given. */
async function notKept({ kind }: Presented, call: Call): Promise<Problem | null> {
  const { request } = call
  if (kind === 'signed-out') return problem(kind)
  // By our own form, and not by a link that somebody else was sent.
  const hasJoined =
    request.url.endsWith(`?${JOINED}`) && request.headers.get('sec-fetch-site') === 'same-origin'
  if (kind !== 'none' || !hasJoined) return null
  // The address stays when the place has been given up: who is known all the same has a browser that keeps cookies.
  return (await visitorOf(call)).known ? null : problem('cookies-required')
}

/** A visitor's turn: whose it is, until when, and the admission if it is a fresh one. */
interface Turn {
  readonly number: number
  readonly untilMs: number
  readonly fresh: string | null
}

function placeShown(number: number | null, turn: Turn | null, now: SaleNow): Shows {
  if (turn) return { kind: 'turn', untilMs: turn.untilMs }
  return number === null ? { kind: 'landing' } : { kind: 'line', place: now.place(number), number }
}

/**
 * A visitor has their turn while their admission is good, whatever has been called since; without one it begins when
 * their place is called.
 */
async function turnOf(
  sale: string,
  claims: QueueClaims | null,
  now: SaleNow,
  call: Call,
): Promise<Turn | null> {
  const admission = await admissionFor(sale, call)
  if (!('type' in admission)) {
    const { num, exp } = admission.claims
    return { number: num, untilMs: exp * 1000, fresh: null }
  }
  if (!claims || now.place(claims.num).status !== 'ready') return null
  const { token, exp } = await admit(claims, call)
  return { number: claims.num, untilMs: exp * 1000, fresh: token }
}

/** How long the page of those who have not joined is handed out again: it is the same for all of them. */
const LANDING_MS = 200

const landingPages = new WeakMap<Schedule, Map<string, { readonly page: string; readonly atMs: number }>>()

function cachedLanding({ schedule, atMs }: SaleNow, lang: string, view: () => SaleView): string {
  const pages = landingPages.get(schedule) ?? new Map()
  landingPages.set(schedule, pages)
  const known = pages.get(lang)
  if (known && atMs >= known.atMs && atMs - known.atMs < LANDING_MS) return known.page
  const page = renderSale(view())
  pages.set(lang, { page, atMs })
  return page
}
