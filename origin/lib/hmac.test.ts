import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { jwtVerify, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { importSecrets } from '../../shared/keys.ts'
import { ORDER, readToken, signToken } from '../../shared/tokens.ts'
import { hmacKey } from './hmac.ts'

/** Any character. The library's own unit for this takes two seconds to be made. */
const character = fc
  .integer({ min: 0, max: 0x10_ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

test('is the HMAC of Node, for keys and texts of any length and script', () => {
  const secrets = fc.uint8Array({ minLength: 1, maxLength: 150 })
  const texts = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ maxLength: 100, unit: character }))
  fc.assert(
    fc.property(secrets, texts, texts, (secret, text, other) => {
      const key = hmacKey('header', secret)
      const expected = createHmac('sha256', secret).update(text).digest('base64url')
      key.sign(other)
      expect(key.sign(text)).toBe(expected)
      expect(key.verify(text, expected)).toBe(true)
      expect(key.verify(text, expected.slice(0, -1))).toBe(false)
      if (other !== text) expect(key.verify(other, expected)).toBe(false)
    }),
    { numRuns: 40 },
  )
  const key = hmacKey('header', new Uint8Array(32))
  const longest = '€'.repeat(4096)
  expect(key.sign(longest)).toBe(createHmac('sha256', new Uint8Array(32)).update(longest).digest('base64url'))
  expect(() => key.sign(`${longest}€`)).toThrow(RangeError)
})

test('does not take letters for others whose code ends alike', () => {
  const key = hmacKey('header', new Uint8Array(32))
  expect(key.verify('\u0141BC', key.sign('ABC'))).toBe(false)
})

test('signs what jose verifies, and reads what jose signs', async () => {
  const secret = new Uint8Array(32).fill(7)
  const k = Buffer.from(secret).toString('base64url')
  const keys = importSecrets({ keys: [{ kty: 'oct', kid: 'k1', k }] }, hmacKey)
  const claims = { sub: 'Zoë', sale: 'demo', iat: 1, exp: 4e9 }
  const options = { issuer: 'flash-sale-origin', audience: 'order' }
  expect((await jwtVerify(signToken(ORDER, keys, claims), secret, options)).payload).toMatchObject(claims)
  const signed = await new SignJWT({ ...claims, iss: 'flash-sale-origin', aud: 'order' })
    .setProtectedHeader({ typ: 'JWT', alg: 'HS256', kid: 'k1' })
    .sign(secret)
  expect(readToken(ORDER, keys, signed, Date.now())).toEqual({ ok: true, claims })
})
