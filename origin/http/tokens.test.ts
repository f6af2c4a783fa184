import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import {
  type CryptoKey,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  ADMISSION,
  type AdmissionClaims,
  signAdmissionToken,
  signQueueToken,
  VerifiedLately,
  verifyAdmissionToken,
} from '../../shared/tokens.ts'
import { Overloaded } from '../lib/batcher.ts'
import { holds, Signatures, type Signed } from './signatures.ts'
import { type FindKey, KeysAway, keysAt, readAdmission, readOrderToken, signOrderToken } from './tokens.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const iat = NOW / 1000
const admission = { sub: 'visitor', sale: 'demo', num: 4012, jti: 'one', iat, exp: iat + 60 }
const INVALID = { ok: false, reason: 'invalid' }

let keys: { privateKey: CryptoKey; publicKey: CryptoKey }
let jwks: JSONWebKeySet
let find: FindKey
beforeAll(async () => {
  keys = await generateKeyPair('EdDSA', { extractable: true })
  jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'EdDSA' }] }
  find = createLocalJWKSet(jwks)
})

describe('an admission', () => {
  const good = () => signAdmissionToken(keys.privateKey, 'k1', admission)

  test('is read as the edge signed it, until it expires', async () => {
    expect(await readAdmission(find, holds, await good(), NOW)).toEqual({ ok: true, claims: admission })
    expect(await readAdmission(find, holds, await good(), NOW + 60_000)).toEqual({
      ok: false,
      reason: 'expired',
    })
  })

  test('of another key, kind, algorithm, issuer or audience, or unsigned, is refused', async () => {
    const others = await generateKeyPair('EdDSA')
    const claims = { ...admission, iss: ADMISSION.issuer, aud: ADMISSION.audience }
    const signed = (told: object, header: object = {}) =>
      new SignJWT({ ...told })
        .setProtectedHeader({ alg: 'EdDSA', kid: 'k1', ...header })
        .sign(keys.privateKey)
    const publicKey = Buffer.from(JSON.stringify(await exportJWK(keys.publicKey)))
    const { num: _, ...noNumber } = claims
    for (const token of [
      await signAdmissionToken(others.privateKey, 'k1', admission),
      await signAdmissionToken(keys.privateKey, 'k2', admission),
      await signQueueToken(new Uint8Array(32), admission),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(publicKey),
      new UnsecuredJWT(claims).encode(),
      await signed({ ...claims, iss: 'elsewhere' }),
      await signed({ ...claims, aud: 'queue' }),
      await signed({ ...claims, aud: ['checkout', 'queue'] }),
      await signed(noNumber),
      await signed(claims, { crit: ['b64'], b64: true }),
    ]) {
      expect(await readAdmission(find, holds, token, NOW)).toEqual(INVALID)
    }
  })

  test('is judged as jose judges it, whatever is changed in it', async () => {
    const token = await good()
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    const changed = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom(...letters))
      .map(([at, letter]) => token.slice(0, at) + letter + token.slice(at + 1))
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, fc.constant(token), fc.string()), async (any) => {
        expect(await readAdmission(find, holds, any, NOW)).toEqual(await verifyAdmissionToken(find, any, NOW))
      }),
      { numRuns: 300 },
    )
  })
})

describe("the edge's keys", () => {
  let answer: [status: number, body: string]
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.writeHead(answer[0]).end(answer[1])
  })
  const told = () => JSON.stringify(jwks)
  const anew = () => keysAt(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  const read = async (find: FindKey, kid = 'k1') =>
    readAdmission(find, holds, await signAdmissionToken(keys.privateKey, kid, admission), NOW)
  const anHourLater = () => vi.advanceTimersByTime(3_600_000)
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  afterAll(() => server.close().closeAllConnections())

  test('are good for as long as they cannot be fetched again, and no longer', async () => {
    answer = [200, told()]
    const find = anew()
    expect(await read(find)).toMatchObject({ ok: true })
    for (answer of [
      [502, ''],
      [200, 'what?'],
      [200, '{}'],
    ] satisfies [number, string][]) {
      const before = asked
      anHourLater()
      expect(await read(find)).toMatchObject({ ok: true })
      await vi.waitFor(() => expect(asked).toBe(before + 1))
      expect(await read(find)).toMatchObject({ ok: true })
    }
    answer = [200, '{"keys":[]}']
    anHourLater()
    await vi.waitFor(async () => expect(await read(find)).toEqual(INVALID))
  })

  test('say nothing about an admission where they were never had, or are not those it names', async () => {
    answer = [502, '']
    const find = anew()
    await expect(read(find)).rejects.toThrow(KeysAway)
    answer = [200, told()]
    expect(await read(find)).toMatchObject({ ok: true })
    expect(await read(find, 'k2')).toEqual(INVALID)
    answer = [502, '']
    anHourLater()
    await expect(read(find, 'k2')).rejects.toThrow(KeysAway)
  })
})

