/**
 * The tokens (JWT, RFC 7519; pinned as RFC 8725 asks). Each kind has one algorithm, one issuer and one audience, and
 * anything else is refused:
 *
 *   queue      a place in line; signed and read by the edge alone            HS256, aud "queue"
 *   admission  the right to check out; signed by the edge, read by anyone    EdDSA, aud "checkout"
 *   order      the right to see one order; the origin's own (origin/tokens)  HS256, aud "order"
 *
 * Verifying answers a value, never throws; keys are imported once by whoever holds them. Times are given by the
 * caller (milliseconds since the epoch), since only the rim knows which clock decides.
 */
import { base64url, type CryptoKey, compactVerify, decodeJwt, type jwtVerify, SignJWT } from 'jose'
import * as v from 'valibot'
import { Recent } from './recent-map.ts'

export const EDGE_ISSUER = 'flash-sale-edge'

/** How long an admission token is good for: long enough to fill in a form, short enough not to be sold on. */
export const ADMISSION_TTL_SECONDS = 300
/** How long an order token is good for. */
export const ORDER_TOKEN_TTL_SECONDS = 24 * 3600

/** No control characters, no half letters (lone surrogates): what Postgres cannot store it refuses with all of a batch. */
const text = v.pipe(v.string(), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cs}]+$/u))
const ticketNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const seconds = v.pipe(v.number(), v.finite())

const QueueClaims = v.object({ sub: text, sale: text, num: ticketNumber, iat: seconds, exp: seconds })
const AdmissionClaims = v.object({
  sub: text,
  sale: text,
  num: ticketNumber,
  jti: text,
  iat: seconds,
  exp: seconds,
})

/** A place in line: visitor (`sub`), sale, ticket number (`num`); `iat` and `exp` in seconds since the epoch. */
export type QueueClaims = v.InferOutput<typeof QueueClaims>
/** An admission: as a place in line, with an id of its own (`jti`). */
export type AdmissionClaims = v.InferOutput<typeof AdmissionClaims>

/** An HMAC key of at least 32 bytes, an Ed25519 key, or a function that finds the key (a JWKS). */
export type Key = CryptoKey | Uint8Array
type KeySource = Key | Parameters<typeof jwtVerify>[1]

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid' }

/** What is pinned for a kind of token. */
export interface Kind<Claims> {
  /**
   * How the signature is spelled. The last letter of base64url carries bits that decoders ignore: with this, a token
   * has one spelling, and a change of any letter is a change of the token.
   */
  readonly signature: RegExp
  readonly alg: 'HS256' | 'EdDSA'
  readonly issuer: string
  readonly audience: string
  readonly claims: v.GenericSchema<unknown, Claims>
}

export const HS256_SIGNATURE = /\.[\w-]{42}[AEIMQUYcgkosw048]$/
const EDDSA_SIGNATURE = /\.[\w-]{85}[AQgw]$/

const QUEUE: Kind<QueueClaims> = {
  signature: HS256_SIGNATURE,
  alg: 'HS256',
  issuer: EDGE_ISSUER,
  audience: 'queue',
  claims: QueueClaims,
}
export const ADMISSION: Kind<AdmissionClaims> = {
  signature: EDDSA_SIGNATURE,
  alg: 'EdDSA',
  issuer: EDGE_ISSUER,
  audience: 'checkout',
  claims: AdmissionClaims,
}

/** The claims of a token whose signature held, at `nowMs`. */
export function claimsOf<Claims extends { exp: number }>(
  kind: Kind<Claims>,
  told: { iss?: unknown; aud?: unknown },
  nowMs: number,
): Verified<Claims> {
  const claims = v.safeParse(kind.claims, told)
  if (!claims.success || told.iss !== kind.issuer || told.aud !== kind.audience) return INVALID
  return unlessExpired(claims.output, nowMs)
}

const unlessExpired = <Claims extends { exp: number }>(claims: Claims, nowMs: number): Verified<Claims> =>
  claims.exp * 1000 > nowMs ? { ok: true, claims } : { ok: false, reason: 'expired' }

/** A signature that held is looked at again after so long: its key may have been withdrawn. */
const VERIFIED_FOR_MS = 60_000

/**
 * Tokens verified a moment ago: whoever has one shows it again and again, and of one that held only the end is checked
 * each time. What did not hold is not kept.
 */
