import fc from 'fast-check'
import {
  base64url,
  type CryptoKey,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import * as v from 'valibot'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  AdmissionKeySetting,
  canSign,
  importKeys,
  importSecrets,
  isDevelopmentSet,
  type JwkSet,
  publicJwks,
  type SecretJwkSet,
  SecretKeySetting,
  type TokenKeys,
  webCryptoKey,
} from './keys.ts'
import { ADMISSION, EDGE_ISSUER, QUEUE, readToken, signToken, TokenReader } from './tokens.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const iat = NOW / 1000
const place = { sub: 'visitor', sale: 'demo', num: 4012, iat, exp: iat + 60 }
const admission = { ...place, jti: 'one' }
const refused = { ok: false, reason: 'invalid' }

const bytesOf = (fill: number) => new Uint8Array(32).fill(fill)
const secretSet = (...kids: string[]): SecretJwkSet => ({
  keys: kids.map((kid) => ({ kty: 'oct', kid, k: base64url.encode(bytesOf(kid.charCodeAt(0))) })),
})
const secretA = bytesOf('a'.charCodeAt(0))
const a = importSecrets(secretSet('a'))

async function ed25519Set(kid: string): Promise<JwkSet> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  const { x, d } = await exportJWK(privateKey)
  return { keys: [{ kty: 'OKP', crv: 'Ed25519', kid, x: x as string, d: d as string }] }
}

/** The same symmetric key in both implementations of HMAC, and an Ed25519 key. */
const keySets: { name: string; alg: string; kid: string; keys: TokenKeys; jose: CryptoKey | Uint8Array }[] = []
beforeAll(async () => {
  const ed25519 = await ed25519Set('e')
  const hs256 = { alg: 'HS256', kid: 'a', jose: secretA }
  const byWebCrypto = await importKeys(secretSet('a'), webCryptoKey)
  const jose = (await importJWK(publicJwks(ed25519).keys[0] as JWK)) as CryptoKey
  keySets.push(
    { ...hs256, name: 'HS256', keys: a },
    { ...hs256, name: 'HS256 by WebCrypto', keys: byWebCrypto },
    { name: 'EdDSA', alg: 'EdDSA', kid: 'e', keys: await importKeys(ed25519), jose },
  )
})