test('an admission by a key that was withdrawn ends within a minute, whatever it claims', async () => {
  let known = jwks
  const admissions = new VerifiedLately<AdmissionClaims>(10, (token, nowMs) =>
    readAdmission((...asked) => createLocalJWKSet(known)(...asked), holds, token, nowMs),
  )
  const stolen = await signAdmissionToken(keys.privateKey, 'k1', {
    ...admission,
    exp: iat + 10 * 365 * 86_400,
  })
  const isGood = async (nowMs: number) => (await admissions.verify(stolen, nowMs)).ok
  expect(await isGood(NOW)).toBe(true)
  known = { keys: [] }
  expect(await isGood(NOW + 59_000)).toBe(true)
  expect(await isGood(NOW + 60_000)).toBe(false)
})

test('an admission that there is no room to look at now is not called invalid', async () => {
  const full = () => Promise.reject(new Overloaded('the queue is full'))
  const token = await signAdmissionToken(keys.privateKey, 'k1', admission)
  await expect(readAdmission(find, full, token, NOW)).rejects.toThrow(Overloaded)
})

test.each([1, 3])(
  'threads (%i) judge each as it deserves, wave upon wave, even when one dies in the middle',
  async (threads) => {
    const signatures = new Signatures(threads)
    const check = (signed: Signed) => signatures.check(signed)
    const token = await signAdmissionToken(keys.privateKey, 'k1', admission)
    const forged = await signAdmissionToken((await generateKeyPair('EdDSA')).privateKey, 'k1', admission)
    const judged: Promise<boolean>[] = []
    const deserved: boolean[] = []
    for (let wave = 0; wave < 100; wave++) {
      for (let i = (wave * 17) % 90; i >= 0; i--) {
        const good = (i * wave) % 3 !== 0
        deserved.push(good)
        judged.push(readAdmission(find, check, good ? token : forged, NOW).then((verdict) => verdict.ok))
      }
      await sleep(1)
      if (wave % 40 === 39) await signatures.stop()
    }
    expect(await Promise.all(judged)).toEqual(deserved)
    await signatures.stop()
  },
)

describe('an order token', () => {
  const key = Buffer.alloc(32, 1)
  const claims = { sub: 'order', sale: 'demo', iat, exp: iat + 60 }

  test('is read as it was signed, until it expires, and is a JWT to others', async () => {
    const token = signOrderToken(key, claims)
    expect(readOrderToken(key, token, NOW)).toEqual({ ok: true, claims })
    expect(readOrderToken(key, token, NOW + 60_000)).toEqual({ ok: false, reason: 'expired' })
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], currentDate: new Date(NOW) })
    expect(payload).toMatchObject({ ...claims, aud: 'order' })
  })

  test('of another key or kind is refused, and so is one with any letter changed', async () => {
    const token = signOrderToken(key, claims)
    expect(readOrderToken(Buffer.alloc(32, 2), token, NOW)).toEqual(INVALID)
    const queue = await signQueueToken(new Uint8Array(32).fill(1), { ...claims, num: 1 })
    expect(readOrderToken(key, queue, NOW)).toEqual(INVALID)
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '0', '_', '.'), (at, letter) => {
        fc.pre(token[at] !== letter)
        expect(readOrderToken(key, token.slice(0, at) + letter + token.slice(at + 1), NOW)).toEqual(INVALID)
      }),
    )
    fc.assert(
      fc.property(fc.string(), (junk) => {
        expect(readOrderToken(key, junk, NOW)).toEqual(INVALID)
      }),
    )
  })
})
