/**
 * The sale as the public sees it: its page in every phase, its document, its schedule, and the pages of one's own order.
 * Final answers (sold out, ended) are the same for all and come from memory: no object and no origin is asked for them.
 */

import { bytesToHex } from '@noble/hashes/utils.js'
import type { Order, PublicSale } from '../shared/api.ts'
import { type Problem, problem } from '../shared/problem.ts'
import type { Schedule } from '../shared/schedule.ts'
import { isFinal } from './bulletin.ts'
import { buy, changeOrder, type FormResult, orderFor } from './checkout.ts'
import type { Config } from './config.ts'
import { type Call, NO_STORE, problemAnswer, seeOther, unkeptAnswer, wantsJson } from './http.ts'
import { presentedPlace } from './identity.ts'
import { admissionCookie, admit } from './line.ts'
import { type Again, type Brand, renderProblem, renderSale, type SaleView } from './pages/index.ts'
import { LANGUAGES } from './pages/words.ts'
import { wantedPage } from './protect.ts'
import { roomOf } from './rpc.ts'
import { type SaleNow, saleNow, takeNews } from './sales.ts'

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
  let written = schedules.get(now.schedule)
  if (!written) {
    const { server_time_ms: _, ...rest } = now.schedule
    const etag = `W/"${now.schedule.version}"`
    const headers = new Headers({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=1',
      etag,
    })
    written = { json: JSON.stringify(rest).slice(0, -1), etag, headers }
    schedules.set(now.schedule, written)
  }
  const { json, etag, headers } = written
  if (call.request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(`${json},"server_time_ms":${now.atMs}}`, { headers })
}

/** Schedules as they are sent, but for the time: a great many ask for the same one. */
const schedules = new WeakMap<
  Schedule,
  { readonly json: string; readonly etag: string; readonly headers: Headers }
>()

/** `POST /internal/sales/{sale}/refresh`: the origin says that something has changed. */
export async function refresh(sale: string, call: Call): Promise<Response> {
  const { request, config, env, nowMs } = call
  if (!(await sameText(request.headers.get('authorization') ?? '', `Bearer ${config.edgeToken}`)))
    return problemAnswer(problem('unauthorized'))
  const told = await roomOf(sale, env).refresh({ sale })
  if (!told.known) return problemAnswer(problem('unknown-sale'))
  takeNews(sale, told.bulletin, nowMs)
  return new Response(null, { status: 204 })
}

/** `GET /sales/{sale}/order/{order}` */
export async function orderPage(sale: string, order: string, call: Call): Promise<Response> {
  const [now, found] = await Promise.all([saleNow(sale, call), orderFor(order, call)])
  if ('type' in now) return problemAnswer(now)
  if ('type' in found) return livePage(sale, now, call, { problem: found })
  return livePage(sale, now, call, { order: found })
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
  shown: { order?: Order; problem?: Problem; again?: Again | undefined },
): Promise<Response> {
  const presented = await presentedPlace(sale, call)
  const claims = presented.kind === 'place' ? presented.claims : null
  const place = claims ? now.place(claims.num) : null
  const onwards = claims && place?.status === 'ready' ? wantedPage(sale, call) : null
  if (claims && onwards !== null) {
    const { token } = await admit(claims, call)
    return seeOther(onwards, [admissionCookie(sale, token, call)])
  }
  const view = (): SaleView => ({ ...viewOf(sale, now, call), ...shown, place, number: claims?.num ?? null })
  const isDoor = !claims && !shown.order && !shown.problem
  const page = isDoor ? doorPage(now, languageOf(call.request), view) : renderSale(view())
  const response = new Response(page, {
    status: shown.problem?.status ?? 200,
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
  if (claims && place?.status === 'ready') {
    const { token } = await admit(claims, call)
    response.headers.append('set-cookie', admissionCookie(sale, token, call))
  }
  return response
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

/** A problem as a page, for those who ask for pages; what it says beside its text stays as it is. */
export async function problemPage(response: Response, { request, config }: Call): Promise<Response> {
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
  const unchanged = request.headers.get('if-none-match')?.includes(etag)
  return unchanged ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
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

/** The first of our languages that the browser names. */
function languageOf(request: Request): string {
  const wanted = request.headers.get('accept-language')
  if (wanted === null) return 'en'
  const named = wanted
    .slice(0, 200)
    .split(',')
    .map((item) => item.trim().slice(0, 2).toLowerCase())
  return named.find((language) => LANGUAGES.includes(language)) ?? 'en'
}

/** Compares texts in a time that does not tell how much of them is alike. */
async function sameText(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b))
}
