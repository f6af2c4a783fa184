/**
 * The tokens that the edge issues and accepts: places in line, admissions, and the origin's order tokens. A browser
 * has them in cookies, every other client sends `Authorization: Bearer`. All of them are read and issued in this
 * file.
 */
import { decodeJwt, type JWTPayload } from 'jose'
import * as v from 'valibot'
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { OrderId } from '../../shared/api/fields.ts'
import type { TokenKeys } from '../../shared/keys.ts'
import type { Schedule } from '../../shared/schedule.ts'
import {
  ADMISSION,
  ADMISSION_TTL_SECONDS,
  type AdmissionClaims,
  EDGE_ISSUER,
  MAX_TOKEN_LENGTH,
  ORDER_TOKEN_TTL_SECONDS,
  QUEUE,
  type QueueClaims,
  readToken,
  saleNamedIn,
  signToken,
  TokenReader,
} from '../../shared/tokens.ts'
import { type Call, refuse } from '../http/call.ts'
import { cookiesNamed, deleteCookie, readCookie, setCookie } from './cookies.ts'
import { accountOf, mayUse, signInUrl } from './session.ts'

export function bearer(request: Request): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
}

/**
 * Reads a token from the bearer header or from the cookie of this name. If the edge protects another site, the bearer
 * may belong to that site, so the cookie counts first there.
 */
function readCredential(name: string, call: Call): string | null {
  const [sent, stored] = [bearer(call.request), readCookie(name, call)]
  return (call.config.protect ? (stored ?? sent) : (sent ?? stored)) || null
}

// -- Places in line -------------------------------------------------------------------------------------------------

/** A place is valid this long after the opening, or after the end if one is set. */
const PLACE_TTL_SECONDS = 24 * 3600
/** A place is renewed only if that extends it by at least this long. */
const RENEWAL_SECONDS = 3600
/** The number of verified places that an isolate remembers, in an eighth of its memory. */
const MAX_PLACES = 16_000

export interface Place {
  readonly claims: QueueClaims
  readonly token: string
}

/** The line of a place or an admission, which contains it unless it is the public one. */
export const lineOf = ({ line = PUBLIC_LINE }: Pick<QueueClaims, 'line'>) => line

/**
 * Reads the place of a request for a sale. The result is null without one, and `bad` if it is not a place of that
 * sale.
 */
export async function readPlace(sale: string, call: Call): Promise<Place | 'bad' | null> {
  const token = readCredential(`queue-${sale}`, call)
  if (token === null) return isUnreadableBearer(call) ? 'bad' : null
  const verified = await placeReader(call).read(token, call.nowMs)
  return verified.ok && verified.claims.sale === sale ? { claims: verified.claims, token } : 'bad'
}

/** True if the place that was sent names another sale, valid or not. */
export function isOfOtherSale(sale: string, call: Call): boolean {
  const named = saleNamedIn(readCredential(`queue-${sale}`, call) ?? '')
  return named !== undefined && named !== sale
}

/** If the edge protects another site, an unreadable bearer may belong to that site. */
function isUnreadableBearer({ request, config }: Call): boolean {
  return !config.protect && /^bearer\b/i.test(request.headers.get('authorization') ?? '')
}

const placeReaders = new WeakMap<TokenKeys, TokenReader<QueueClaims>>()

/** Verified places are remembered, because waiting visitors send the same token many times. */
function placeReader({ config }: Call): TokenReader<QueueClaims> {
  const { queue } = config.keys
  const reader = placeReaders.get(queue) ?? new TokenReader(QUEUE, queue, MAX_PLACES)
  placeReaders.set(queue, reader)
  return reader
}

/** Signs a visitor's place and sets its cookie. */
export function issuePlace(
  { sub, src, num }: Pick<QueueClaims, 'sub' | 'src' | 'num'>,
  schedule: Schedule,
  call: Call,
): Promise<Place> {
  const iat = Math.floor(call.nowMs / 1000)
  const { sale, line } = schedule
  return signPlace({ sub, sale, ...optional({ line, src }), num, iat, exp: placeExpiry(schedule, iat) }, call)
}

