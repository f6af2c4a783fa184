/**
 * The keys that sign handovers. Shops verify them by public keys. If admissions are signed by a symmetric key, an
 * Ed25519 key is derived from it, so that no shop needs the secret, which could also sign admissions.
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import { base64url } from 'jose'
import type { JwkSet } from '../../shared/keys.ts'
import { hmacOf } from '../../shared/lib/hash.ts'

type SecretJwk = Extract<JwkSet['keys'][number], { kty: 'oct' }>

export async function handoverSet({ keys }: JwkSet): Promise<JwkSet> {
  return { keys: await Promise.all(keys.map((key) => (key.kty === 'OKP' ? key : deriveKey(key)))) }
}

/** The beginning of a private Ed25519 key in PKCS #8 (RFC 8410). The 32 bytes of the key follow. */
const PKCS8 = hexToBytes('302e020100300506032b657004220420')

async function deriveKey({ kid, k }: SecretJwk): Promise<JwkSet['keys'][number]> {
  const bytes = new Uint8Array([...PKCS8, ...hmacOf(base64url.decode(k), 'handovers')])
  const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', true, ['sign'])
  const { x = '', d = '' } = (await crypto.subtle.exportKey('jwk', key)) as JsonWebKey
  return { kty: 'OKP', crv: 'Ed25519', kid: `handover-${kid}`, x, d }
}
