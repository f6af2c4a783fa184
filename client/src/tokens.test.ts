/** The client verifies what the edge signs, by the keys that the edge publishes. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importKeys, publicJwks } from '../../shared/keys.ts'
import { ADMISSION, HANDOVER, HOLD, QUEUE, signToken } from '../../shared/tokens.ts'
import { TokenVerifier } from './tokens.ts'

const pair = await generateKeyPair('Ed25519', { extractable: true })
const jwk = { ...(await exportJWK(pair.privateKey)), kid: 'one' }
const keys = await importKeys({ keys: [jwk] } as Parameters<typeof importKeys>[0])
const iat = Math.floor(Date.now() / 1000)
const claims = { sub: 'visitor', sale: 'drop', num: 7, jti: 'id', iat, exp: iat + 300 }

let server: Server
let tokens: TokenVerifier
beforeAll(async () => {
  const body = JSON.stringify(publicJwks({ keys: [jwk] } as Parameters<typeof publicJwks>[0]))
  server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  tokens = new TokenVerifier(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterAll(() => void server.close())

test('takes an admission and a handed-over order', async () => {
  expect(await tokens.admission(await signToken(ADMISSION, keys, claims), 'drop')).toMatchObject(claims)
  const paid = { ...claims, short_number: 'K7Q-4MX', total_minor: 1000, currency: 'EUR', lines: [] }
  const order = await tokens.handover(await signToken(HANDOVER, keys, paid), 'drop')
  expect(order).toMatchObject({ sub: 'visitor', total_minor: 1000, lines: [] })
})

test('takes a hold while it lasts, and neither for a paid order nor the other way round', async () => {
  const sums = { short_number: null, total_minor: 1000, currency: 'EUR', lines: [] }
  const reserved_until = new Date((iat + 90) * 1000).toISOString()
  const held = { ...claims, ...sums, status: 'reserved' as const, reserved_until, exp: iat + 90 }
  const token = await signToken(HOLD, keys, held)
  expect(await tokens.hold(token, 'drop')).toMatchObject({ sub: 'visitor', reserved_until, total_minor: 1000 })
  await expect(tokens.handover(token, 'drop')).rejects.toThrow('"aud"')
  await expect(tokens.hold(token, 'other')).rejects.toThrow('the sale drop')
  await expect(tokens.hold(await signToken(HANDOVER, keys, { ...claims, ...sums }), 'drop')).rejects.toThrow('"aud"')
  await expect(tokens.hold(await signToken(HOLD, keys, { ...held, exp: iat - 1 }), 'drop')).rejects.toThrow('"exp"')
})

test('refuses every other token', async () => {
  const signed = (changes: object) => signToken(ADMISSION, keys, { ...claims, ...changes })
  const refused = async (token: string, sale = 'drop') => expect(tokens.admission(token, sale)).rejects.toThrow()
  await refused(await signed({}), 'other')
  await refused(await signed({ exp: iat - 10 }))
  await refused(await signToken(QUEUE, keys, claims))
  await refused(`${(await signed({})).slice(0, -4)}AAAA`)
  await refused('')
  // The published key as a secret of HMAC.
  const secret = new TextEncoder().encode(jwk.x)
  const forged = new SignJWT({ sale: 'drop', num: 7, jti: 'id' })
    .setProtectedHeader({ alg: 'HS256', kid: 'one' })
    .setIssuer('flash-sale-edge')
    .setAudience('checkout')
    .setSubject('visitor')
    .setIssuedAt()
    .setExpirationTime('5m')
  await refused(await forged.sign(secret))
})
