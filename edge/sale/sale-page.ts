/**
 * The sale as all its visitors see it: the landing page, the public document, the schedule. No cookie is read here.
 */

import { nextReadAtMs } from '../../shared/next-read.ts'
import { isFinal, type Schedule } from '../../shared/schedule.ts'
import { linkedInvitation } from '../admission/proofs/invitation.ts'
import { goodsOf } from '../goods/goods.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { type Call, hostOf, isCached, lineParameter, NO_STORE, refuse, wantsJson } from '../http/call.ts'
import { renderSale } from '../pages/index.ts'
import { eventCalendar, openingCalendar } from '../pages/sale/calendar.ts'
import { requireEdgeToken } from '../queue/backend.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { headersOf, ownHeadersOf, PAGE_HEADERS, viewOf } from '../view/respond.ts'
import { keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { finalResponse } from './final-page.ts'
import { saleDocument } from './sale-document.ts'

/** The route `GET /sales/{sale}`: the page, or the public document for clients that request JSON. */
export async function showSale(sale: string, call: Call): Promise<Response> {
  const now = await publicNow(sale, call)
  const { phase } = now.schedule
  if (isFinal(phase)) return finalResponse(now, phase, call)
  if (wantsJson(call.request)) return publicDocument(now, call)
  keepLanguage(call)
  return (await invitedPage(now, call)) ?? landingPage(now, call)
}

/**
 * The landing page behind an invitation's link, with the code filled in. It is never cached, because the cache has
 * one page for all visitors.
 */
async function invitedPage(now: SaleNow, call: Call): Promise<Response | null> {
  const code = linkedInvitation(call)
  if (code === null) return null
  const view = await viewOf(now, null, { kind: 'landing' }, call)
  if (!view.invites && !view.othersInvite) return null
  const page = renderSale({ ...view, invitation: { code, fault: null } })
  return new Response(page, { headers: ownHeadersOf(view) })
}

async function publicDocument(now: SaleNow, call: Call): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    vary: PAGE_HEADERS.vary,
    ...cacheHeaders(now.sale, CACHE_TTL.document),
  }
  return new Response(JSON.stringify(saleDocument(now, await goodsOf(now.sale, now.facts.goods_version, call))), {
    headers,
  })
}

/** An isolate sends the same landing page for this long. */
const LANDING_PAGE_MS = 200

interface Landing {
  readonly page: Uint8Array
  readonly headers: Headers
  readonly atMs: number
  readonly host: string
}

/** The landing pages of each schedule, by language and whether it was chosen. */
const landings = new WeakMap<Schedule, Map<string, Landing>>()

async function landingPage(now: SaleNow, call: Call): Promise<Response> {
  const { schedule, atMs } = now
  const known = landings.get(schedule) ?? new Map<string, Landing>()
  landings.set(schedule, known)
  const language = sharedLanguage(call)
  const key = `${language.lang}${language.isChosen ? ' chosen' : ''}`
  const host = hostOf(call)
  let landing = known.get(key)
  // The page contains its own address, so a request with another host gets another page.
  if (landing?.host !== host || atMs < landing.atMs || atMs - landing.atMs >= LANDING_PAGE_MS) {
    const view = await viewOf(now, null, { kind: 'landing' }, call, language)
    const page = new TextEncoder().encode(renderSale(view))
    landing = {
      page,
      headers: new Headers({ ...headersOf(view), ...cacheHeaders(now.sale, CACHE_TTL.landing) }),
      atMs,
      host,
    }
    known.set(key, landing)
  }
  return new Response(landing.page, { headers: landing.headers })
}

/** The route `GET /sales/{sale}/schedule`; `?line=members` selects another line. */
export async function schedule(sale: string, call: Call): Promise<Response> {
  const now = await requestedLine(sale, call)
  const second = Math.floor(now.atMs / 1000)
  let written = schedules.get(now.schedule)
  if (written?.second !== second) {
    const { server_time_ms: _, ...facts } = now.schedule
    const unchanging = { ...facts, next_read_ms: nextReadAtMs(now.schedule, now.atMs) }
    // A line that is paused because updates are missing keeps its version, so the phase is part of the ETag. The
    // second is too, because a cache would otherwise return an unchanged copy as current, with its old time.
    const { version, phase, line } = now.schedule
    const etag = `W/"${line === undefined ? '' : `${line}-`}${version}-${phase}-${second}"`
    const headers = new Headers({ 'content-type': 'application/json', etag, ...cacheHeaders(sale, CACHE_TTL.schedule) })
    written = { second, json: JSON.stringify(unchanging).slice(0, -1), etag, headers }
    schedules.set(now.schedule, written)
  }
  const { json, etag, headers } = written
  if (isCached(call.request, etag)) return new Response(null, { status: 304, headers })
  return new Response(`${json},"server_time_ms":${now.atMs}}`, { headers })
}

/**
 * The route `GET /internal/sales/{sale}/schedule`: the same schedule for the origin, from which a CDN reads it. No
 * other cache adds to its age.
 */
export async function scheduleForOrigin(sale: string, call: Call): Promise<Response> {
  await requireEdgeToken(call)
  const { body, status, headers } = await schedule(sale, call)
  const etag = headers.get('etag') ?? ''
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json', etag, 'cache-control': NO_STORE },
  })
}

/** The route `GET /sales/{sale}/opening.ics`; `?line=members` selects another line. */
export async function calendar(sale: string, call: Call): Promise<Response> {
  const now = await requestedLine(sale, call)
  return sendCalendar(openingCalendar(await sharedView(now, call)), sale)
}

/** The route `GET /sales/{sale}/event.ics`: the date of the event, if the shop has set one. */
export async function eventDate(sale: string, call: Call): Promise<Response> {
  const view = await sharedView(await publicNow(sale, call), call)
  const event = view.goods?.event
  return event ? sendCalendar(eventCalendar(view, event), sale) : refuse('not-found')
}

const sharedView = (now: SaleNow, call: Call) => viewOf(now, null, { kind: 'landing' }, call, sharedLanguage(call))

function sendCalendar(ics: string, sale: string): Response {
  const headers = {
    'content-type': 'text/calendar; charset=utf-8',
    vary: PAGE_HEADERS.vary,
    ...cacheHeaders(sale, CACHE_TTL.landing),
  }
  return new Response(ics, { headers })
}

/** The line that the query names; without one, the sale as all visitors see it. */
async function requestedLine(sale: string, call: Call): Promise<SaleNow> {
  const now = await publicNow(sale, call)
  const wanted = lineParameter(call) ?? now.line
  const isListed = wanted === now.line || now.policy.lines.some(({ line }) => line === wanted)
  return isListed ? inLine(now, wanted, call) : refuse('not-found')
}

/** Each schedule is written once a second, without its time, because very many visitors request the same one. */
const schedules = new WeakMap<
  Schedule,
  { readonly second: number; readonly json: string; readonly etag: string; readonly headers: Headers }
>()
