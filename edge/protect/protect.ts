/**
 * The waiting room in front of another site. Visitors whose turn has come can open protected paths; others are sent
 * to the queue. All other paths pass unchanged. The site can verify the admission that comes with each request.
 */
import { isEdgeToken } from '../../shared/tokens.ts'
import { refuseBlocked, refuseBlockedIn, refuseLeft } from '../admission/admit.ts'
import { TARGETED } from '../http/cache.ts'
import { addressOf, type Call, hostOf, NO_STORE, refuse, seeOther, wantsHtml } from '../http/call.ts'
import type { Config } from '../http/config.ts'
import { isHeld } from '../http/paths.ts'
import { count } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { readCookie, setCookie, withoutOurs } from '../visitor/cookies.ts'
import {
  bearer,
  extendAdmission,
  findAdmission,
  issueAdmission,
  lineOf,
  refuseAdmission,
  refuseSignedOut,
} from '../visitor/credentials.ts'
import { authenticate, isVisitor } from '../visitor/visitor.ts'
import { sampleOf, UPSTREAM_TIMEOUT_MS } from './answer-times.ts'

/** The header in which the site finds the visitor's admission. */
const ADMISSION_HEADER = 'x-admission-token'
/** The requested page is remembered this long while the visitor waits, and its address may have this length. */
const RETURN_SECONDS = 24 * 3600
const MAX_RETURN = 1_000

/**
 * Headers that a site behind a proxy trusts and that a visitor could send: about their address, their identity, and
 * for some sites the path. Any header with `_` is included too, because many sites read it as `-`.
 */
const TRUSTED = [
  /^(x-)?forwarded(-|$)|(^|-)(client)?ip$|_/,
  /^x-(original|rewrite|override|auth-request)-/,
  /(^|-)(remote|ssl|tls)-/,
  /(^|-)(authenticated|webauth|oidc)-/,
  /(^|-)client-?(cert|verify|dn|principal)/,
]

type Protect = NonNullable<Config['protect']>

/** Handles a request for the protected site; null if there is no such site. */
export function protectedSite(call: Call): Promise<Response> | null {
  const { protect } = call.config
  if (!protect) return null
  const { pathname } = new URL(call.request.url)
  const held = isHeld(pathname, protect.PROTECT_PATHS, protect.PROTECT_BYPASS)
  return held ? guard(protect, call) : pass(protect, null, call)
}

async function guard(protect: Protect, call: Call): Promise<Response> {
  const sale = protect.PROTECT_SALE
  const admission = await findAdmission(sale, call)
  if (admission && (await isVisitor(admission.claims.sub, call))) {
    await refuseBlockedIn(sale, admission.claims.sub, call)
    const response = await passAdmitted(protect, { ...admission, visitor: admission.claims.sub }, call)
    // An admitted visitor may stay on the site for a session.
    await extendAdmission(admission, protect.PROTECT_SESSION_SECONDS, call)
    return forOne(response, call)
  }
  const publicly = await publicNow(sale, call)
  // After the sale, the site no longer needs protection.
  if (publicly.schedule.phase === 'ended') return pass(protect, null, call)
  const { place, refusal } = await authenticate(sale, call)
  const line = `/sales/${sale}/line`
  // The page of the visitor's place offers the link to sign in.
  if (refusal === 'signed-out') return isPage(call) ? toTheQueue(sale, line, call) : refuseSignedOut(sale, call)
  if (!place || !(await isVisitor(place.claims.sub, call))) return toTheQueue(sale, `/sales/${sale}`, call)
  const now = await inLine(publicly, lineOf(place.claims), call)
  if (now.place(place.claims.num).status !== 'ready') return toTheQueue(sale, line, call)
  await refuseBlocked(place.claims.sub, now.policy, call)
  await refuseLeft(place.claims, now, call)
  const { token } = await issueAdmission(place.claims, call)
  return forOne(await passAdmitted(protect, { token, visitor: place.claims.sub }, call), call)
}

const isPage = ({ request }: Call) => request.method === 'GET' && wantsHtml(request)

function toTheQueue(sale: string, location: string, call: Call): Response {
  if (!isPage(call)) return refuseAdmission(sale)
  const { pathname, search } = new URL(call.request.url)
  const wanted = encodeURIComponent(pathname + search)
  if (wanted.length <= MAX_RETURN) setCookie(`return-${sale}`, wanted, RETURN_SECONDS, call)
  return new Response(null, { status: 302, headers: { location, 'cache-control': NO_STORE } })
}