export class VerifiedLately<Claims extends { exp: number }> {
  readonly #verify: (token: string, nowMs: number) => Promise<Verified<Claims>>
  readonly #held: Recent<string, { readonly claims: Claims; readonly atMs: number }>

  /** Remembers at most `max` tokens, of about 1 KB each. */
  constructor(max: number, verify: (token: string, nowMs: number) => Promise<Verified<Claims>>) {
    this.#held = new Recent(max)
    this.#verify = verify
  }

  /** Reads a token at `nowMs`. */
  verify(token: string, nowMs: number): Verified<Claims> | Promise<Verified<Claims>> {
    const held = this.#held.get(token)
    // A clock may be put back: then too.
    if (held && Math.abs(nowMs - held.atMs) < VERIFIED_FOR_MS) return unlessExpired(held.claims, nowMs)
    return this.#verify(token, nowMs).then((verified) => {
      if (verified.ok) this.#held.set(token, { claims: verified.claims, atMs: nowMs })
      return verified
    })
  }
}

/**
 * Signs a place in line. Places are signed and read a thousand times as often as anything else, so both are written
 * out here for the one header they have; the result is a JWT like any other.
 */
export async function signQueueToken(key: Key, claims: QueueClaims): Promise<string> {
  const payload = JSON.stringify({ ...claims, iss: QUEUE.issuer, aud: QUEUE.audience })
  // Letters beyond ASCII are written as JSON escapes, which keeps the reader's way from bytes to text short.
  const ascii = payload.replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const signed = `${QUEUE_HEADER}.${base64url.encode(ascii)}`
  const signature = await crypto.subtle.sign('HMAC', await hmacKey(key), encoder.encode(signed))
  return `${signed}.${base64url.encode(new Uint8Array(signature))}`
}

/** Reads a place in line at `nowMs`. */
export async function verifyQueueToken(
  key: Key,
  token: string,
  nowMs: number,
): Promise<Verified<QueueClaims>> {
  if (!token.startsWith(QUEUE_HEADER) || !QUEUE.signature.test(token)) return INVALID
  const end = token.lastIndexOf('.')
  const payload = token.slice(QUEUE_HEADER.length + 1, end)
  try {
    const signature = base64url.decode(token.slice(end + 1))
    const signed = encoder.encode(token.slice(0, end))
    if (!(await crypto.subtle.verify('HMAC', await hmacKey(key), signature, signed))) return INVALID
    return claimsOf(QUEUE, JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))), nowMs)
  } catch {
    return INVALID
  }
}

/** Signs an admission with the edge's private Ed25519 key; `kid` names its public half in the JWKS. */
export function signAdmissionToken(key: Key, kid: string, claims: AdmissionClaims): Promise<string> {
  return new SignJWT({ ...claims, iss: ADMISSION.issuer, aud: ADMISSION.audience })
    .setProtectedHeader({ alg: ADMISSION.alg, typ: 'JWT', kid })
    .sign(key)
}

/** Reads an admission at `nowMs`. */
export async function verifyAdmissionToken(
  key: KeySource,
  token: string,
  nowMs: number,
): Promise<Verified<AdmissionClaims>> {
  if (!ADMISSION.signature.test(token)) return INVALID
  try {
    const { payload } = await compactVerify(token, key as Key, { algorithms: [ADMISSION.alg] })
    return claimsOf(ADMISSION, JSON.parse(new TextDecoder().decode(payload)), nowMs)
  } catch {
    return INVALID
  }
}

/** True for what reads like a token of the edge, good or not: it is nobody else's business. */
export function isEdgeToken(token: string): boolean {
  try {
    return decodeJwt(token).iss === EDGE_ISSUER
  } catch {
    return false
  }
}

const QUEUE_HEADER = base64url.encode(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))
export const INVALID = { ok: false, reason: 'invalid' } as const

/** What Workers, Node and browsers all have. */
declare const crypto: {
  readonly subtle: {
    importKey(
      format: 'raw',
      key: Uint8Array,
      algorithm: object,
      extractable: boolean,
      usages: string[],
    ): Promise<CryptoKey>
    sign(algorithm: 'HMAC', key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>
    verify(algorithm: 'HMAC', key: CryptoKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>
  }
}
declare const TextEncoder: new () => { encode(text: string): Uint8Array }
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }
declare const atob: (base64: string) => string
const encoder = new TextEncoder()

function hmacKey(key: Key): CryptoKey | Promise<CryptoKey> {
  if (!(key instanceof Uint8Array)) return key
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}
