/**
 * Tokens as the origin reads and signs them: not by WebCrypto, which takes each through the thread pool, at the cost of
 * another signature, nor by Node's objects, which keep the garbage collector busy for longer than they work. What is
 * pinned, and what claims must be, shared/tokens.ts says.
 */
import { KeyObject, type webcrypto } from 'node:crypto'
import { type Algorithm, signSync, verifySync } from '@node-rs/jsonwebtoken'
import {
  type CryptoKey,
  createRemoteJWKSet,
  errors,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
} from 'jose'
import * as v from 'valibot'
import { Recent } from '../../shared/recent-map.ts'
import {
  ADMISSION,
  type AdmissionClaims,
  claimsOf,
  HS256_SIGNATURE,
  INVALID,
  type Kind,
  type Verified,
} from '../../shared/tokens.ts'
import { Overloaded } from '../lib/batcher.ts'
import { type Signed, signedBy } from './signatures.ts'

/** Finds the public key that a token's header names (jose's local or remote JWKS). */
export type FindKey = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>

/**
 * The keys are fetched again so often, behind the answers: what one that was withdrawn has signed is refused from then on,
 * and what was verified before, a minute later (VerifiedLately).
 */
const KEYS_FOR_MS = 60_000
/** For a key that is not among them they are fetched at once, but no more often than this. */
const KEYS_AGAIN_MS = 5_000
const KEYS_TIMEOUT_MS = 3_000

/** The key cannot be looked for now: it says nothing about the token. */
export class KeysAway extends Error {
  override readonly name = 'KeysAway'
}

/** Finds keys in the JWKS at an address. While that is away those that it had are good: yesterday's are better than none. */
export function keysAt(url: URL): FindKey {
  // Keys that have come of age (10 minutes) jose would fetch before it answers, and refuse everyone while it cannot.
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: KEYS_AGAIN_MS,
    timeoutDuration: KEYS_TIMEOUT_MS,
  })
  let nextLookMs = 0
  return (header, token) => {
    if (performance.now() >= nextLookMs) {
      nextLookMs = performance.now() + KEYS_FOR_MS
      keys.reload().catch(() => {})
    }
    return keys(header, token).catch((error) => {
      const ofTheToken =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
      throw ofTheToken ? error : new KeysAway(`no keys from ${url}: ${error}`, { cause: error })
    })
  }
}

/** Headers as they were read before: an issuer has one for each of its keys. */
const heads = new Recent<string, JWTHeaderParameters>(100)
const pems = new WeakMap<CryptoKey, string>()

/** Tells whether a signature holds: on the spot (`holds`), or by a thread (`Signatures`). */
type Check = (signed: Signed) => boolean | Promise<boolean>

/** Reads an admission at `nowMs`; throws where it cannot be told now whether it is one. */
export async function readAdmission(
  find: FindKey,
  check: Check,
  token: string,
  nowMs: number,
): Promise<Verified<AdmissionClaims>> {
  if (!ADMISSION.signature.test(token)) return INVALID
  const [head = '', payload = '', signature = ''] = token.split('.')
  try {
    let header = heads.get(head)
    if (!header) {
      header = jsonIn(head) as JWTHeaderParameters
      heads.set(head, header)
    }
    if (header.alg !== ADMISSION.alg || header.crit !== undefined) return INVALID
    const key = await find(header, { protected: head, payload, signature })
    let pem = pems.get(key)
    if (!pem) {
      pem = KeyObject.from(key as webcrypto.CryptoKey)
        .export({ type: 'spki', format: 'pem' })
        .toString()
      pems.set(key, pem)
    }
    if (!(await check({ key: pem, token }))) return INVALID
    return claimsOf(ADMISSION, jsonIn(payload), nowMs)
  } catch (error) {
    if (error instanceof KeysAway || error instanceof Overloaded) throw error
    return INVALID
  }
}

// -- Order tokens ------------------------------------------------------------------------------------------------------

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const seconds = v.pipe(v.number(), v.finite())
const OrderClaims = v.object({ sub: name, sale: name, iat: seconds, exp: seconds })

/** A view of one order (`sub` is the order's id) of a sale; `iat` and `exp` in seconds since the epoch. */
type OrderClaims = v.InferOutput<typeof OrderClaims>

const ORDER: Kind<OrderClaims> = {
  signature: HS256_SIGNATURE,
  alg: 'HS256',
  issuer: 'flash-sale-origin',
  audience: 'order',
  claims: OrderClaims,
}
const ORDER_HEADER = { algorithm: ORDER.alg as Algorithm }
const ORDER_RULES = signedBy(ORDER.alg)

/** Signs the right to see one order. */
export function signOrderToken(secret: Uint8Array, claims: OrderClaims): string {
  return signSync({ ...claims, iss: ORDER.issuer, aud: ORDER.audience }, secret, ORDER_HEADER)
}

/** Reads the right to see one order at `nowMs`. */
export function readOrderToken(secret: Uint8Array, token: string, nowMs: number): Verified<OrderClaims> {
  if (!ORDER.signature.test(token)) return INVALID
  try {
    return claimsOf(ORDER, verifySync(token, secret, ORDER_RULES), nowMs)
  } catch {
    return INVALID
  }
}

const jsonIn = (base64url: string) => JSON.parse(Buffer.from(base64url, 'base64url').toString())