/** The claims that most tokens do without. */
const optional = ({ line, src }: Pick<QueueClaims, 'line' | 'src'>) => ({
  ...(line !== undefined && { line }),
  ...(src !== undefined && { src }),
})

/**
 * Extends a place and its cookie, after an opening or end was put off or its holder has waited for a while. Null if
 * it lasts long enough. A place must not expire before its turn.
 */
export async function renewPlace({ claims }: Place, schedule: Schedule, call: Call): Promise<Place | null> {
  const exp = placeExpiry(schedule, Math.floor(call.nowMs / 1000))
  return exp - claims.exp < RENEWAL_SECONDS ? null : signPlace({ ...claims, exp }, call)
}

async function signPlace(claims: QueueClaims, call: Call): Promise<Place> {
  const token = await signToken(QUEUE, call.config.keys.queue, claims)
  setCookie(`queue-${claims.sale}`, token, claims.exp - Math.floor(call.nowMs / 1000), call)
  return { claims, token }
}

function placeExpiry(schedule: Schedule, nowSeconds: number): number {
  const lastMs = Math.max(schedule.anchor_at_ms, schedule.ends_at_ms ?? 0)
  return Math.max(nowSeconds, Math.floor(lastMs / 1000)) + PLACE_TTL_SECONDS
}

export const deletePlaceCookie = (sale: string, call: Call) => deleteCookie(`queue-${sale}`, call)
export const deleteAdmissionCookie = (sale: string, call: Call) => deleteCookie(`admission-${sale}`, call)

// -- Admissions -----------------------------------------------------------------------------------------------------

/** A client without an admission may try again after this time. */
const RETRY_AFTER_SECONDS = 5

export interface Admission {
  readonly claims: AdmissionClaims
  readonly token: string
}

/** The admission found for each call, because the response to a form needs it once more. */
const admissions = new WeakMap<Call, Admission>()

/**
 * Verifies the caller's admission. `signed-out` means that it belongs to an account without a session, so it is valid
 * again after signing in.
 */
async function readAdmission(token: string | null, call: Call): Promise<Admission | 'signed-out' | null> {
  if (token === null) return null
  const known = admissions.get(call)
  if (known?.token === token) return known
  const verified = await readToken(ADMISSION, call.config.keys.admission, token, call.nowMs)
  if (!verified.ok) return null
  if (!(await mayUse(verified.claims.sub, call))) return (await accountOf(call)) === null ? 'signed-out' : null
  const admission = { claims: verified.claims, token }
  admissions.set(call, admission)
  return admission
}

/** Returns the admission of a request for a sale; null without a valid one. */
export async function findAdmission(sale: string, call: Call): Promise<Admission | null> {
  const admission = await readAdmission(readCredential(`admission-${sale}`, call), call)
  return admission && admission !== 'signed-out' && admission.claims.sale === sale ? admission : null
}

/**
 * Returns the admission of a request that cannot continue without one. Throws `not-admitted`, `signed-out` or
 * `wrong-sale`.
 */
export async function requireAdmission(sale: string, call: Call): Promise<Admission> {
  const admission = await readAdmission(readCredential(`admission-${sale}`, call), call)
  if (admission === 'signed-out') return refuseSignedOut(sale, call)
  if (!admission) return refuseAdmission(sale)
  return admission.claims.sale === sale ? admission : refuse('wrong-sale')
}

export const refuseSignedOut = (sale: string | undefined, call: Call, detail?: string) =>
  refuse('signed-out', { sign_in_url: signInUrl(call, sale), ...(detail !== undefined && { detail }) })

export function refuseAdmission(sale?: string): never {
  const queue = sale === undefined ? {} : { queue: `/sales/${sale}/queue` }
  return refuse('not-admitted', { ...queue, retry_after_seconds: RETRY_AFTER_SECONDS })
}

/** Admits the holder of a place whose turn has come, and sets the cookie. */
export function issueAdmission({ sub, sale, line, src, num }: QueueClaims, call: Call): Promise<Admission> {
  const iat = Math.floor(call.nowMs / 1000)
  const exp = iat + ADMISSION_TTL_SECONDS
  return signAdmission({ sub, sale, ...optional({ line, src }), num, jti: crypto.randomUUID(), iat, exp }, call)
}

