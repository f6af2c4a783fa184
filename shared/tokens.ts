/**
 * Every token of the system is signed and read here (JWT, RFC 7519, pinned as RFC 8725 advises):
 *
 *   queue       a place in line                     signed by the edge    read by the edge             aud "queue"
 *   admission   the right to check out              signed by the edge    read by edge and origin      aud "checkout"
 *   order       the right to see one order          signed by the origin  read by the origin           aud "order"
 *   handover    a paid order, for its shop          signed by the edge    read by the shop             aud "handover"
 *   hold        an unpaid order, for its shop       signed by the edge    read by the shop             aud "hold"
 *   account     who is signed in at the shop        signed by the edge    read by the edge             aud "account"
 *   sign-in     a sign-in that is under way         signed by the edge    read by the edge             aud "sign-in"
 *   invitation  the right of visitors to join       signed by the origin  read by the origin           aud "invitation"
 *
 * A token's header names a key by its `kid` and must agree with that key's algorithm (keys.ts): it chooses nothing
 * else. Reading returns a value and never throws. The caller passes the time in milliseconds.
 */
import { base64url, decodeJwt } from 'jose'
import * as v from 'valibot'
import { SaleId } from './api/fields.ts'
import { SourceLabel } from './api/views/source.ts'
import { type Awaitable, headerOf, type Key, type SyncKey, type TokenKeys } from './keys.ts'
import { RecentMap } from './lib/recent-map.ts'
import { tryParse } from './parse.ts'

export const EDGE_ISSUER = 'flash-sale-edge'
/** The time is long enough to fill in a form, and short enough to make reselling hard. */
export const ADMISSION_TTL_SECONDS = 300
export const ORDER_TOKEN_TTL_SECONDS = 24 * 3600
export const HANDOVER_TTL_SECONDS = 3600

// -- Kinds and claims -----------------------------------------------------------------------------------------------

/**
 * The pattern excludes control characters and lone surrogates, because Postgres refuses them, and with them the whole
 * batch of orders.
 */
const text = v.pipe(v.string(), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cs}]+$/u))
const ticketNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const seconds = v.pipe(v.number(), v.finite())

const QueueClaims = v.object({
  sub: text,
  sale: text,
  /** The line; omitted for the public line. */
  line: v.optional(text),
  /** The label of the visitor's source; omitted without one. */
  src: v.optional(SourceLabel),
  num: ticketNumber,
  iat: seconds,
  exp: seconds,
})
const AdmissionClaims = v.object({ ...QueueClaims.entries, jti: text })
const InvitationClaims = v.object({
  sub: text,
  sale: text,
  uses: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  iat: seconds,
  exp: seconds,
})
const OrderClaims = v.object({ sub: text, sale: text, iat: seconds, exp: seconds })

const HandoverClaims = v.object({
  sub: text,
  sale: text,
  short_number: v.nullable(text),
  total_minor: v.number(),
  currency: text,
  lines: v.array(v.object({ product_id: text, quantity: v.number() })),
  iat: seconds,
  exp: seconds,
})

const HoldClaims = v.object({
  ...HandoverClaims.entries,
  status: v.literal('reserved'),
  reserved_until: text,
})

/**
 * A place: the visitor (`sub`), sale, line and ticket number (`num`); `iat` and `exp` are in seconds since the epoch.
 */
export type QueueClaims = v.InferOutput<typeof QueueClaims>
/** The admission of a called place, with its own id (`jti`). */
export type AdmissionClaims = v.InferOutput<typeof AdmissionClaims>
/** The token of an order (`sub`) in a sale. */
type OrderClaims = v.InferOutput<typeof OrderClaims>

/** A paid order (`sub`) for its shop. Sections of a hall count as products. */
export type HandoverClaims = v.InferOutput<typeof HandoverClaims>

/** A hold (`sub`) that the shop may sell until it ends, at `exp`. Sections of a hall count as products. */
export type HoldClaims = v.InferOutput<typeof HoldClaims>

const AccountClaims = v.object({ sub: text, iat: seconds, exp: seconds })

