/**
 * The sale as the public sees it: its page in every phase, its document, its schedule, and the pages of one's own order.
 * Final answers (sold out, ended) are the same for all and come from memory: no object and no origin is asked for them.
 */

import { bytesToHex } from '@noble/hashes/utils.js'
import type { Order, PublicSale } from '../shared/api.ts'
import { type Problem, problem } from '../shared/problem.ts'
import { isFinal, type Schedule } from '../shared/schedule.ts'
import type { QueueClaims } from '../shared/tokens.ts'
import { ALREADY, admissionFor, buy, changeOrder, type FormResult, orderFor } from './checkout.ts'
import type { Config } from './config.ts'
import {
  type Call,
  isKnown,
  NO_STORE,
  problemAnswer,
  seeOther,
  unkeptAnswer,
  wantsHtml,
  wantsJson,
} from './http.ts'
import { presentedPlace } from './identity.ts'
import { type SaleNow, saleNow, takeNews } from './known-sales.ts'
import { admissionCookie, admit, longerPlace, placeCookie, placeForgotten } from './line.ts'
import { type Again, type Brand, renderProblem, renderSale, type SaleView } from './pages/index.ts'
import { LANGUAGES } from './pages/words.ts'
import { wantedPage } from './protect.ts'
import { roomOf } from './rpc.ts'

/** How long others may keep a final answer. */
const FINAL_MAX_AGE_SECONDS = 30

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  vary: 'accept, accept-language',
}

/** `GET /sales/{sale}`: the page, or the public document for those who ask for JSON. */
export async function salePage(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  if ('type' in now) return problemAnswer(now)
  if (isFinal(now.schedule.phase)) return finalAnswer(sale, now, call)
  if (wantsJson(call.request)) return unkeptAnswer(publicSale(now))
  return livePage(sale, now, call, {})
}

