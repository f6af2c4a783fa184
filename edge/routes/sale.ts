/** The sale as its visitors see it: its page in every phase, its public document, its schedule. */
import { type Problem, problem } from '../../shared/problem.ts'
import { isFinal, type Schedule } from '../../shared/schedule.ts'
import {
  deleteAdmissionCookie,
  deletePlaceCookie,
  findAdmission,
  issueAdmission,
  latestOrder,
  renewPlace,
} from '../auth/credentials.ts'
import { authenticate, type Caller, visitorOf } from '../auth/visitor.ts'
import { type Call, isCached, NO_STORE, seeOther, sendJson, wantsJson } from '../http.ts'
import { renderSale } from '../pages/index.ts'
import { languageOf, PAGE_HEADERS, publicSale, viewOf } from '../pages/respond.ts'
import type { SaleView, Shows } from '../pages/view.ts'
import { wantedPage } from '../protect/protect.ts'
import { type SaleNow, saleNow } from '../queue/sale-cache.ts'
import { finalResponse } from './final.ts'
import { JOINED } from './queue.ts'

/** `GET /sales/{sale}`: the page, or the public document for those who ask for JSON. */
export async function showSale(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  const { phase } = now.schedule
  if (isFinal(phase)) return finalResponse(sale, phase, now, call)
  if (wantsJson(call.request)) return sendJson(publicSale(now))
  return visitorPage(sale, now, null, call)
}

/** `GET /sales/{sale}/schedule` */
export async function schedule(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  const second = Math.floor(now.atMs / 1000)
  let written = schedules.get(now.schedule)
  if (written?.second !== second) {
    const { server_time_ms: _, ...rest } = now.schedule
    // A line paused for want of updates has the version it had: its phase tells the two apart. And the second, since a
    // cache to which nothing has changed hands out its copy as if it were of this moment, time and all.
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
  if (isCached(call.request, etag)) return new Response(null, { status: 304, headers })
  return new Response(`${json},"server_time_ms":${now.atMs}}`, { headers })
}

/** Schedules as they are sent within one second, except the time: a great many ask for the same one. */
const schedules = new WeakMap<
  Schedule,
  { readonly second: number; readonly json: string; readonly etag: string; readonly headers: Headers }
>()

/** A page for one visitor: what they asked for, or else their own place. */
export async function visitorPage(
  sale: string,
  now: SaleNow,
  wanted: Extract<Shows, { kind: 'order' | 'problem' }> | null,
  call: Call,
): Promise<Response> {
  const caller = await authenticate(sale, call)
  const { place, refusal } = caller
  // A turn lasts while its admission is valid, whatever has been called since; without one it begins when the place is called.
  const isReady = place !== null && now.place(place.claims.num).status === 'ready'
  const admission = (await findAdmission(sale, call)) ?? (isReady ? await issueAdmission(place.claims, call) : null)
  const onwards = admission && wantedPage(sale, call)
  if (onwards !== null) return seeOther(onwards)

  if (place) await renewPlace(place, now.schedule, call)
  if (refusal === 'invalid-token') {
    deletePlaceCookie(sale, call)
    deleteAdmissionCookie(sale, call)
  }
  const number = place?.claims.num ?? admission?.claims.num ?? null
  const missing = admission ? null : await missingPlace(caller, call)
  const shows = wanted ?? missing ?? ownPlace(number, admission?.claims.exp, now)
  const order = latestOrder(sale, call)
  const view = () => ({ ...viewOf(sale, now, number, shows, call), order })
  const isLanding = shows.kind === 'landing' && order === null
  const page = isLanding ? landingPage(now, languageOf(call.request), view) : renderSale(view())
  return new Response(page, {
    status: wanted?.kind === 'problem' ? wanted.problem.status : 200,
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
}

function ownPlace(number: number | null, admittedUntilSeconds: number | undefined, now: SaleNow): Shows {
  if (admittedUntilSeconds !== undefined) return { kind: 'turn', untilMs: admittedUntilSeconds * 1000 }
  return number === null ? { kind: 'landing' } : { kind: 'line', place: now.place(number), number }
}

/** Why a browser does not show the place that it was given. */
async function missingPlace({ place, refusal }: Caller, call: Call) {
  const shows = (problem: Problem) => ({ kind: 'problem', problem }) as const
  if (refusal === 'signed-out') return shows(problem('signed-out'))
  const { url, headers } = call.request
  // Sent there by our own form, and not by a link from somebody else.
  const hasJoined = url.endsWith(`?${JOINED}`) && headers.get('sec-fetch-site') === 'same-origin'
  if (place || refusal || !hasJoined) return null
  // The address stays when the place was given up: whoever is known all the same has a browser that keeps cookies.
  return (await visitorOf(null, call)).known ? null : shows(problem('cookies-required'))
}

/** How long the landing page is sent again: it is the same for all who have not joined. */
const LANDING_PAGE_MS = 200

const landingPages = new WeakMap<Schedule, Map<string, { readonly page: string; readonly atMs: number }>>()

function landingPage({ schedule, atMs }: SaleNow, lang: string, view: () => SaleView): string {
  const pages = landingPages.get(schedule) ?? new Map()
  landingPages.set(schedule, pages)
  const known = pages.get(lang)
  if (known && atMs >= known.atMs && atMs - known.atMs < LANDING_PAGE_MS) return known.page
  const page = renderSale(view())
  pages.set(lang, { page, atMs })
  return page
}
