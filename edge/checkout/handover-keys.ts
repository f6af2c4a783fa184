/**
 * The keys that sign handovers. Shops check these by public halves: of a symmetric key that signs admissions an Ed25519 key is
 * derived, so that no shop needs the secret, with which it could make admissions.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { base64url } from 'jose'
import type { JwkSet } from '../../shared/keys.ts'

type SecretJwk = Extract<JwkSet['keys'][number], { kty: 'oct' }>

export async function handoverSet({ keys }: JwkSet): Promise<JwkSet> {
  return { keys: await Promise.all(keys.map((key) => (key.kty === 'OKP' ? key : derived(key)))) }
}

/** A private Ed25519 key as PKCS #8 has it (RFC 8410), but for its 32 bytes, which follow. */
const PKCS8 = hexToBytes('302e020100300506032b657004220420')

async function derived({ kid, k }: SecretJwk): Promise<JwkSet['keys'][number]> {
  const bytes = new Uint8Array([...PKCS8, ...hmac(sha256, base64url.decode(k), utf8ToBytes('handovers'))])
  const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', true, ['sign'])
  const { x = '', d = '' } = (await crypto.subtle.exportKey('jwk', key)) as JsonWebKey
  return { kty: 'OKP', crv: 'Ed25519', kid: `handover-${kid}`, x, d }
}
