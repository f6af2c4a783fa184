/** The shop of the edge's tests: the sessions that it signs, and the keys that it publishes at the tests' origin. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll } from 'vitest'
import type { Env } from '../http/config.ts'
import { edgeEnv, stub } from './origin.ts'

/** Files run at the same time, and each has a shop of its own. */
export const SHOP_KEYS = `/shop-${crypto.randomUUID()}/jwks`

/** The settings of an edge that accepts the shop's sessions. */
export const shopEnv: Env = {
  ...edgeEnv,
  SHOP_JWKS_URL: edgeEnv.ORIGIN_URL + SHOP_KEYS,
  SHOP_ISSUER: 'the shop',
  SHOP_AUDIENCE: 'the line',
  SHOP_SIGN_IN_URL: 'https://shop.test/sign-in?to={return}',
}

export let shopKeys: Awaited<ReturnType<typeof generateKeyPair>>
beforeAll(async () => {
  shopKeys = await generateKeyPair('ES256')
  await shopHas(SHOP_KEYS, 'one')
})

/** The shop publishes its key at a path, under each of these ids. */
export async function shopHas(path: string, ...kids: string[]): Promise<void> {
  const jwk = { ...(await exportJWK(shopKeys.publicKey)), alg: 'ES256' }
  await stub(path, 200, { keys: kids.map((kid) => ({ ...jwk, kid })) })
}

export interface ShopSession {
  readonly key: CryptoKey
  readonly from: Date
  readonly issued: Date
  readonly issuer: string
  readonly audience: string
  readonly expires: string | null
  readonly kid: string
}

export function shopSession(subject: string, changed: Partial<ShopSession> = {}) {
  const { issuer = 'the shop', audience = 'the line', expires = '5m', kid = 'one' } = changed
  const jwt = new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid })
    .setSubject(subject)
    .setIssuer(issuer)
    .setAudience(audience)
  if (expires !== null) jwt.setExpirationTime(expires)
  if (changed.from) jwt.setNotBefore(changed.from)
  if (changed.issued) jwt.setIssuedAt(changed.issued)
  return jwt.sign(changed.key ?? shopKeys.privateKey)
}

/** The headers of a client that is signed in at the shop. */
export const signedIn = async (subject: string, changed?: Partial<ShopSession>) => ({
  'x-shop-authorization': `Bearer ${await shopSession(subject, changed)}`,
})