describe('a token', () => {
  it('is a JWT that jose verifies, and jose’s are read', async () => {
    for (const { name, alg, kid, keys, jose } of keySets) {
      const token = await signToken(ADMISSION, keys, admission)
      const options = { issuer: EDGE_ISSUER, audience: 'checkout', currentDate: new Date(NOW) }
      const { payload, protectedHeader } = await jwtVerify(token, jose, options)
      expect(payload, name).toMatchObject(admission)
      expect(protectedHeader, name).toEqual({ alg, typ: 'JWT', kid })
    }
    const signed = (header: { typ?: string; kid: string; alg: string }) =>
      new SignJWT({ ...place, iss: EDGE_ISSUER, aud: 'queue' }).setProtectedHeader(header).sign(secretA)
    expect(await signed({ alg: 'HS256', typ: 'JWT', kid: 'a' })).toBe(await signToken(QUEUE, a, { ...place }))
    // The header of another signer may be ordered differently and lack the type.
    for (const header of [
      { alg: 'HS256', typ: 'JWT', kid: 'a' },
      { typ: 'JWT', kid: 'a', alg: 'HS256' },
      { kid: 'a', alg: 'HS256' },
    ])
      expect(readToken(QUEUE, a, await signed(header), NOW)).toEqual({ ok: true, claims: place })
  })

  it('returns its claims until it expires, and some seconds longer, since clocks differ', async () => {
    for (const { name, keys } of keySets) {
      const token = await signToken(QUEUE, keys, place)
      expect(await readToken(QUEUE, keys, token, NOW + 64_000), name).toEqual({ ok: true, claims: place })
      expect(await readToken(QUEUE, keys, token, NOW + 65_000), name).toEqual({ ok: false, reason: 'expired' })
    }
  })

  it('is judged as jose judges it, whichever letters are changed', async () => {
    for (const { keys, jose } of keySets) {
      const token = await signToken(ADMISSION, keys, admission)
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
      const changed = fc
        .tuple(fc.nat(token.length - 1), fc.constantFrom(...alphabet))
        .map(([at, letter]) => token.slice(0, at) + letter + token.slice(at + 1))
      await fc.assert(
        fc.asyncProperty(fc.oneof(changed, fc.string({ maxLength: 300 })), async (other) => {
          fc.pre(other !== token)
          expect(await readToken(ADMISSION, keys, other, NOW)).toEqual(refused)
          // The last letter of a part contains bits that jose ignores.
          if (other.slice(0, -1) !== token.slice(0, -1)) await expect(compactVerify(other, jose)).rejects.toThrow()
        }),
        { numRuns: 50 },
      )
    }
  })

  it('is refused with another key, kid, kind, algorithm or header', async () => {
    const claims = { ...admission, iss: EDGE_ISSUER, aud: 'checkout' }
    const jwt = (header: object, key = secretA, changed: JWTPayload = {}) =>
      new SignJWT({ ...claims, ...changed })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'a', ...header })
        .sign(key)
    expect(readToken(ADMISSION, a, await jwt({}), NOW)).toMatchObject({ ok: true })
    const bad = {
      'another key': await jwt({}, bytesOf(7)),
      'another kid': await jwt({ kid: 'b' }),
      'no kid': await jwt({ kid: undefined }),
      'another algorithm': await jwt({ alg: 'HS512' }, new Uint8Array(64)),
      'another type': await jwt({ typ: 'at+jwt' }),
      'a critical header': await jwt({ crit: ['b64'], b64: true }),
      'another issuer': await jwt({}, undefined, { iss: 'elsewhere' }),
      'another audience': await jwt({}, undefined, { aud: 'queue' }),
      'several audiences': await jwt({}, undefined, { aud: ['checkout', 'queue'] }),
      'another kind': signToken(QUEUE, a, place),
      unsigned: new UnsecuredJWT(claims).encode(),
      'a fourth part': `${await jwt({})}.`,
      'too long': 'x'.repeat(100_000),
    }
    for (const [what, token] of Object.entries(bad)) expect(readToken(ADMISSION, a, token, NOW), what).toEqual(refused)
  })

  it('is refused where the public key signed it, as if it were a secret', async () => {
    const set = await ed25519Set('e')
    const [publicKey] = publicJwks(set).keys
    const token = await new SignJWT({ ...admission, iss: EDGE_ISSUER, aud: 'checkout' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'e' })
      .sign(Uint8Array.from(JSON.stringify(publicKey), (letter) => letter.charCodeAt(0)))
    expect(await readToken(ADMISSION, await importKeys(set), token, NOW)).toEqual(refused)
  })

  it('is refused without its claims, or with senseless ones', () => {
    const sign = (changed: object) => signToken(QUEUE, a, { ...place, ...changed })
    for (const changed of [
      { num: undefined },
      { exp: undefined },
      { num: 0 },
      { num: 1.5 },
      // The ledger would refuse a whole batch because of text that it cannot store.
      ...['', 'nul\0', 'line\nend', 'lone surrogate \ud800', 'x'.repeat(201)].map((sub) => ({ sub })),
    ])
      expect(readToken(QUEUE, a, sign(changed), NOW), JSON.stringify(changed)).toEqual(refused)
    const whole = { ...place, sub: 'Zoë 💳' }
    expect(readToken(QUEUE, a, signToken(QUEUE, a, whole), NOW)).toEqual({ ok: true, claims: whole })
  })
})

