/**
 * Derives from a visitor's random secret their public name, and the tag by which the edge recognises its own cookies.
 * The key is derived from the last of QUEUE_KEYS, so it stays the same when a new key is added in front.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import type { SecretJwkSet } from '../../shared/keys.ts'
import { hmacOf } from '../../shared/lib/hash.ts'

/** The length makes it practically impossible that two random secrets or names are equal. */
export const NAME_BYTES = 16

const encoder = new TextEncoder()

export type VisitorKey = ReturnType<typeof hmac.create>

export const visitorKey = (queue: SecretJwkSet): VisitorKey =>
  hmac.create(sha256, derivedKey(queue, 'names of visitors'))

export function derivedKey(queue: SecretJwkSet, purpose: string): Uint8Array {
  return hmacOf(base64url.decode(queue.keys.at(-1)?.k ?? ''), purpose)
}

interface Identity {
  readonly name: string
  /** The cookie contains the secret and its tag. */
  readonly cookie: string
}

/** One hash gives both, and neither half reveals the other. */
export function identityOf(secret: string, key: VisitorKey): Identity {
  // The hash is computed in JavaScript, because for two blocks of text the call to WebCrypto costs several times as
  // much.
  const mac = key.clone().update(encoder.encode(secret)).digest()
  const [name, tag] = [mac.subarray(0, NAME_BYTES), mac.subarray(NAME_BYTES)]
  return { name: base64url.encode(name), cookie: `${secret}.${base64url.encode(tag)}` }
}
