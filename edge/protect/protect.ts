/**
 * The waiting room in front of other sites. Visitors whose turn has come can open protected paths; others are sent
 * to the queue. All other paths pass unchanged. The site can verify the admission that comes with each request, and its
 * responses end or renew the visitor's session. docs/protect.md
 */
import { queueName } from '../../shared/api/access.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { REQUEST_ID_HEADER } from '../../shared/problem.ts'
import { type AdmissionClaims, isEdgeToken, type QueueClaims } from '../../shared/tokens.ts'
import { refuseBlockedIn, refuseLost } from '../admission/admit.ts'
import { TARGETED } from '../http/cache.ts'
import { addressOf, type Call, hostOf, NO_STORE, refuse, seeOther, wantsHtml, warn } from '../http/call.ts'
import { networksOf } from '../http/limits/networks.ts'
import { limitVisitor } from '../http/limits/rate-limits.ts'
import { isInShare, type Site, siteFor } from '../http/sites.ts'
import { giveUpPlace } from '../queue/numbers/numbers.ts'
import { count } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { readCookie, setCookie, withoutOurs } from '../visitor/cookies.ts'
import {
  type Admission,
  bearer,
  deleteAdmissionCookie,
  deletePlaceCookie,
  extendAdmission,
  findAdmission,
  issueAdmission,
  lineOf,
  type Place,
  refuseAdmission,
  refuseSignedOut,
  renewAdmission,
} from '../visitor/credentials.ts'
import { authenticate, isVisitor } from '../visitor/visitor.ts'
import { sampleOf, UPSTREAM_TIMEOUT_MS } from './answer-times.ts'
import { asksAsCloudflare, sendWaitingRoom } from './cf-waiting-room.ts'

/** The header in which the site finds the visitor's admission, and a client without cookies a longer one. */
const ADMISSION_HEADER = 'x-admission-token'
/** The header in which the site's response ends the visitor's session or begins it anew: `end` or `renew`. */
const SESSION_HEADER = 'x-admission-session'
/** The number of sessions that an isolate remembers. */
const MAX_REPORTED = 50_000
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

/** Handles a request for a protected site; null if there is none at this host. */
export function protectedSite(call: Call): Promise<Response> | null {
  const { protect } = call.config
  if (!protect) return null
  const { host, pathname } = new URL(call.request.url)
  const found = siteFor(protect, host, pathname)
  if (!found) return null
  const { site, isHeld } = found
  return isHeld && isInShare(site, networksOf(addressOf(call) ?? '')[0] ?? '', call.config.EDGE_TOKEN)
    ? guard(site, call)
    : pass(site, null, call)
}

async function guard(site: Site, call: Call): Promise<Response> {
  const { sale } = site
  const admission = await findAdmission(sale, call)
  if (admission && (await isHolder(admission, call))) {
    await refuseBlockedIn(sale, admission.claims.sub, call)
    return visit(site, admission, call)
  }
  const publicly = await publicNow(sale, call)
  // After the sale, the site no longer needs protection.
  if (publicly.schedule.phase === 'ended') return pass(site, null, call)
  const { place, refusal } = await authenticate(sale, call)
  const line = `/sales/${sale}/line`
  // The page of the visitor's place offers the link to sign in.
  if (refusal === 'signed-out') return isPage(call) ? toTheQueue(sale, line, call) : refuseSignedOut(sale, call)
  if (!place || !(await isHolder(place, call))) return toTheQueue(sale, `/sales/${sale}`, call)
  const now = await inLine(publicly, lineOf(place.claims), call)
  if (now.place(place.claims.num).status !== 'ready')
    return asksAsCloudflare(call) ? sendWaitingRoom(now, place.claims.num) : toTheQueue(sale, line, call)
  await refuseLost(place.claims, now, call)
  return visit(site, await issueAdmission(place.claims, call), call)
}

/**
 * True for who proves to be the holder of a place or an admission. A browser proves it by the secret in its cookie,
 * since a token could be given to a hundred others. A client without cookies sends the token alone: all who have it
 * share what one visitor may ask.
 */
async function isHolder(
  { token, claims: { sub } }: Pick<Admission, 'token'> & { claims: { sub: string } },
  call: Call,
) {
  if (bearer(call.request) !== token) return isVisitor(sub, call)
  limitVisitor('site', sub, call.config.STATUS_PER_VISITOR, call)
  return true
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
  if (!call.config.protect?.some((site) => site.sale === sale)) return null
  const wanted = readCookie(`return-${sale}`, call) ?? '/'
  // The path must be on this host. Browsers remove control characters before they parse a path, so these are refused.
  return /^\/(?![/\\])[^\p{Cc}]*$/u.test(wanted) ? wanted : '/'
}

/**
 * The route `GET /sales/{sale}/wanted`: redirects to the requested page after the sale, from a page that is the same
 * for all.
 */
