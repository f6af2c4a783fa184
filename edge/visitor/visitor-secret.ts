/**
 * What follows from a visitor's random secret: their public name, and the tag by which the edge knows a cookie that it gave
 * out. The key is derived from the last of QUEUE_KEYS, so it stays while a new key is put first.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import type { SecretJwkSet } from '../../shared/keys.ts'

/** Enough that no two random secrets are the same, nor two names. */
export const NAME_BYTES = 16

const encoder = new TextEncoder()

export type VisitorKey = ReturnType<typeof hmac.create>

export const visitorKey = (queue: SecretJwkSet): VisitorKey =>
  hmac.create(sha256, derivedKey(queue, 'names of visitors'))

export function derivedKey(queue: SecretJwkSet, purpose: string): Uint8Array {
  return hmac(sha256, base64url.decode(queue.keys.at(-1)?.k ?? ''), encoder.encode(purpose))
}

interface Identity {
  readonly name: string
  /** The cookie: the secret and its tag. */
  readonly cookie: string
}

/** One hash makes both; neither half gives the other away. */
export function identityOf(secret: string, key: VisitorKey): Identity {
  // Of two blocks of text WebCrypto's way there and back costs several times as much.
  const mac = key.clone().update(encoder.encode(secret)).digest()
  const [name, tag] = [mac.subarray(0, NAME_BYTES), mac.subarray(NAME_BYTES)]
  return { name: base64url.encode(name), cookie: `${secret}.${base64url.encode(tag)}` }
}
