/**
 * Every token of the system is signed and read here (JWT, RFC 7519, pinned as RFC 8725 advises):
 *
 *   queue      a place in line, signed and read by the edge             aud "queue"
 *   admission  the right to check out, signed by the edge, for anyone   aud "checkout"
 *   order      the right to see one order, the origin's own             aud "order"
 *   invitation the right to join a sale, by a link of the origin's        aud "invitation"
 *
 * Keys come as a JWK set: the first signs, all verify. The key decides the algorithm: a symmetric key HS256, an Ed25519
 * key EdDSA. A token's header names a key by its `kid` and must agree with that key's algorithm: it chooses nothing else.
 * Reading returns a value and never throws. The caller passes the time in milliseconds.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url, type CryptoKey, decodeJwt } from 'jose'
import * as v from 'valibot'
import { Recent } from './recent-map.ts'

export const EDGE_ISSUER = 'flash-sale-edge'
/** Long enough to fill in a form, short enough not to be sold on. */
export const ADMISSION_TTL_SECONDS = 300
export const ORDER_TOKEN_TTL_SECONDS = 24 * 3600

// -- Kinds and claims --------------------------------------------------------------------------------------------------

/** No control characters and no lone surrogates: Postgres refuses them, and with them the whole batch of orders. */
const text = v.pipe(v.string(), v.maxLength(200), v.regex(/^[^\p{Cc}\p{Cs}]+$/u))
const ticketNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const seconds = v.pipe(v.number(), v.finite())

const QueueClaims = v.object({
  sub: text,
  sale: text,
  /** Left out for the public line. */
  line: v.optional(text),
  num: ticketNumber,
  iat: seconds,
  exp: seconds,
})
const AdmissionClaims = v.object({ ...QueueClaims.entries, jti: text })
const InvitationClaims = v.object({
  sub: text,
  sale: text,
  uses: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  exp: seconds,
})
const OrderClaims = v.object({ sub: text, sale: text, iat: seconds, exp: seconds })

/** Visitor (`sub`), sale, line and ticket number (`num`) in it; `iat` and `exp` in seconds since the epoch. */
export type QueueClaims = v.InferOutput<typeof QueueClaims>
/** A place that was called, with an id of its own (`jti`). */
export type AdmissionClaims = v.InferOutput<typeof AdmissionClaims>
/** An order (`sub`) of a sale. */
export type OrderClaims = v.InferOutput<typeof OrderClaims>

/** A signed link that lets `uses` visitors into a sale. */
export type InvitationClaims = v.InferOutput<typeof InvitationClaims>

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

export const INVITATION: Kind<InvitationClaims> = {
  issuer: 'flash-sale-origin',
  audience: 'invitation',
  claims: InvitationClaims,
}

// -- Keys --------------------------------------------------------------------------------------------------------------

const MIN_SECRET_BYTES = 32
const MAX_KEYS = 10

/** Sent in the header of every token. */
const kid = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,100}$/))
const base64 = v.pipe(v.string(), v.regex(/^[\w-]+$/))
const ed25519Bytes = v.pipe(base64, v.length(43))

const SecretJwk = v.object({
  kty: v.literal('oct'),
  kid,
  k: v.pipe(base64, v.minLength(Math.ceil((MIN_SECRET_BYTES * 4) / 3))),
  alg: v.optional(v.literal('HS256')),
})
const Ed25519Jwk = v.object({
  kty: v.literal('OKP'),
  crv: v.literal('Ed25519'),
  kid,
  x: ed25519Bytes,
  /** The private half, of a key that signs. */
  d: v.optional(ed25519Bytes),
  alg: v.optional(v.picklist(['EdDSA', 'Ed25519'])),
})

const jwkSet = <Jwk extends { kid: string }>(jwk: v.GenericSchema<unknown, Jwk>) =>
  v.object({
    keys: v.pipe(
      v.array(jwk),
      v.minLength(1),
      v.maxLength(MAX_KEYS),
      v.check((keys) => new Set(keys.map((key) => key.kid)).size === keys.length),
    ),
  })

/** Keys that may be symmetric or Ed25519. */
const JwkSet = jwkSet(v.variant('kty', [SecretJwk, Ed25519Jwk]))
export const SecretJwkSet = jwkSet(SecretJwk)
export type JwkSet = v.InferOutput<typeof JwkSet>
export type SecretJwkSet = v.InferOutput<typeof SecretJwkSet>

const keySetting = <Set extends JwkSet>(schema: v.GenericSchema<unknown, Set>, kinds: string) =>
  v.pipe(
    v.string(),
    v.parseJson({}, NO_KEY_SET + kinds),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const set = v.safeParse(schema, dataset.value)
      if (!set.success) addIssue({ message: NO_KEY_SET + kinds })
      return set.success ? set.output : NEVER
    }),
  )
const NO_KEY_SET = 'must be a JWK Set as JSON, each key with a kid of its own: '
const OCT = `"oct" of ${MIN_SECRET_BYTES} bytes or more`

