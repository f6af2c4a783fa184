/**
 * The waiting room before somebody else's site. The Worker stands in front of it; the paths that are protected are open
 * to those whose turn in the sale has come, the others are sent to the line, and everything else passes as it is. The
 * site needs to know nothing of it; if it wants to, it can check the admission that comes with each request.
 */
import { problem } from '../../shared/problem.ts'
import {
  ADMISSION,
  ADMISSION_TTL_SECONDS,
  type AdmissionClaims,
  isEdgeToken,
  signToken,
} from '../../shared/tokens.ts'
import { cookie, foreignCookies, readCookie } from '../auth/cookies.ts'
import { bearer, presentedPlace } from '../auth/visitor.ts'
import type { Config } from '../config.ts'
import { type Call, NO_STORE, problemAnswer, seeOther, wantsHtml } from '../http.ts'
import { shown } from '../pages/respond.ts'
import { saleNow } from '../queue/sale-cache.ts'
import { admissionFor } from '../routes/checkout.ts'
import { admissionCookie, admit } from '../routes/queue.ts'

/** Where the site finds the visitor's admission, a token that `/.well-known/jwks.json` lets anyone check. */
const ADMISSION_HEADER = 'x-admission-token'
/** How long the page somebody wanted is remembered while they wait, and how long its address may be. */
const RETURN_SECONDS = 24 * 3600
const MAX_RETURN = 1_000
const UPSTREAM_TIMEOUT_MS = 30_000

/**
 * What a site behind a proxy believes of that proxy, and is the visitor's own word: where they come from, and for some
 * sites which path they ask for. With `_`, since many sites read it as `-`.
 */
const BELIEVED = /^(x-)?forwarded(-|$)|^x-(original|rewrite)-|(^|-)(client)?ip$|_/

type Protect = NonNullable<Config['protect']>

/** Answers a request for the protected site; null where there is none. */
export function protectedSite(call: Call): Promise<Response> | null {
  const { protect } = call.config
  if (!protect) return null
  return isHeld(new URL(call.request.url).pathname, protect)
    ? guarded(protect, call)
    : pass(protect, null, call)
}

/**
 * What sites read in more ways than one: slashes and backslashes, what is decoded twice, parameters behind a `;`, and
 * where some believe the path to end: at a `?`, a `#` or a control character.
 */
const AMBIGUOUS = /[;\\]|\/\/|%(?:[01].|2[35f]|3[bf]|5c|7f)/i

/**
 * Judged is the path as the site will read it: without `..`, and decoded. One that could be read in more ways than one
 * is held, so that no spelling of a protected path gets round the line.
 */
function isHeld(pathname: string, { paths, bypass }: Protect): boolean {
  const path = AMBIGUOUS.test(pathname) ? null : decoded(pathname)
  return path === null || (paths.test(path) && !bypass.test(path))
}

/** Where somebody whose turn has come goes on to; null if this sale protects no site. */
export function wantedPage(sale: string, { config, request, secure }: Call): string | null {
  if (config.protect?.sale !== sale) return null
  const wanted = decoded(readCookie(request, `return-${sale}`, secure) ?? '/') ?? '/'
  // A path of this host, and not of another one; a browser leaves out control characters before it reads one.
  return /^\/(?![/\\])[^\p{Cc}]*$/u.test(wanted) ? wanted : '/'
}

/** `GET /sales/{sale}/wanted`: on to it from a page that is the same for all, where the sale has ended. */
export function onwards(sale: string, call: Call): Response {
  const page = wantedPage(sale, call)
  return page === null ? problemAnswer(problem('not-found')) : seeOther(page)
}