export async function showWantedPage(sale: string, call: Call): Promise<Response> {
  for (const { addressAfter } of call.onwards) {
    const address = await addressAfter(sale, call)
    if (address !== null) return seeOther(address)
  }
  return seeOther(requestedPage(sale, call) ?? refuse('not-found'))
}

// -- Sessions of admitted visitors ----------------------------------------------------------------------------------

/** Passes the request of an admitted visitor on, whose session the site's response may end or renew. */
async function visit(site: Site, admission: Admission, call: Call): Promise<Response> {
  reportSession(admission.claims, call)
  const response = await passAdmitted(site, admission, call)
  const command = response.headers.get(SESSION_HEADER)?.trim().toLowerCase()
  if (command === 'end') {
    await endSession(site.sale, admission, call)
    return forOne(response, call)
  }
  // An admitted visitor may stay on the site for a session, which begins anew if the site says so.
  const longer = await (command === 'renew'
    ? renewAdmission(admission, call)
    : extendAdmission(admission, site.sessionSeconds, call))
  const passed = forOne(response, call)
  if (longer) {
    reportSession(longer.claims, call)
    if (bearer(call.request) === admission.token) passed.headers.set(ADMISSION_HEADER, longer.token)
  }
  return passed
}

/** The visitor gives up their place, so that they come back only through the queue. */
export async function endSession(sale: string, { claims }: Pick<Place, 'claims'>, call: Call): Promise<void> {
  const now = await inLine(await publicNow(sale, call), lineOf(claims), call)
  await giveUpPlace(now, claims.sub, claims.num, call)
  deletePlaceCookie(sale, call)
  deleteAdmissionCookie(sale, call)
  countSession(claims, 0, call)
}

/** When each session ends that this isolate has reported, in seconds since the epoch. */
const reported = new RecentMap<string, number>(MAX_REPORTED)

/**
 * Tells the origin that the visitor has come, and how long they may stay unless they come back before. Each isolate
 * says it once for each admission, since that may have been issued in the line.
 */
function reportSession(claims: AdmissionClaims, call: Call): void {
  const session = `${claims.sale} ${sessionName(claims)}`
  if (reported.get(session) === claims.exp) return
  reported.set(session, claims.exp)
  const leftSeconds = Math.max(0, claims.exp - Math.floor(call.nowMs / 1000))
  countSession(claims, leftSeconds, call)
}

/** Tells the origin that the visitor is inside, and stays for so long unless more is told. */
export function countSession(claims: QueueClaims, leftSeconds: number, call: Call): void {
  count(claims, { sessions: { [sessionName(claims)]: leftSeconds } }, call)
}

const sessionName = (claims: QueueClaims) => queueName(String(claims.num), lineOf(claims))

/** Passes the request of an admitted visitor on. How long the site takes to answer it steers the line. */
async function passAdmitted(site: Site, { token, claims }: Admission, call: Call): Promise<Response> {
  const beganMs = Date.now()
  let status: number | null = null
  try {
    const response = await pass(site, token, call)
    status = response.status
    return response
  } finally {
    const { body } = call.request
    const answer = { visitor: claims.sub, hasBody: body !== null, beganMs, tookMs: Date.now() - beganMs, status }
    count(site, sampleOf(answer, call.config.EDGE_TOKEN), call)
  }
}

/**
 * Passes the request on to the site, without the edge's cookies and with the headers that a site behind a proxy
 * expects.
 */
async function pass({ upstream }: Site, admission: string | null, call: Call): Promise<Response> {
  const { request, config } = call
  const url = new URL(request.url)
  const headers = new Headers(request.headers)
  let cookies = headers.get('cookie') ?? ''
  for (const { sale } of config.protect ?? []) cookies = withoutOurs(cookies, sale, call.secure)
  if (cookies === '') headers.delete('cookie')
  else headers.set('cookie', cookies)
  for (const name of [...headers.keys()]) if (TRUSTED.some((form) => form.test(name))) headers.delete(name)
  headers.set(REQUEST_ID_HEADER, call.requestId)
  headers.delete(ADMISSION_HEADER)
  if (admission !== null) headers.set(ADMISSION_HEADER, admission)
  const sent = bearer(request)
  if (sent !== null && isEdgeToken(sent)) headers.delete('authorization')
  headers.set('x-forwarded-host', new URL(hostOf(call)).host)
  headers.set('x-forwarded-proto', call.secure ? 'https' : 'http')
  const address = addressOf(call)
  if (address) for (const name of ['x-forwarded-for', config.ADDRESS_HEADER]) headers.set(name, address)
  try {
    const response = await fetch(upstream + url.pathname + url.search, {
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
    if (location?.startsWith(`${upstream}/`)) passed.headers.set('location', location.slice(upstream.length))
    return passed
  } catch (error) {
    warn('protected site did not respond', { why: String(error) }, call)
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
  headers.delete(SESSION_HEADER)
  headers.set('cache-control', isUncached ? 'private, no-store' : ['private', ...others].join(', '))
  return passed
}