/** The settings that hold key sets, as JSON. Their messages never repeat a value. */
export const AdmissionKeySetting = keySetting(JwkSet, `${OCT}, or "OKP" Ed25519`)
export const QueueKeySetting = keySetting(SecretJwkSet, OCT)

/** True if a key is a public one: all in the documentation and the tests have such a `kid`. */
export const isDevelopmentSet = ({ keys }: JwkSet) => keys.some((key) => key.kid.startsWith('development'))

/** True if the first key can sign. */
export const canSign = ({ keys: [first] }: JwkSet) => first?.kty === 'oct' || first?.d !== undefined

export function publicJwks({ keys }: JwkSet): { keys: object[] } {
  const pairs = keys.filter((key) => key.kty === 'OKP')
  return { keys: pairs.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x, alg: 'EdDSA', use: 'sig' })) }
}

export function newKeySet(): SecretJwkSet {
  const random = (bytes: number) => base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)))
  return { keys: [{ kty: 'oct', kid: random(8), k: random(MIN_SECRET_BYTES) }] }
}

type Awaitable<T> = T | Promise<T>

/** An imported key. Signatures are base64url. */
export interface Key {
  /** The header of its tokens, encoded. */
  readonly header: string
  sign(text: string): Awaitable<string>
  verify(text: string, signature: string): Awaitable<boolean>
}

/** One that needs no promise. */
export interface SyncKey extends Key {
  sign(text: string): string
  verify(text: string, signature: string): boolean
}

export interface TokenKeys<K extends Key = Key> {
  readonly first: K
  /** Keys by the header that they write, encoded. Headers that other signers write are added as they are met. */
  readonly byHeader: Map<string, K>
}

function tokenKeys<K extends Key>(keys: readonly K[]): TokenKeys<K> {
  const [first] = keys
  if (!first) throw new TypeError('a key set is empty')
  return { first, byHeader: new Map(keys.map((key) => [key.header, key])) }
}

/** Keys of a set with Ed25519 keys among them, or whose HMAC comes from WebCrypto. */
export async function importKeys(
  { keys }: JwkSet,
  secretKey: (header: string, secret: Uint8Array) => Awaitable<Key> = nobleKey,
): Promise<TokenKeys> {
  return tokenKeys(
    await Promise.all(
      keys.map((key) =>
        key.kty === 'oct' ? secretKey(headerOf('HS256', key.kid), base64url.decode(key.k)) : ed25519Key(key),
      ),
    ),
  )
}

/** Symmetric keys, imported and used without a promise. */
export function importSecrets({ keys }: SecretJwkSet): TokenKeys<SyncKey> {
  return tokenKeys(keys.map((key) => nobleKey(headerOf('HS256', key.kid), base64url.decode(key.k))))
}

/** One secret without a `kid`, for tokens that only their signer reads. Its header is that of the version before. */
export function importSecret(
  secret: Uint8Array,
  secretKey: (header: string, secret: Uint8Array) => SyncKey = nobleKey,
): TokenKeys<SyncKey> {
  return tokenKeys([secretKey(base64url.encode('{"typ":"JWT","alg":"HS256"}'), secret)])
}

/** Headers remembered, besides those that the keys write themselves. */
const MAX_HEADERS = 100

/** The key that a header names. Other signers may order its members otherwise, or leave `typ` out (RFC 7515, 4.1). */
function keyOf<K extends Key>({ byHeader }: TokenKeys<K>, encoded: string): K | undefined {
  const known = byHeader.get(encoded)
  if (known) return known
  const header = decoded(encoded)
  if (header === undefined || (header.typ ?? 'JWT') !== 'JWT' || header.crit !== undefined) return undefined
  const key = byHeader.get(headerOf(String(header.alg), String(header.kid)))
  if (key && byHeader.size < MAX_HEADERS) byHeader.set(encoded, key)
  return key
}

const headerOf = (alg: string, kid: string) => base64url.encode(JSON.stringify({ alg, typ: 'JWT', kid }))

/** Anywhere, and without a promise: 6 us for a token. Both halves have a faster one. */
function nobleKey(header: string, secret: Uint8Array): SyncKey {
  const keyed = hmac.create(sha256, secret)
  const sign = (text: string) => base64url.encode(keyed.clone().update(encoder.encode(text)).digest())
  return { header, sign, verify: (text, signature) => isSame(sign(text), signature) }
}

/** By WebCrypto, which takes a third of that time in workerd and four times as long in Node. */
export async function webCryptoKey(header: string, secret: Uint8Array): Promise<Key> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  const sign = (text: string) => subtleSign('HMAC', key, text)
  return { header, sign, verify: async (text, signature) => isSame(await sign(text), signature) }
}

/** Decoders ignore some bits of base64url's last letter: this allows one spelling of a signature. */
const ED25519_SIGNATURE = /^[\w-]{85}[AQgw]$/