it('that comes again is verified once where that takes a promise, and expires all the same', async () => {
  for (const { name, keys } of keySets) {
    const token = await signToken(QUEUE, keys, place)
    const verify = vi.spyOn(keys.first, 'verify')
    const reader = new TokenReader(QUEUE, keys, 10)
    for (let i = 0; i < 3; i++) expect(await reader.read(token, NOW), name).toEqual({ ok: true, claims: place })
    expect(await reader.read(token, NOW + 65_000), name).toEqual({ ok: false, reason: 'expired' })
    expect(await reader.read(`${token.slice(0, -9)}otherbits`, NOW), name).toEqual(refused)
    expect(verify, name).toHaveBeenCalledTimes(keys === a ? 5 : 2)
    verify.mockRestore()
  }
})

describe('a key set', () => {
  const read = (schema: v.GenericSchema<unknown, JwkSet>, set: unknown) =>
    v.safeParse(schema, typeof set === 'string' ? set : JSON.stringify(set))

  it('holds symmetric keys, and Ed25519 ones for admissions', async () => {
    const [secrets, ed25519] = [secretSet('a', 'b'), await ed25519Set('e')]
    expect(read(SecretKeySetting, secrets).output).toEqual(secrets)
    expect(read(SecretKeySetting, ed25519).success).toBe(false)
    const mixed = { keys: [...secrets.keys, ...ed25519.keys] }
    expect(read(AdmissionKeySetting, mixed).output).toEqual(mixed)
    expect(publicJwks(secrets)).toEqual({ keys: [] })
    const [published] = publicJwks(mixed).keys
    expect(published).toEqual({ ...ed25519.keys[0], d: undefined, alg: 'EdDSA', use: 'sig' })
    expect([mixed, ed25519].map(canSign)).toEqual([true, true])
    const publicSet = read(AdmissionKeySetting, publicJwks(mixed)).output as JwkSet
    expect(canSign(publicSet)).toBe(false)
    await expect(signToken(ADMISSION, await importKeys(publicSet), admission)).rejects.toThrow()
    expect([secretSet('development-1'), secrets].map(isDevelopmentSet)).toEqual([true, false])
  })

  it('is refused with weak, unnamed, doubled or unknown keys, and its value is not repeated', () => {
    const good = { kty: 'oct', kid: 'a', k: 'A'.repeat(43) }
    expect(read(AdmissionKeySetting, { keys: [good] }).success).toBe(true)
    for (const set of [
      'no-json-at-all',
      'null',
      { keys: [] },
      { keys: ['a'] },
      { keys: [{ ...good, k: 'B'.repeat(42) }] },
      { keys: [{ ...good, k: '!'.repeat(43) }] },
      { keys: [{ ...good, kid: undefined }] },
      { keys: [{ ...good, alg: 'HS512' }] },
      { keys: [good, good] },
      { keys: Array.from({ length: 11 }, (_, i) => ({ ...good, kid: `k${i}` })) },
      { keys: [{ kty: 'OKP', crv: 'X25519', kid: 'e', x: 'A'.repeat(43) }] },
      { keys: [{ kty: 'RSA', kid: 'r', n: 'A', e: 'AQAB' }] },
    ]) {
      const { issues } = read(AdmissionKeySetting, set)
      expect(issues?.[0]?.message, JSON.stringify(set)).toMatch(/^must be a JWK Set as JSON/)
      expect(issues?.[0]?.message).not.toMatch(/no-json|BBB/)
    }
  })
})

it('refuses a token before the time that it names itself', async () => {
  const signed = (nbf: unknown) => signToken(QUEUE, a, { ...place, nbf } as typeof place)
  for (const nbf of [iat - 60, iat, iat + 4]) expect(readToken(QUEUE, a, signed(nbf), NOW)).toMatchObject({ ok: true })
  for (const nbf of [iat + 60, 'soon', null]) expect(readToken(QUEUE, a, signed(nbf), NOW)).toEqual(refused)
})