const SignInClaims = v.object({
  state: text,
  nonce: text,
  verifier: text,
  back: v.pipe(v.string(), v.maxLength(1_000)),
  iat: seconds,
  exp: seconds,
})

/** The session of an account (`sub`) that signed in by OpenID Connect. */
type AccountClaims = v.InferOutput<typeof AccountClaims>

/** What a browser keeps while its user is at the sign-in service, and the path (`back`) to which they return. */
export type SignInClaims = v.InferOutput<typeof SignInClaims>

/** A signed link that admits `uses` visitors to a sale. */
type InvitationClaims = v.InferOutput<typeof InvitationClaims>

interface Kind<Claims> {
  readonly issuer: string
  readonly audience: string
  readonly claims: v.GenericSchema<unknown, Claims>
}

export const QUEUE: Kind<QueueClaims> = { issuer: EDGE_ISSUER, audience: 'queue', claims: QueueClaims }
export const ADMISSION: Kind<AdmissionClaims> = {
  issuer: EDGE_ISSUER,
  audience: 'checkout',
  claims: AdmissionClaims,
}
export const ORDER: Kind<OrderClaims> = {
  issuer: 'flash-sale-origin',
  audience: 'order',
  claims: OrderClaims,
}

export const HANDOVER: Kind<HandoverClaims> = { issuer: EDGE_ISSUER, audience: 'handover', claims: HandoverClaims }

export const HOLD: Kind<HoldClaims> = { issuer: EDGE_ISSUER, audience: 'hold', claims: HoldClaims }

export const ACCOUNT: Kind<AccountClaims> = { issuer: EDGE_ISSUER, audience: 'account', claims: AccountClaims }

export const SIGN_IN: Kind<SignInClaims> = { issuer: EDGE_ISSUER, audience: 'sign-in', claims: SignInClaims }

export const INVITATION: Kind<InvitationClaims> = {
  issuer: 'flash-sale-origin',
  audience: 'invitation',
  claims: InvitationClaims,
}

// -- Signing and reading --------------------------------------------------------------------------------------------

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid' }

const INVALID = { ok: false, reason: 'invalid' } as const
/** Longer tokens are refused. The longest possible claims need half of it. */
export const MAX_TOKEN_LENGTH = 4_096

/** At most this many headers of other signers are remembered. */
const MAX_HEADERS = 100

/** The key that a header names. Other signers may order its members differently, or omit `typ` (RFC 7515, 4.1). */
function keyOf<K extends Key>({ byHeader }: TokenKeys<K>, encoded: string): K | undefined {
  const known = byHeader.get(encoded)
  if (known) return known
  const header = decodePart(encoded)
  if (header === undefined || (header.typ ?? 'JWT') !== 'JWT' || header.crit !== undefined) return undefined
  const key = byHeader.get(headerOf(String(header.alg), String(header.kid)))
  if (key && byHeader.size < MAX_HEADERS) byHeader.set(encoded, key)
  return key
}

/** Synchronous keys give synchronous results. */
type Result<K extends Key, T> = K extends SyncKey ? T : Awaitable<T>

export function signToken<C extends object, K extends Key>(
  { issuer, audience }: Kind<C>,
  { first }: TokenKeys<K>,
  claims: C,
): Result<K, string> {
  const payload = encodePart(JSON.stringify({ ...claims, iss: issuer, aud: audience }))
  const signed = `${first.header}.${payload}`
  return settled(first.sign(signed), (signature) => `${signed}.${signature}`) as Result<K, string>
}

export function readToken<C extends { exp: number }, K extends Key>(
  kind: Kind<C>,
  keys: TokenKeys<K>,
  token: string,
  nowMs: number,
): Result<K, Verified<C>> {
  const headerEnd = token.indexOf('.')
  const signedEnd = token.indexOf('.', headerEnd + 1)
  const hasThreeParts = headerEnd >= 0 && signedEnd > headerEnd && token.indexOf('.', signedEnd + 1) < 0
  const key = hasThreeParts && token.length <= MAX_TOKEN_LENGTH ? keyOf(keys, token.slice(0, headerEnd)) : undefined
  if (!key) return INVALID as Result<K, Verified<C>>
  const read = (holds: boolean) => (holds ? claimsIn(kind, token.slice(headerEnd + 1, signedEnd), nowMs) : INVALID)
  return settled(key.verify(token.slice(0, signedEnd), token.slice(signedEnd + 1)), read) as Result<K, Verified<C>>
}