/**
 * Extends an admission once at most half of its time is left, up to a limit after it was issued. Null if it stays as
 * it is.
 */
export async function extendAdmission(
  { claims }: Admission,
  untilSeconds: number,
  call: Call,
): Promise<Admission | null> {
  const nowSeconds = Math.floor(call.nowMs / 1000)
  if (claims.exp - nowSeconds > ADMISSION_TTL_SECONDS / 2) return null
  const exp = Math.min(nowSeconds + ADMISSION_TTL_SECONDS, claims.iat + untilSeconds)
  return exp > claims.exp ? signAdmission({ ...claims, exp }, call) : null
}

/** Issues an admission anew to who has one, as if it began now. */
export function renewAdmission({ claims }: Admission, call: Call): Promise<Admission> {
  const iat = Math.floor(call.nowMs / 1000)
  return signAdmission({ ...claims, iat, exp: iat + ADMISSION_TTL_SECONDS }, call)
}

async function signAdmission(claims: AdmissionClaims, call: Call): Promise<Admission> {
  const token = await signToken(ADMISSION, call.config.keys.admission, claims)
  setCookie(`admission-${claims.sale}`, token, ADMISSION_TTL_SECONDS, call)
  return { claims, token }
}

// -- Order tokens ---------------------------------------------------------------------------------------------------

/**
 * Reads the token for an order: the order's own token, or an admission, of that sale if it is known. Only the origin
 * can verify an order token, so a text of that form is passed on. An admission is verified here too, since it may
 * belong to an account, and is `signed-out` then without a session. Null if there is no usable token.
 */
async function readOrderToken(order: string, call: Call, sale?: string): Promise<OrderToken | 'signed-out' | null> {
  const ofSale = sale ?? cookiesNamed('admission-', call)[0]
  const admission = ofSale === undefined ? null : readCookie(`admission-${ofSale}`, call)
  const token = readCredential(`order-${order}`, call) ?? admission
  if (token === null) return null
  const claims = claimsIn(token)
  if (claims.iss === EDGE_ISSUER) return readAdmission(token, call)
  return claims !== NO_CLAIMS && isSigned(token) ? { token } : null
}
type OrderToken = Pick<Admission, 'token'>

/** Returns the token for an order; null without a usable one. */
export async function findOrderToken(order: string, call: Call, sale?: string): Promise<string | null> {
  const found = await readOrderToken(order, call, sale)
  return found && found !== 'signed-out' ? found.token : null
}

/**
 * Returns the token for an order, if the request cannot continue without one. Throws `not-admitted`, with the sale if
 * it is known, or `signed-out`.
 */
export async function requireOrderToken(order: string, call: Call, sale?: string): Promise<string> {
  const found = await readOrderToken(order, call, sale)
  if (found && found !== 'signed-out') return found.token
  // The token that was sent is the only way to know the order's sale.
  const named = sale ?? saleNamedIn(readCredential(`order-${order}`, call) ?? '') ?? cookiesNamed('admission-', call)[0]
  return found === 'signed-out' ? refuseSignedOut(named, call) : refuseAdmission(named)
}

/** True if the text has the form of the origin's tokens; any other text is refused here. */
const isSigned = (token: string) => token.length <= MAX_TOKEN_LENGTH && /^[\w-]+\.[\w-]+\.[\w-]{43}$/.test(token)

export function setOrderCookie(order: string, token: string, call: Call): void {
  setCookie(`order-${order}`, token, ORDER_TOKEN_TTL_SECONDS, call)
}

/**
 * The latest order of a sale for which the browser has a token. The order's page finds out whether the token is
 * valid.
 */
export function latestOrder(sale: string, call: Call): string | null {
  const isOfSale = (order: string) => claimsIn(readCookie(`order-${order}`, call) ?? '').sale === sale
  // Browsers send the latest cookie last.
  return cookiesNamed('order-', call).findLast((order) => v.is(OrderId, order) && isOfSale(order)) ?? null
}

const NO_CLAIMS: JWTPayload = {}

/** Returns the claims of a token without verifying it. */
export function claimsIn(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return NO_CLAIMS
  }
}
