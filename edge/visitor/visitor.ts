/**
 * Identifies the visitor of a request. A visitor is the account that is signed in at the shop, or otherwise the owner
 * of a random secret in a cookie. The visitor's name is derived from that secret with a key. Tokens, orders and
 * operators' lists show the name; it gives no access, and nobody can choose one.
 */
import { base64url } from 'jose'
import { type Call, refuse } from '../http/call.ts'
import { identityOf, NAME_BYTES } from '../http/visitor-secret.ts'
import { findNumber } from '../queue/numbers/numbers.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { publicNow } from '../queue/sale-now.ts'
import { readCookie, SECRET_COOKIE, setCookie } from './cookies.ts'
import { deletePlaceCookie, isOfOtherSale, issuePlace, type Place, readPlace, refuseSignedOut } from './credentials.ts'
import { accountOf, mayUse, sessionFault } from './session.ts'

/** The secret, and the tag by which the edge recognises its own cookies. */
const SECRET = /^([A-Za-z0-9_-]{16,64})\.[A-Za-z0-9_-]{22}$/
/** The cookie outlives the sale, so that the next sale knows the visitor. */
const SECRET_TTL_SECONDS = 365 * 24 * 3600

/** The caller of a request, and their place. */
export interface Caller {
  readonly sale: string
  /** The place; null for a new visitor, or if the place cannot be used. */
  readonly place: Place | null
  /**
   * The reason why the place cannot be used. `signed-out` means that it belongs to an account and is valid again
   * after signing in.
   */
  readonly refusal: 'signed-out' | 'invalid-token' | null
}

/** Identifies the caller. A route does this once, at its start. */
export async function authenticate(sale: string, call: Call): Promise<Caller> {
  const place = await readPlace(sale, call)
  if (place === null) return { sale, place, refusal: null }
  if (place === 'bad') return { sale, place: null, refusal: 'invalid-token' }
  if (await mayUse(place.claims.sub, call)) return { sale, place, refusal: null }
  return { sale, place: null, refusal: (await accountOf(call)) === null ? 'signed-out' : 'invalid-token' }
}

/** The place of the caller, null for a new visitor. Throws if the place cannot be used. */
export function placeOf({ sale, place, refusal }: Caller, call: Call): Place | null {
  return refusal ? refusePlace(sale, refusal, call) : place
}

/** The same for a route that needs a place, which an account has without its token. */
export async function requirePlace(sale: string, call: Call): Promise<Place> {
  return placeOf(await authenticate(sale, call), call) ?? requireAccountPlace(sale, call)
}

/**
 * The place of the account that is signed in, found by its name and issued anew; null for nobody, and for an account
 * without a place. Throws `try-again` if the place cannot be looked up.
 */
export async function accountPlace(publicly: SaleNow, call: Call): Promise<Place | null> {
  const account = await accountOf(call)
  if (account === null) return null
  const found = await findNumber(publicly, account, call)
  if (found === 'unreachable') return refuse('try-again', { detail: 'You keep your place.', retry_after_seconds: 1 })
  return found && issuePlace({ sub: account, num: found.number }, found.now.schedule, call)
}

/** Throws for a caller who sends no place and whose session leads to none. */
export async function requireAccountPlace(sale: string, call: Call): Promise<Place> {
  if ((await accountOf(call)) !== null) {
    const place = await accountPlace(await publicNow(sale, call), call)
    return place ?? refuse('invalid-token', { detail: 'You have no place in this sale. Join first.' })
  }
  const detail = await sessionFault(call)
  return detail === null ? refusePlace(sale, 'invalid-token', call) : refuseSignedOut(sale, call, detail)
}

/** An invalid cookie is deleted, so that the browser can join again. */
function refusePlace(sale: string, refusal: NonNullable<Caller['refusal']>, call: Call): never {
  if (refusal === 'signed-out') return refuseSignedOut(sale, call)
  deletePlaceCookie(sale, call)
  return refuse(refusal, isOfOtherSale(sale, call) ? { detail: 'This is the token of another sale.' } : {})
}

export interface Visitor {
  readonly name: string
  /** The cookie's value; null if the visitor is identified by other means. */
  readonly cookie: string | null
  /** True for a returning visitor, who is looked up and recorded. */
  readonly known: boolean
}

/**
 * The visitor behind a request: the account, whatever place it sends, otherwise the holder of the place, or a new
 * visitor if there is neither.
 */
export async function visitorOf(place: Place | null, call: Call): Promise<Visitor> {
  const name = (await accountOf(call)) ?? place?.claims.sub
  if (name !== undefined) return { name, cookie: null, known: true }
  const key = call.config.keys.visitor
  const [presented, secret] = SECRET.exec(readCookie(SECRET_COOKIE, call) ?? '') ?? []
  if (secret !== undefined) {
    const identity = identityOf(secret, key)
    // The comparison is not in constant time, because a guessed tag gives no more than any join does.
    if (identity.cookie === presented) return { ...identity, known: true }
  }
  const fresh = base64url.encode(crypto.getRandomValues(new Uint8Array(NAME_BYTES)))
  return { ...identityOf(fresh, key), known: false }
}

/**
 * True if the caller proves to be this visitor by more than a token: by the secret in their cookie, or by the session
 * of the account. A token alone could be given to a hundred others.
 */
export async function isVisitor(name: string, call: Call): Promise<boolean> {
  return (await visitorOf(null, call)).name === name
}

/** Sets the cookie that identifies a returning visitor. */
export function setSecretCookie({ cookie }: Visitor, call: Call): void {
  if (cookie !== null) setCookie(SECRET_COOKIE, cookie, SECRET_TTL_SECONDS, call)
}