/** `GET /sales/{sale}/schedule` */
export async function schedule(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  if ('type' in now) return problemAnswer(now)
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

/** `POST /internal/sales/{sale}/refresh`: the origin says that something has changed. */
export async function refresh(sale: string, call: Call): Promise<Response> {
  const { request, config, env, nowMs } = call
  if (!(await sameText(request.headers.get('authorization') ?? '', `Bearer ${config.edgeToken}`)))
    return problemAnswer(problem('unauthorized'))
  const told = await roomOf(sale, env).refresh({ sale })
  if (!told.known) return problemAnswer(problem('unknown-sale'))
  takeNews(sale, told.bulletin, nowMs)
  return new Response(null, { status: 204, headers: { 'cache-control': NO_STORE } })
}

/** `GET /sales/{sale}/order/{order}` */
export async function orderPage(sale: string, order: string, call: Call): Promise<Response> {
  const [now, found] = await Promise.all([saleNow(sale, call), orderFor(sale, order, call)])
  if ('type' in now) return problemAnswer(now)
  if ('type' in found) return livePage(sale, now, call, { problem: found })
  return livePage(sale, now, call, { order: found, alreadyHas: call.request.url.endsWith(`?${ALREADY}`) })
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
  const now = await saleNow(sale, call)
  return 'type' in now ? problemAnswer(now) : livePage(sale, now, call, result)
}

/** A page for one visitor: it shows their own place, and so is never kept. */
async function livePage(
  sale: string,
  now: SaleNow,
  call: Call,
  shown: { order?: Order; alreadyHas?: boolean; problem?: Problem; again?: Again | undefined },
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
  const stands = number === null ? null : now.place(number)
  const view = (): SaleView => ({
    ...viewOf(sale, now, call),
    ...shown,
    number,
    place:
      stands && turn ? { ...stands, status: 'ready', position_in_queue: 0, estimated_wait_time: 0 } : stands,
    ...(turn ? { admittedUntilMs: turn.untilMs } : {}),
  })
  const isDoor = number === null && !shown.order && !shown.problem
  const page = isDoor ? doorPage(now, languageOf(call.request), view) : renderSale(view())
  const response = new Response(page, {
    status: shown.problem?.status ?? 200,
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
  for (const value of cookies) response.headers.append('set-cookie', value)
  return response
}

/** A visitor's turn: whose it is, until when, and the admission if it is a fresh one. */
interface Turn {
  readonly number: number
  readonly untilMs: number
  readonly fresh: string | null
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
const DOOR_MS = 200

const doors = new WeakMap<Schedule, Map<string, { readonly page: string; readonly atMs: number }>>()

function doorPage({ schedule, atMs }: SaleNow, lang: string, view: () => SaleView): string {
  const pages = doors.get(schedule) ?? new Map()
  doors.set(schedule, pages)
  const known = pages.get(lang)
  if (known && atMs >= known.atMs && atMs - known.atMs < DOOR_MS) return known.page
  const page = renderSale(view())
  pages.set(lang, { page, atMs })
  return page
}

/** An answer of ours as it is shown: a problem is a page for those who ask for pages. */
export function shown(response: Response, call: Call): Promise<Response> | Response {
  const isProblem =
    response.status >= 400 && response.headers.get('content-type') === 'application/problem+json'
  return isProblem && wantsHtml(call.request) ? problemPage(response, call) : response
}

/** What a problem says beside its text stays as it is. */
async function problemPage(response: Response, { request, config }: Call): Promise<Response> {
  const problem = await response.json<Problem>()
  const [, root, sale] = new URL(request.url).pathname.split('/', 3)
  const known = root === 'sales' && sale !== undefined && !problem.type.endsWith('/unknown-sale')
  const page = renderProblem(problem, {
    lang: languageOf(request),
    brand: brandOf(config, 'Waiting room'),
    sale: known ? sale : null,
  })
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
  return new Response(page, { status: response.status, headers })
}

// -- Final answers -----------------------------------------------------------------------------------------------------

/** What a great many ask for is kept as the runtime wants it: an object of headers or a string it takes apart each time. */
interface FinalAnswer {
  readonly body: Uint8Array
  readonly etag: string
  readonly headers: Headers
}

/** For each schedule that is final, its answers: the page by its language, and the document. */
const finalAnswers = new WeakMap<Schedule, Map<string, FinalAnswer>>()

async function finalAnswer(sale: string, now: SaleNow, call: Call): Promise<Response> {
  const { request } = call
  let answers = finalAnswers.get(now.schedule)
  if (!answers) {
    answers = new Map()
    finalAnswers.set(now.schedule, answers)
  }
  const kind = wantsJson(request) ? 'json' : languageOf(request)
  let answer = answers.get(kind)
  if (!answer) {
    const html = kind !== 'json'
    // As of the moment it took effect, so that every isolate and every data centre says the same, byte for byte.
    const then = { ...now, atMs: now.schedule.server_time_ms }
    const text = html ? renderSale(viewOf(sale, then, call)) : JSON.stringify(publicSale(then))
    const body = new TextEncoder().encode(text)
    const digest = await crypto.subtle.digest('SHA-256', body)
    const etag = `"${bytesToHex(new Uint8Array(digest)).slice(0, 32)}"`
    const headers = new Headers({
      ...PAGE_HEADERS,
      ...(html ? {} : { 'content-type': 'application/json' }),
      'cache-control': `public, max-age=${FINAL_MAX_AGE_SECONDS}`,
      etag,
    })
    answer = { body, etag, headers }
    answers.set(kind, answer)
  }
  const { body, etag, headers } = answer
  return isKnown(request, etag)
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers })
}

// -- What is shown -----------------------------------------------------------------------------------------------------

type Moment = Pick<SaleNow, 'facts' | 'schedule' | 'atMs'>

function publicSale({ facts, schedule, atMs }: Moment): PublicSale {
  return { ...facts, phase: schedule.phase, server_time_ms: atMs }
}

function viewOf(sale: string, now: Moment, { request, config }: Call): SaleView {
  return {
    sale,
    state: publicSale(now),
    schedule: now.schedule,
    place: null,
    number: null,
    nowMs: now.atMs,
    lang: languageOf(request),
    brand: brandOf(config, now.facts.name),
    ...(config.powDifficulty > 0 ? { challenge: `/sales/${sale}/challenge` } : {}),
  }
}

function brandOf({ brand: { name, logo, sheet } }: Config, otherwise: string): Brand {
  return { name: name ?? otherwise, logo, sheet }
}

/** The one of our languages that the browser likes best (RFC 9110, 12.5.4); of those it likes alike, the first. */
function languageOf(request: Request): string {
  const wanted = request.headers.get('accept-language')
  if (wanted === null) return 'en'
  let best = { language: 'en', weight: 0 }
  for (const item of wanted.slice(0, 200).split(',')) {
    const [name = '', q] = item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/)
    const language = name.slice(0, 2)
    const weight = q === undefined ? 1 : Number(q)
    if (weight > best.weight && LANGUAGES.includes(language)) best = { language, weight }
  }
  return best.language
}

/** Compares texts in a time that does not tell how much of them is alike. */
async function sameText(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b))
}