/** The page that a visitor requested before they were sent to the queue; null if this sale protects no site. */
export function requestedPage(sale: string, call: Call): string | null {
  if (call.config.protect?.PROTECT_SALE !== sale) return null
  const wanted = readCookie(`return-${sale}`, call) ?? '/'
  // The path must be on this host. Browsers remove control characters before they parse a path, so these are refused.
  return /^\/(?![/\\])[^\p{Cc}]*$/u.test(wanted) ? wanted : '/'
}

/**
 * The route `GET /sales/{sale}/wanted`: redirects to the requested page after the sale, from a page that is the same
 * for all.
 */
export function showWantedPage(sale: string, call: Call): Response {
  return seeOther(requestedPage(sale, call) ?? refuse('not-found'))
}

/** Passes the request of an admitted visitor on. How long the site takes to answer it steers the line. */
async function passAdmitted(
  protect: Protect,
  { token, visitor }: { readonly token: string; readonly visitor: string },
  call: Call,
): Promise<Response> {
  const beganMs = Date.now()
  let status: number | null = null
  try {
    const response = await pass(protect, token, call)
    status = response.status
    return response
  } finally {
    const answer = { visitor, hasBody: call.request.body !== null, beganMs, tookMs: Date.now() - beganMs, status }
    count({ sale: protect.PROTECT_SALE }, sampleOf(answer, call.config.EDGE_TOKEN), call)
  }
}

/**
 * Passes the request on to the site, without the edge's cookies and with the headers that a site behind a proxy
 * expects.
 */
async function pass(protect: Protect, admission: string | null, call: Call): Promise<Response> {
  const { request, config } = call
  const url = new URL(request.url)
  const headers = new Headers(request.headers)
  const cookies = withoutOurs(headers.get('cookie') ?? '', protect.PROTECT_SALE, call.secure)
  if (cookies === '') headers.delete('cookie')
  else headers.set('cookie', cookies)
  for (const name of [...headers.keys()]) if (TRUSTED.some((form) => form.test(name))) headers.delete(name)
  headers.delete(ADMISSION_HEADER)
  if (admission !== null) headers.set(ADMISSION_HEADER, admission)
  const sent = bearer(request)
  if (sent !== null && isEdgeToken(sent)) headers.delete('authorization')
  headers.set('x-forwarded-host', new URL(hostOf(call)).host)
  headers.set('x-forwarded-proto', call.secure ? 'https' : 'http')
  const address = addressOf(call)
  if (address) for (const name of ['x-forwarded-for', config.ADDRESS_HEADER]) headers.set(name, address)
  try {
    const response = await fetch(protect.PROTECT_UPSTREAM + url.pathname + url.search, {
      method: request.method,
      headers,
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS),
    })
    // A WebSocket has no headers to change.
    if (response.status === 101) return response
    const passed = new Response(response.body, response)
    // The site's cache headers are not meant for a cache in front of this Worker, which could send the response to a
    // waiting visitor.
    passed.headers.set('cloudflare-cdn-cache-control', NO_STORE)
    const location = response.headers.get('location')
    if (location?.startsWith(`${protect.PROTECT_UPSTREAM}/`))
      passed.headers.set('location', location.slice(protect.PROTECT_UPSTREAM.length))
    return passed
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'protected site did not respond', why: String(error) }))
    return refuse('try-again', { detail: 'You keep your place.', retry_after_seconds: 5 })
  }
}

/** No shared cache may store what only admitted visitors may see, in particular with an admission in it. */
function forOne(response: Response, { setCookies }: Call): Response {
  const passed = new Response(response.body, response)
  const { headers } = passed
  const sent = headers.get('cache-control') ?? ''
  const others = sent
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^(public|private|no-store|s-maxage=.*)$/i.test(part))
  const isUncached = setCookies.length > 0 || /\bno-store\b/i.test(sent)
  for (const name of [...headers.keys()]) if (TARGETED.test(name)) headers.delete(name)
  headers.set('cache-control', isUncached ? 'private, no-store' : ['private', ...others].join(', '))
  return passed
}
