/**
 * The tokens that the edge issues and accepts: places in line, admissions, and the origin's order tokens. A browser has them in
 * cookies, every other client as `Authorization: Bearer`. Each is read and issued here, and nowhere else.
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
import { type Call, refuse } from '../call.ts'
import { cookiesNamed, deleteCookie, readCookie, setCookie } from './cookies.ts'
import { accountOf, mayUse, signInUrl } from './session.ts'

export function bearer(request: Request): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
}

/**
 * A token of ours, as a bearer or in the cookie of this name. Where the edge protects another site, the bearer may be that
 * site's own, so the cookie counts first there.
 */
function presented(name: string, call: Call): string | null {
  const [sent, stored] = [bearer(call.request), readCookie(name, call)]
  return (call.config.protect ? (stored ?? sent) : (sent ?? stored)) || null
}

// -- Places in line ----------------------------------------------------------------------------------------------------

/** How long after the opening (or the end, where one is set) a place is still good. */
const PLACE_TTL_SECONDS = 24 * 3600
/** A place is renewed only if it then lasts so much longer. */
const RENEWAL_SECONDS = 3600
/** Places remembered per isolate as verified: an eighth of its memory. */
const MAX_PLACES = 16_000

export interface Place {
  readonly claims: QueueClaims
  readonly token: string
}

/** The line of a place or an admission, which names it unless it is the public one. */
export const lineOf = ({ line = PUBLIC_LINE }: Pick<QueueClaims, 'line'>) => line

/** The place that a request presents for a sale; null without one, `bad` if it is not one of that sale. */
export async function readPlace(sale: string, call: Call): Promise<Place | 'bad' | null> {
  const token = presented(`queue-${sale}`, call)
  if (token === null) return isUnreadableBearer(call) ? 'bad' : null
  const verified = await placeReader(call).read(token, call.nowMs)
  return verified.ok && verified.claims.sale === sale ? { claims: verified.claims, token } : 'bad'
}

/** Where the edge protects another site, the bearer may be that site's. */
function isUnreadableBearer({ request, config }: Call): boolean {
  return !config.protect && /^bearer\b/i.test(request.headers.get('authorization') ?? '')
}

const placeReaders = new WeakMap<TokenKeys, TokenReader<QueueClaims>>()

/** Waiting visitors present the same token many times. */
function placeReader({ config }: Call): TokenReader<QueueClaims> {
  const { queue } = config.keys
  const reader = placeReaders.get(queue) ?? new TokenReader(QUEUE, queue, MAX_PLACES)
  placeReaders.set(queue, reader)
  return reader
}

/** Signs a visitor's place, and sets its cookie. */
export function issuePlace(sub: string, num: number, schedule: Schedule, call: Call): Promise<Place> {
  const iat = Math.floor(call.nowMs / 1000)
  const { sale, line } = schedule
  return signPlace(
    { sub, sale, ...(line === undefined ? {} : { line }), num, iat, exp: placeExpiry(schedule, iat) },
    call,
  )
}

/**
 * The same place for longer, with its cookie: an opening or end was put off, or its holder has waited for a while. Null
 * where it lasts long enough. A place must not have expired when the turn comes.
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

// -- Admissions --------------------------------------------------------------------------------------------------------

/** When a client without an admission may ask again. */
const RETRY_AFTER_SECONDS = 5

export interface Admission {
  readonly claims: AdmissionClaims
  readonly token: string
}

/** The admission that a call was found to have: the answer to a form needs it once more. */
const admissions = new WeakMap<Call, Admission>()

/** An admission of the caller's; `signed-out` for an account's without a session, which is good again after signing in. */
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

/** The admission that a request presents for a sale; null without a valid one. */
export async function findAdmission(sale: string, call: Call): Promise<Admission | null> {
  const admission = await readAdmission(presented(`admission-${sale}`, call), call)
  return admission && admission !== 'signed-out' && admission.claims.sale === sale ? admission : null
}

/** The same, where nothing can be done without one. Throws `not-admitted`, `signed-out` or `wrong-sale`. */
export async function requireAdmission(sale: string, call: Call): Promise<Admission> {
  const admission = await readAdmission(presented(`admission-${sale}`, call), call)
  if (admission === 'signed-out') return refuseSignedOut(sale, call)
  if (!admission) return refuseAdmission(sale)
  return admission.claims.sale === sale ? admission : refuse('wrong-sale')
}

