/** Hashes of texts: a quick one to distribute names, and a keyed one (HMAC-SHA256) that nobody else can compute. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** A 32-bit hash of a text (FNV-1a over UTF-16 code units). It distributes names evenly, but is not secure. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed | 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The HMAC-SHA256 of a text. A key for one purpose is the HMAC of the purpose's name. */
export const hmacOf = (key: Uint8Array, text: string): Uint8Array => hmac(sha256, key, utf8ToBytes(text))

/** The same under a secret that is a text, in hexadecimal digits. */
export const hmacHex = (secret: string, text: string): string => bytesToHex(hmacOf(utf8ToBytes(secret), text))
