/**
 * The three tokens (JWT, RFC 7519; pinned as RFC 8725 asks). Each kind has one algorithm, one issuer and one audience,
 * and anything else is refused:
 *
 *   queue      a place in line; signed and read by the edge alone            HS256, aud "queue"
 *   admission  the right to check out; signed by the edge, read by anyone    EdDSA, aud "checkout"
 *   order      the right to see one order; signed and read by the origin     HS256, aud "order"
 *
 * Verifying answers a value, never throws; keys are imported once by whoever holds them. Times are given by the
 * caller (milliseconds since the epoch), since only the rim knows which clock decides.
 */
import { type CryptoKey, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import * as v from 'valibot'

export const EDGE_ISSUER = 'flash-sale-edge'
export const ORIGIN_ISSUER = 'flash-sale-origin'

/** How long an admission token is good for: long enough to fill in a form, short enough not to be sold on. */
export const ADMISSION_TTL_SECONDS = 300
/** How long an order token is good for. */
export const ORDER_TOKEN_TTL_SECONDS = 24 * 3600

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
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
const OrderClaims = v.object({ sub: text, iat: seconds, exp: seconds })

/** A place in line: visitor (`sub`), sale, ticket number (`num`); `iat` and `exp` in seconds since the epoch. */
export type QueueClaims = v.InferOutput<typeof QueueClaims>
/** An admission: as a place in line, with an id of its own (`jti`). */
export type AdmissionClaims = v.InferOutput<typeof AdmissionClaims>
/** A view of one order (`sub` is the order's id). */
export type OrderClaims = v.InferOutput<typeof OrderClaims>

/** An HMAC key of at least 32 bytes, an Ed25519 key, or a function that finds the key (a JWKS). */
export type Key = CryptoKey | Uint8Array
export type KeySource = Key | Parameters<typeof jwtVerify>[1]

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid' }

interface Kind<Claims> {
  readonly alg: 'HS256' | 'EdDSA'
  readonly issuer: string
  readonly audience: string
  readonly claims: v.GenericSchema<unknown, Claims>
}

const QUEUE: Kind<QueueClaims> = { alg: 'HS256', issuer: EDGE_ISSUER, audience: 'queue', claims: QueueClaims }
const ADMISSION: Kind<AdmissionClaims> = {
  alg: 'EdDSA',
  issuer: EDGE_ISSUER,
  audience: 'checkout',
  claims: AdmissionClaims,
}
const ORDER: Kind<OrderClaims> = {
  alg: 'HS256',
  issuer: ORIGIN_ISSUER,
  audience: 'order',
  claims: OrderClaims,
}

/** Signs a place in line. */
export const signQueueToken = (key: Key, claims: QueueClaims) => sign(QUEUE, key, claims)
/** Reads a place in line at `nowMs`. */
export const verifyQueueToken = (key: KeySource, token: string, nowMs: number) =>
  verify(QUEUE, key, token, nowMs)

/** Signs an admission with the edge's private Ed25519 key; `kid` names its public half in the JWKS. */
export const signAdmissionToken = (key: Key, kid: string, claims: AdmissionClaims) =>
  sign(ADMISSION, key, claims, kid)
/** Reads an admission at `nowMs`. */
export const verifyAdmissionToken = (key: KeySource, token: string, nowMs: number) =>
  verify(ADMISSION, key, token, nowMs)

/** Signs the right to see one order. */
export const signOrderToken = (key: Key, claims: OrderClaims) => sign(ORDER, key, claims)
/** Reads the right to see one order at `nowMs`. */
export const verifyOrderToken = (key: KeySource, token: string, nowMs: number) =>
  verify(ORDER, key, token, nowMs)

function sign<Claims>(
  kind: Kind<Claims>,
  key: Key,
  claims: Claims & JWTPayload,
  kid?: string,
): Promise<string> {
  return new SignJWT({ ...claims, iss: kind.issuer, aud: kind.audience })
    .setProtectedHeader({ alg: kind.alg, typ: 'JWT', ...(kid ? { kid } : {}) })
    .sign(key)
}

async function verify<Claims>(
  kind: Kind<Claims>,
  key: KeySource,
  token: string,
  nowMs: number,
): Promise<Verified<Claims>> {
  try {
    const { payload } = await jwtVerify(token, key as Key, {
      algorithms: [kind.alg],
      issuer: kind.issuer,
      audience: kind.audience,
      requiredClaims: ['sub', 'iat', 'exp'],
      currentDate: new Date(nowMs),
    })
    const claims = v.safeParse(kind.claims, payload)
    return claims.success ? { ok: true, claims: claims.output } : { ok: false, reason: 'invalid' }
  } catch (error) {
    return { ok: false, reason: error instanceof errors.JWTExpired ? 'expired' : 'invalid' }
  }
}
