/**
 * Who a request comes from. A visitor is the account they are signed in with at the shop, else whoever has a random secret in
 * a cookie. The visitor's name is derived from that secret with a key: tokens, orders and operators' lists show it, it
 * opens nothing, and nobody can choose one.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import { type Call, refuse } from '../http.ts'
import { deletePlaceCookie, type Place, readPlace, readSecret } from './credentials.ts'
import { accountOf, mayUse } from './session.ts'

/** Enough that no two random secrets are the same, nor two names. */
const NAME_BYTES = 16

/** What a request shows of the place it comes from. */
export type Caller =
  | { readonly kind: 'holder'; readonly place: Place }
  | { readonly kind: 'newcomer' }
  /** The place is an account's that nobody is signed in with; it is good again after signing in. */
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'bad-token' }

/** Reads who is asking; once, where a route begins. */
export async function authenticate(sale: string, call: Call): Promise<Caller> {
  const place = await readPlace(sale, call)
  if (place === null) return { kind: 'newcomer' }
  if (place === 'bad') return { kind: 'bad-token' }
  if (await mayUse(place.claims.sub, call)) return { kind: 'holder', place }
  return { kind: (await accountOf(call)) === null ? 'signed-out' : 'bad-token' }
}

/** The same for a route that refuses bad places. A browser's bad cookie is deleted, so that it can join again. */
export async function authenticateOrRefuse(sale: string, call: Call) {
  const caller = await authenticate(sale, call)
  if (caller.kind === 'signed-out') return refuse('signed-out')
  if (caller.kind === 'bad-token') return refuseToken(sale, call)
  return caller
}

/** The same for a route that needs a place. */
export async function requirePlace(sale: string, call: Call): Promise<Place> {
  const caller = await authenticateOrRefuse(sale, call)
  return caller.kind === 'holder' ? caller.place : refuseToken(sale, call)
}

function refuseToken(sale: string, call: Call): never {
  deletePlaceCookie(sale, call)
  return refuse('invalid-token')
}

export interface Visitor {
  readonly name: string
  /** What the name is derived from; null where something else says who they are. */
  readonly secret: string | null
  /** Someone who may have been here before, and so is looked up and recorded. */
  readonly known: boolean
}

/** The visitor behind a request; a new one if nothing says who they are. */
export async function visitorOf(caller: Caller, call: Call): Promise<Visitor> {
  if (caller.kind === 'holder') return { name: caller.place.claims.sub, secret: null, known: true }
  const account = await accountOf(call)
  if (account !== null) return { name: account, secret: null, known: true }
  const kept = readSecret(call)
  const secret = kept ?? base64url.encode(crypto.getRandomValues(new Uint8Array(NAME_BYTES)))
  // Of two blocks of text WebCrypto's way there and back costs several times as much.
  const mac = hmac(sha256, call.config.keys.visitor, new TextEncoder().encode(secret))
  return { name: base64url.encode(mac.subarray(0, NAME_BYTES)), secret, known: kept !== null }
}