/**
 * Reads tokens of one kind and remembers the latest ones, because clients send the same token many times. Tokens of a
 * synchronous key are not remembered, since verifying them again costs as little.
 */
export class TokenReader<C extends { exp: number }> {
  readonly #kind: Kind<C>
  readonly #keys: TokenKeys
  readonly #maxKnown: number
  /**
   * The map is undefined until the first entry, because even a lookup in an empty map hashes the token, which takes 1
   * us.
   */
  #known: RecentMap<string, C> | undefined

  constructor(kind: Kind<C>, keys: TokenKeys, maxKnown: number) {
    this.#kind = kind
    this.#keys = keys
    this.#maxKnown = maxKnown
  }

  /** For a remembered token it checks only the expiry. */
  read(token: string, nowMs: number): Awaitable<Verified<C>> {
    const known = this.#known?.get(token)
    if (known) return unlessExpired(known, nowMs)
    const read = readToken(this.#kind, this.#keys, token, nowMs)
    if (!(read instanceof Promise)) return read
    return read.then((verified) => {
      if (verified.ok) {
        this.#known ??= new RecentMap(this.#maxKnown)
        this.#known.set(token, verified.claims)
      }
      return verified
    })
  }
}

const settled = <T, R>(value: Awaitable<T>, then: (value: T) => R): Awaitable<R> =>
  value instanceof Promise ? value.then(then) : then(value)

/** Encodes a part of a token as base64url. Most JSON is ASCII, for which btoa is enough. */
const encodePart = (json: string) =>
  /[^ -~]/.test(json)
    ? base64url.encode(json)
    : btoa(json)
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, '')

/** Decodes the JSON in a part of a token; undefined if there is none. */
function decodePart(part: string): Record<string, unknown> | undefined {
  try {
    const text = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    // Almost all JSON is ASCII, for which atob is enough.
    return Object(JSON.parse(/[\x80-\xff]/.test(text) ? decoder.decode(base64url.decode(part)) : text))
  } catch {
    return undefined
  }
}

function claimsIn<C extends { exp: number }>(kind: Kind<C>, payload: string, nowMs: number): Verified<C> {
  const json = decodePart(payload)
  if (json === undefined) return INVALID
  const claims = v.safeParse(kind.claims, json)
  if (!claims.success || json.iss !== kind.issuer || json.aud !== kind.audience) return INVALID
  if (json.nbf !== undefined && !isPast(json.nbf, nowMs)) return INVALID
  return unlessExpired(claims.output, nowMs)
}

/** The clocks of two machines that are set over the network differ by less. */
const LEEWAY_SECONDS = 5

const unlessExpired = <C extends { exp: number }>(claims: C, nowMs: number): Verified<C> =>
  (claims.exp + LEEWAY_SECONDS) * 1000 > nowMs ? { ok: true, claims } : { ok: false, reason: 'expired' }

/** The time before which a token is not valid (`nbf`; RFC 7519, 4.1.5). */
const isPast = (nbf: unknown, nowMs: number) => typeof nbf === 'number' && (nbf - LEEWAY_SECONDS) * 1000 <= nowMs

/** The sale that a token names, valid or not. Its holder may join there. */
export function saleNamedIn(token: string): string | undefined {
  return tryParse(SaleId, decodePart(token.split('.', 2)[1] ?? '')?.sale)
}

/** True if a text looks like a token of the edge, valid or not. */
export function isEdgeToken(token: string): boolean {
  try {
    return decodeJwt(token).iss === EDGE_ISSUER
  } catch {
    return false
  }
}

/** The part of TextDecoder that exists in Workers, Node and browsers. */
declare const TextDecoder: new (label: string, options: { fatal: boolean }) => { decode(bytes: Uint8Array): string }
declare const atob: (base64: string) => string
declare const btoa: (letters: string) => string
const decoder = new TextDecoder('utf-8', { fatal: true })