export const refuseSignedOut = (sale: string | undefined, call: Call) =>
  refuse('signed-out', { sign_in_url: signInUrl(call, sale) })

export function refuseAdmission(sale?: string): never {
  const queue = sale === undefined ? {} : { queue: `/sales/${sale}/queue` }
  return refuse('not-admitted', { ...queue, retry_after_seconds: RETRY_AFTER_SECONDS })
}

/** Admits the holder of a place whose turn has come, and sets the cookie. */
export function issueAdmission({ sub, sale, line, num }: QueueClaims, call: Call): Promise<Admission> {
  const iat = Math.floor(call.nowMs / 1000)
  const exp = iat + ADMISSION_TTL_SECONDS
  return signAdmission(
    { sub, sale, ...(line === undefined ? {} : { line }), num, jti: crypto.randomUUID(), iat, exp },
    call,
  )
}

/** Extends an admission of which half or less is left, up to a time after it was issued. */
export async function extendAdmission({ claims }: Admission, untilSeconds: number, call: Call): Promise<void> {
  const nowSeconds = Math.floor(call.nowMs / 1000)
  if (claims.exp - nowSeconds > ADMISSION_TTL_SECONDS / 2) return
  const exp = Math.min(nowSeconds + ADMISSION_TTL_SECONDS, claims.iat + untilSeconds)
  if (exp > claims.exp) await signAdmission({ ...claims, exp }, call)
}

async function signAdmission(claims: AdmissionClaims, call: Call): Promise<Admission> {
  const token = await signToken(ADMISSION, call.config.keys.admission, claims)
  setCookie(`admission-${claims.sale}`, token, ADMISSION_TTL_SECONDS, call)
  return { claims, token }
}

// -- Order tokens ------------------------------------------------------------------------------------------------------

/**
 * What a request presents for an order: the order's own token, or an admission, of that sale where it is known. Only the
 * origin can verify an order token, so what looks like one is passed on; an admission is verified here too, since it may
 * be bound to an account, and is `signed-out` then without its session. Null if there is nothing to pass on.
 */
async function readOrderToken(order: string, call: Call, sale?: string): Promise<OrderToken | 'signed-out' | null> {
  const ofSale = sale ?? cookiesNamed('admission-', call)[0]
  const admission = ofSale === undefined ? null : readCookie(`admission-${ofSale}`, call)
  const token = presented(`order-${order}`, call) ?? admission
  if (token === null) return null
  const claims = claimsIn(token)
  if (claims.iss === EDGE_ISSUER) return readAdmission(token, call)
  return claims !== NO_CLAIMS && isSigned(token) ? { token } : null
}
type OrderToken = Pick<Admission, 'token'>

/** The token for an order that a request presents; null without one that can be used. */
export async function findOrderToken(order: string, call: Call, sale?: string): Promise<string | null> {
  const found = await readOrderToken(order, call, sale)
  return found && found !== 'signed-out' ? found.token : null
}

/** The same, where nothing can be done without one. Throws `not-admitted`, with the sale if it is known, or `signed-out`. */
export async function requireOrderToken(order: string, call: Call, sale?: string): Promise<string> {
  const found = await readOrderToken(order, call, sale)
  if (found && found !== 'signed-out') return found.token
  // Only the token, if one was sent, can tell of which sale the order is.
  const named = sale ?? saleNamedIn(presented(`order-${order}`, call) ?? '') ?? cookiesNamed('admission-', call)[0]
  return found === 'signed-out' ? refuseSignedOut(named, call) : refuseAdmission(named)
}

/** True for the form of the origin's tokens: what has another is refused here. */
const isSigned = (token: string) => token.length <= MAX_TOKEN_LENGTH && /^[\w-]+\.[\w-]+\.[\w-]{43}$/.test(token)

export function setOrderCookie(order: string, token: string, call: Call): void {
  setCookie(`order-${order}`, token, ORDER_TOKEN_TTL_SECONDS, call)
}

/** The latest order of a sale that the browser has a token of. Whether the token is valid shows on the order's page. */
export function latestOrder(sale: string, call: Call): string | null {
  const isOfSale = (order: string) => claimsIn(readCookie(`order-${order}`, call) ?? '').sale === sale
  // Browsers send the latest cookie last.
  return cookiesNamed('order-', call).findLast((order) => v.is(OrderId, order) && isOfSale(order)) ?? null
}

const NO_CLAIMS: JWTPayload = {}

/** The claims in a token, not verified. */
export function claimsIn(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return NO_CLAIMS
  }
}