/** Null for what cannot be decoded. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

async function guarded(protect: Protect, call: Call): Promise<Response> {
  const { sale } = protect
  const admission = await admissionFor(sale, call)
  if (!('type' in admission)) {
    const response = await pass(protect, admission.token, call)
    return forOne(response, await renewed(admission.claims, protect, call))
  }
  const now = await saleNow(sale, call)
  // After the sale there is nothing left to protect.
  if (now.schedule.phase === 'ended') return pass(protect, null, call)
  const presented = await presentedPlace(sale, call)
  if (presented.kind === 'place' && now.place(presented.claims.num).status === 'ready') {
    const { token } = await admit(presented.claims, call)
    return forOne(await pass(protect, token, call), admissionCookie(sale, token, call))
  }
  return sentToTheLine(sale, call)
}

function sentToTheLine(sale: string, { request, secure }: Call): Response {
  if (request.method !== 'GET' || !wantsHtml(request)) {
    return problemAnswer(problem('not-admitted', { queue: `/sales/${sale}/queue`, retry_after_seconds: 5 }))
  }
  const { pathname, search } = new URL(request.url)
  const wanted = encodeURIComponent(pathname + search)
  const headers = new Headers({ location: `/sales/${sale}`, 'cache-control': NO_STORE })
  if (wanted.length <= MAX_RETURN)
    headers.set('set-cookie', cookie(`return-${sale}`, wanted, secure, RETURN_SECONDS))
  return new Response(null, { status: 302, headers })
}

/** Whoever is on the site may stay for a session: an admission that has half run out is made to last longer. */
async function renewed(claims: AdmissionClaims, protect: Protect, call: Call): Promise<string | null> {
  const nowSeconds = Math.floor(call.nowMs / 1000)
  if (claims.exp - nowSeconds > ADMISSION_TTL_SECONDS / 2) return null
  const exp = Math.min(nowSeconds + ADMISSION_TTL_SECONDS, claims.iat + protect.sessionSeconds)
  if (exp <= claims.exp) return null
  const token = await signToken(ADMISSION, call.config.keys.admission, { ...claims, exp })
  return admissionCookie(protect.sale, token, call)
}

/** Hands the request on to the site, without our own cookies and with what a site behind a proxy expects. */
async function pass(protect: Protect, admission: string | null, call: Call): Promise<Response> {
  const { request, config } = call
  const url = new URL(request.url)
  const headers = new Headers(request.headers)
  const cookies = foreignCookies(headers.get('cookie') ?? '', protect.sale, call.secure)
  if (cookies === '') headers.delete('cookie')
  else headers.set('cookie', cookies)
  for (const name of [...headers.keys()]) if (BELIEVED.test(name)) headers.delete(name)
  headers.delete(ADMISSION_HEADER)
  if (admission !== null) headers.set(ADMISSION_HEADER, admission)
  const sent = bearer(request)
  if (sent !== null && isEdgeToken(sent)) headers.delete('authorization')
  headers.set('x-forwarded-host', url.host)
  headers.set('x-forwarded-proto', call.secure ? 'https' : 'http')
  const address = request.headers.get(config.addressHeader)
  if (address) for (const name of ['x-forwarded-for', config.addressHeader]) headers.set(name, address)
  try {
    const response = await fetch(protect.upstream + url.pathname + url.search, {
      method: request.method,
      headers,
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS),
    })
    const location = response.headers.get('location')
    if (!location?.startsWith(`${protect.upstream}/`)) return response
    const answer = new Response(response.body, response)
    answer.headers.set('location', location.slice(protect.upstream.length))
    return answer
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'the protected site did not answer', why: String(error) }))
    const away = problem('try-again', { detail: 'You keep your place.', retry_after_seconds: 5 })
    return shown(problemAnswer(away), call)
  }
}

/** What tells a CDN how long to keep an answer, whatever `Cache-Control` says (RFC 9213, and what was there before it). */
const TARGETED = /(^|-)cdn-cache-control$|^(surrogate|edge)-control$|^x-accel-expires$/

/** What only those see whose turn has come is for no shared cache; least of all with somebody's admission. */
function forOne(response: Response, setCookie: string | null): Response {
  const answer = new Response(response.body, response)
  const told = answer.headers.get('cache-control') ?? ''
  const others = told
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^(public|private|no-store|s-maxage=.*)$/i.test(part))
  const unkept = setCookie !== null || /\bno-store\b/i.test(told)
  for (const name of [...answer.headers.keys()]) if (TARGETED.test(name)) answer.headers.delete(name)
  answer.headers.set('cache-control', unkept ? 'private, no-store' : ['private', ...others].join(', '))
  if (setCookie !== null) answer.headers.append('set-cookie', setCookie)
  return answer
}
