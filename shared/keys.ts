/**
 * The keys that sign and verify tokens (tokens.ts). They are a JWK set: the first key signs, all verify. The key
 * determines the algorithm: HS256 for a symmetric key, EdDSA for an Ed25519 key. Symmetric keys sign and verify
 * without a promise.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url, type CryptoKey } from 'jose'
import * as v from 'valibot'

// -- Key sets -------------------------------------------------------------------------------------------------------

const MIN_SECRET_BYTES = 32
const MAX_KEYS = 10

/** The `kid` is sent in the header of every token. */
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
  /** The private half, which a signing key has. */
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

/** A key set that may contain symmetric and Ed25519 keys. */
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

/** The settings that contain key sets, as JSON. Their error messages never repeat a value. */
export const AdmissionKeySetting = keySetting(JwkSet, `${OCT}, or "OKP" Ed25519`)
export const SecretKeySetting = keySetting(SecretJwkSet, OCT)

/** True if a key is publicly known: all keys in the documentation and the tests have such a `kid`. */
export const isDevelopmentSet = ({ keys }: JwkSet) => keys.some((key) => key.kid.startsWith('development'))

/** True if the first key can sign. */
export const canSign = ({ keys: [first] }: JwkSet) => first?.kty === 'oct' || first?.d !== undefined

/** The public keys of a set's Ed25519 keys, to publish (RFC 7517). */
export function publicJwks({ keys }: JwkSet): { keys: object[] } {
  const pairs = keys.filter((key) => key.kty === 'OKP')
  return { keys: pairs.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x, alg: 'EdDSA', use: 'sig' })) }
}

/** Makes a set with one random symmetric key. */
export function newKeySet(): SecretJwkSet {
  const random = (bytes: number) => base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)))
  return { keys: [{ kty: 'oct', kid: random(8), k: random(MIN_SECRET_BYTES) }] }
}

// -- Imported keys --------------------------------------------------------------------------------------------------

export type Awaitable<T> = T | Promise<T>

/** An imported key. Signatures are base64url. */
export interface Key {
  /** The base64url header of the tokens that the key signs. */
  readonly header: string
  sign(text: string): Awaitable<string>
  verify(text: string, signature: string): Awaitable<boolean>
}

/** A key that signs and verifies without a promise. */
export interface SyncKey extends Key {
  sign(text: string): string
  verify(text: string, signature: string): boolean
}

export interface TokenKeys<K extends Key = Key> {
  readonly first: K
  /** The keys by header. readToken adds the headers that other signers write for the same key. */
  readonly byHeader: Map<string, K>
}

function tokenKeys<K extends Key>(keys: readonly K[]): TokenKeys<K> {
  const [first] = keys
  if (!first) throw new TypeError('a key set is empty')
  return { first, byHeader: new Map(keys.map((key) => [key.header, key])) }
}

/** Imports symmetric and Ed25519 keys. `secretKey` makes the symmetric ones. Throws TypeError for an empty set. */
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

/**
 * Imports symmetric keys without a promise. `last` is a secret without a `kid`, which signs if there are no others.
 * Throws TypeError if there is no key at all.
 */
export function importSecrets(
  { keys }: Pick<SecretJwkSet, 'keys'>,
  secretKey: (header: string, secret: Uint8Array) => SyncKey = nobleKey,
): TokenKeys<SyncKey> {
  return tokenKeys(keys.map((key) => secretKey(headerOf('HS256', key.kid), base64url.decode(key.k))))
}

/** The base64url header of a key's tokens. */
export const headerOf = (alg: string, kid: string) => base64url.encode(JSON.stringify({ alg, typ: 'JWT', kid }))

/** HMAC in JavaScript, which runs anywhere and takes 6 us per token. Edge and origin each have a faster one. */
function nobleKey(header: string, secret: Uint8Array): SyncKey {
  const keyed = hmac.create(sha256, secret)
  const sign = (text: string) => base64url.encode(keyed.clone().update(encoder.encode(text)).digest())
  return { header, sign, verify: (text, signature) => isSame(sign(text), signature) }
}

/** HMAC by WebCrypto, which takes a third of that time in workerd, and four times as long in Node. */
export async function webCryptoKey(header: string, secret: Uint8Array): Promise<Key> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  const sign = (text: string) => subtleSign('HMAC', key, text)
  return { header, sign, verify: async (text, signature) => isSame(await sign(text), signature) }
}

/** Decoders ignore some bits of base64url's last letter, so this pattern allows only one spelling of a signature. */
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

/** Compares two texts in a time that does not depend on where they differ. */
export function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** The part of `crypto` that exists in Workers, Node and browsers. */
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
const encoder = new TextEncoder()
