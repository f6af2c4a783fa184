/**
 * The sale as the public sees it: its page in every phase, its document, its schedule, and the pages of one's own order.
 * Final answers (sold out, ended) are the same for all and come from memory: no object and no origin is asked for them.
 */

import { bytesToHex } from '@noble/hashes/utils.js'
import type { Order, PublicSale } from '../shared/api.ts'
import { type Problem, problem } from '../shared/problem.ts'
import type { Phase } from '../shared/schedule.ts'
import { isFinal } from './bulletin.ts'
import { buy, changeOrder, type FormResult, orderFor } from './checkout.ts'
import { type Call, NO_STORE, problemAnswer, seeOther, wantsJson } from './http.ts'
import { presentedPlace } from './identity.ts'
import { admissionCookie, admit } from './line.ts'
import { renderSale, type SaleView } from './pages/index.ts'
import { wantedPage } from './protect.ts'
import { roomOf } from './rpc.ts'
import { type SaleNow, saleNow, takeNews } from './sales.ts'

/** How long others may keep a final answer. */
const FINAL_MAX_AGE_SECONDS = 30
/** Most final pages kept ready: a sale in a language each. */
const MAX_FINAL_PAGES = 1_000
const LANGUAGES = ['en', 'de', 'fr', 'es']

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
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
  const { phase } = now.schedule
  if (isFinal(phase)) return finalAnswer(sale, phase, now, call)
  if (wantsJson(call.request))
    return Response.json(publicSale(now), { headers: { 'cache-control': NO_STORE } })
  return livePage(sale, now, call, {})
}

/** `GET /sales/{sale}/schedule` */
export async function schedule(sale: string, call: Call): Promise<Response> {
  const now = await saleNow(sale, call)
  if ('type' in now) return problemAnswer(now)
  const etag = `W/"${now.schedule.version}"`
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=1', etag }
  if (call.request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(JSON.stringify({ ...now.schedule, server_time_ms: now.atMs }), { headers })
}

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
  return 'type' in now ? problemAnswer(now) : livePage(sale, now, call, { problem: result.problem })
}

/** A page for one visitor: it shows their own place, and so is never kept. */
async function livePage(
  sale: string,
  now: SaleNow,
  call: Call,
  shown: { order?: Order; problem?: Problem },
): Promise<Response> {
  const presented = await presentedPlace(sale, call)
  const claims = presented.kind === 'place' ? presented.claims : null
  const place = claims ? now.place(claims.num) : null
  const onwards = claims && place?.status === 'ready' ? wantedPage(sale, call) : null
  if (claims && onwards !== null) {
    const { token } = await admit(claims, call)
    return seeOther(onwards, [admissionCookie(sale, token, call)])
  }
  const view: SaleView = { ...viewOf(sale, now, call), ...shown, place, number: claims?.num ?? null }
  const { html, refreshSeconds } = renderSale(view)
  const response = new Response(html, {
    status: shown.problem?.status ?? 200,
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
  if (refreshSeconds !== null) response.headers.set('refresh', String(refreshSeconds))
  if (claims && place?.status === 'ready') {
    const { token } = await admit(claims, call)
    response.headers.append('set-cookie', admissionCookie(sale, token, call))
  }
  return response
}

// -- Final answers -----------------------------------------------------------------------------------------------------

interface FinalAnswer {
  readonly version: number
  readonly body: string
  readonly etag: string
}

const finalAnswers = new Map<string, FinalAnswer>()

async function finalAnswer(sale: string, phase: Phase, now: SaleNow, call: Call): Promise<Response> {
  const html = !wantsJson(call.request)
  const view = viewOf(sale, now, call)
  const key = `${sale} ${html ? view.lang : 'json'}`
  let answer = finalAnswers.get(key)
  if (answer?.version !== now.schedule.version) {
    const body = html ? renderSale(view).html : JSON.stringify(publicSale(now))
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
    answer = {
      version: now.schedule.version,
      body,
      etag: `"${bytesToHex(new Uint8Array(digest)).slice(0, 32)}"`,
    }
    finalAnswers.delete(key)
    finalAnswers.set(key, answer)
    if (finalAnswers.size > MAX_FINAL_PAGES) finalAnswers.delete(finalAnswers.keys().next().value ?? '')
  }
  const headers = {
    ...PAGE_HEADERS,
    ...(html ? {} : { 'content-type': 'application/json' }),
    'cache-control': `public, max-age=${FINAL_MAX_AGE_SECONDS}`,
    etag: answer.etag,
    'x-sale-phase': phase,
  }
  const unchanged = call.request.headers.get('if-none-match')?.includes(answer.etag)
  return unchanged ? new Response(null, { status: 304, headers }) : new Response(answer.body, { headers })
}

// -- What is shown -----------------------------------------------------------------------------------------------------

function publicSale({ facts, schedule, atMs }: SaleNow): PublicSale {
  return { ...facts, phase: schedule.phase, server_time_ms: atMs }
}

function viewOf(sale: string, now: SaleNow, { request, config }: Call): SaleView {
  return {
    sale,
    state: publicSale(now),
    schedule: now.schedule,
    place: null,
    number: null,
    nowMs: now.atMs,
    lang: languageOf(request),
    brand: { name: config.brandName ?? now.facts.name },
  }
}

/** The first of our languages that the browser names. */
function languageOf(request: Request): string {
  const wanted = (request.headers.get('accept-language') ?? '').slice(0, 200).toLowerCase()
  const named = wanted.split(',').map((item) => item.trim().slice(0, 2))
  return named.find((language) => LANGUAGES.includes(language)) ?? 'en'
}

/** Compares texts in a time that does not tell how much of them is alike. */
async function sameText(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b))
}