async function ed25519Key({ kid, x, d }: v.InferOutput<typeof Ed25519Jwk>): Promise<Key> {
  const half = (jwk: object, usage: string) =>
    crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x, ...jwk }, 'Ed25519', false, [usage])
  const publicKey = await half({}, 'verify')
  const privateKey = d === undefined ? null : await half({ d }, 'sign')
  return {
    header: headerOf('EdDSA', kid),
    async sign(text) {
      if (!privateKey) throw new TypeError('a public key cannot sign')
      return subtleSign('Ed25519', privateKey, text)
    },
    async verify(text, signature) {
      return (
        ED25519_SIGNATURE.test(signature) &&
        crypto.subtle.verify('Ed25519', publicKey, base64url.decode(signature), encoder.encode(text))
      )
    },
  }
}

const subtleSign = async (algorithm: string, key: CryptoKey, text: string) =>
  base64url.encode(new Uint8Array(await crypto.subtle.sign(algorithm, key, encoder.encode(text))))

/** Compares in a time that does not depend on where two texts differ. */
export function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

// -- Signing and reading -----------------------------------------------------------------------------------------------

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid' }

const INVALID = { ok: false, reason: 'invalid' } as const
/** The longest that is read; the longest claims make half of it. */
export const MAX_TOKEN_LENGTH = 4_096

/** Synchronous keys give synchronous results. */
type Result<K extends Key, T> = K extends SyncKey ? T : Awaitable<T>

export function signToken<C extends object, K extends Key>(
  { issuer, audience }: Kind<C>,
  { first }: TokenKeys<K>,
  claims: C,
): Result<K, string> {
  const payload = encoded(JSON.stringify({ ...claims, iss: issuer, aud: audience }))
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
 * Reads tokens of one kind that come several times, of which it remembers the last. What a synchronous key has read is not
 * remembered: to read it again costs as little.
 */
export class TokenReader<C extends { exp: number }> {
  readonly #kind: Kind<C>
  readonly #keys: TokenKeys
  readonly #maxKnown: number
  /** Absent until there is one: even a look into an empty map costs 1 us for a text so long. */
  #known: Recent<string, C> | undefined

  constructor(kind: Kind<C>, keys: TokenKeys, maxKnown: number) {
    this.#kind = kind
    this.#keys = keys
    this.#maxKnown = maxKnown
  }

  /** Of a known token only the expiry is checked. */
  read(token: string, nowMs: number): Awaitable<Verified<C>> {
    const known = this.#known?.get(token)
    if (known) return unlessExpired(known, nowMs)
    const read = readToken(this.#kind, this.#keys, token, nowMs)
    if (!(read instanceof Promise)) return read
    return read.then((verified) => {
      if (verified.ok) {
        this.#known ??= new Recent(this.#maxKnown)
        this.#known.set(token, verified.claims)
      }
      return verified
    })
  }
}

const settled = <T, R>(value: Awaitable<T>, then: (value: T) => R): Awaitable<R> =>
  value instanceof Promise ? value.then(then) : then(value)

/** A part of a token. Most are ASCII, of which the letters are the bytes. */
const encoded = (json: string) =>
  /[^ -~]/.test(json) ? base64url.encode(json) : btoa(json).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** A part of a token as JSON; undefined if it is none. */
function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const text = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    // Most are ASCII, of which the bytes are the letters.
    return Object(JSON.parse(/[\x80-\xff]/.test(text) ? decoder.decode(base64url.decode(part)) : text))
  } catch {
    return undefined
  }
}

function claimsIn<C extends { exp: number }>(kind: Kind<C>, payload: string, nowMs: number): Verified<C> {
  const json = decoded(payload)
  if (json === undefined) return INVALID
  const claims = v.safeParse(kind.claims, json)
  if (!claims.success || json.iss !== kind.issuer || json.aud !== kind.audience) return INVALID
  return unlessExpired(claims.output, nowMs)
}

/** Two machines' clocks, both set by the network, differ by less. */
const LEEWAY_SECONDS = 5

const unlessExpired = <C extends { exp: number }>(claims: C, nowMs: number): Verified<C> =>
  (claims.exp + LEEWAY_SECONDS) * 1000 > nowMs ? { ok: true, claims } : { ok: false, reason: 'expired' }

/** True for what reads like a token of the edge, good or not. */
export function isEdgeToken(token: string): boolean {
  try {
    return decodeJwt(token).iss === EDGE_ISSUER
  } catch {
    return false
  }
}

/** What Workers, Node and browsers all have. */
declare const crypto: {
  getRandomValues(bytes: Uint8Array): Uint8Array
  readonly subtle: {
    importKey(
      format: 'raw' | 'jwk',
      key: Uint8Array | object,
      algorithm: object | string,
      extractable: boolean,
      usages: string[],
    ): Promise<CryptoKey>
    sign(algorithm: string, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>
    verify(algorithm: string, key: CryptoKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>
  }
}
declare const TextEncoder: new () => { encode(text: string): Uint8Array }
declare const TextDecoder: new (label: string, options: { fatal: boolean }) => { decode(bytes: Uint8Array): string }
declare const atob: (base64: string) => string
declare const btoa: (letters: string) => string
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })
