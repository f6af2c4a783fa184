import fc from 'fast-check'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  EDGE_ISSUER,
  signAdmissionToken,
  signQueueToken,
  verifyAdmissionToken,
  verifyQueueToken,
} from './tokens.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const iat = NOW / 1000
const secret = new Uint8Array(32).fill(1)
const otherSecret = new Uint8Array(32).fill(2)
const place = { sub: 'visitor', sale: 'demo', num: 4012, iat, exp: iat + 60 }
const admission = { ...place, jti: 'one' }

let keys: { privateKey: CryptoKey; publicKey: CryptoKey }
let otherKeys: typeof keys
beforeAll(async () => {
  keys = await generateKeyPair('EdDSA', { extractable: true })
  otherKeys = await generateKeyPair('EdDSA')
})

describe('a token', () => {
  it('says what was signed', async () => {
    const queue = await verifyQueueToken(secret, await signQueueToken(secret, place), NOW)
    expect(queue).toEqual({ ok: true, claims: place })
    const token = await signAdmissionToken(keys.privateKey, 'k1', admission)
    expect(await verifyAdmissionToken(keys.publicKey, token, NOW)).toEqual({ ok: true, claims: admission })
  })

  it('expires by the clock it is given', async () => {
    const token = await signQueueToken(secret, place)
    expect(await verifyQueueToken(secret, token, NOW + 59_000)).toMatchObject({ ok: true })
    expect(await verifyQueueToken(secret, token, NOW + 61_000)).toEqual({ ok: false, reason: 'expired' })
  })

  it('of another key, another kind or no signature at all is refused', async () => {
    const refused = { ok: false, reason: 'invalid' }
    const queue = await signQueueToken(secret, place)
    const token = await signAdmissionToken(keys.privateKey, 'k1', admission)
    expect(await verifyQueueToken(otherSecret, queue, NOW)).toEqual(refused)
    expect(await verifyAdmissionToken(otherKeys.publicKey, token, NOW)).toEqual(refused)
    expect(await verifyAdmissionToken(keys.publicKey, queue, NOW)).toEqual(refused)
    expect(await verifyQueueToken(secret, token, NOW)).toEqual(refused)
    const unsigned = new UnsecuredJWT({ ...place, iss: EDGE_ISSUER, aud: 'queue' }).encode()
    expect(await verifyQueueToken(secret, unsigned, NOW)).toEqual(refused)
  })

  it('of a subject that cannot be stored is refused, since all who are stored with it would be', async () => {
    for (const sub of ['nul\0', 'line\nend', 'half a letter \ud800', '']) {
      const queue = await signQueueToken(secret, { ...place, sub })
      const token = await signAdmissionToken(keys.privateKey, 'k1', { ...admission, sub })
      for (const verified of [
        await verifyQueueToken(secret, queue, NOW),
        await verifyAdmissionToken(keys.publicKey, token, NOW),
      ])
        expect(verified).toEqual({ ok: false, reason: 'invalid' })
    }
    const whole = { ...place, sub: 'Zoë 💳' }
    expect(await verifyQueueToken(secret, await signQueueToken(secret, whole), NOW)).toMatchObject({
      ok: true,
    })
  })

  it('signed with the public key as if it were a secret is refused', async () => {
    const jwk = await exportJWK(keys.publicKey)
    const confused = await new SignJWT({ ...admission, iss: EDGE_ISSUER, aud: 'checkout' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Uint8Array.from(JSON.stringify(jwk), (letter) => letter.charCodeAt(0)))
    expect(await verifyAdmissionToken(keys.publicKey, confused, NOW)).toEqual({
      ok: false,
      reason: 'invalid',
    })
  })

  it('without its claims, or with senseless ones, is refused', async () => {
    const sign = (claims: object) =>
      new SignJWT({ iss: EDGE_ISSUER, aud: 'queue', ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(secret)
    expect(await verifyQueueToken(secret, await sign(place), NOW)).toMatchObject({ ok: true })
    const { num: _num, ...noNumber } = place
    const { exp: _exp, ...noExpiry } = place
    for (const claims of [
      noNumber,
      noExpiry,
      { ...place, num: 0 },
      { ...place, num: 1.5 },
      { ...place, sub: '' },
    ]) {
      expect(await verifyQueueToken(secret, await sign(claims), NOW)).toMatchObject({ ok: false })
    }
    expect(await verifyQueueToken(secret, await sign({ ...place, aud: 'checkout' }), NOW)).toMatchObject({
      ok: false,
    })
    expect(await verifyQueueToken(secret, await sign({ ...place, iss: 'elsewhere' }), NOW)).toMatchObject({
      ok: false,
    })
  })

  it('with any one character changed is refused', async () => {
    const token = await signAdmissionToken(keys.privateKey, 'k1', admission)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    // The last character of a base64url part carries bits that decoders ignore: leave those two out.
    const lastOfPart = (at: number) => at === token.length - 1 || token[at + 1] === '.'
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (at, letter) => {
        fc.pre(token[at] !== letter && !lastOfPart(at))
        const changed = token.slice(0, at) + letter + token.slice(at + 1)
        expect(await verifyAdmissionToken(keys.publicKey, changed, NOW)).toMatchObject({ ok: false })
      }),
      { numRuns: 200 },
    )
  })

  it('that is junk is refused, never thrown at', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 300 }), async (junk) => {
        expect(await verifyQueueToken(secret, junk, NOW)).toEqual({ ok: false, reason: 'invalid' })
      }),
    )
  })
})
