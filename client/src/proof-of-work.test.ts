import { scryptSync } from 'node:crypto'
import { createChallenge, verifySolution } from 'altcha-lib'
import { describe, expect, test } from 'vitest'
import { deriveKey } from '../../edge/admission/proofs/proof-of-work.ts'
import { scrypt, solve } from './proof-of-work.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const hex = (found: Uint8Array) => Buffer.from(found).toString('hex')

describe('scrypt', () => {
  test('is as RFC 7914 says (section 12)', async () => {
    expect(hex(await scrypt(bytes(''), bytes(''), { cost: 16, memoryCost: 1 }, 64))).toBe(
      '77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442' +
        'fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906',
    )
  })

  test('is that of Node, with other sizes', async () => {
    for (const [N, r, p] of [
      [512, 8, 1],
      [64, 3, 2],
    ] as const)
      expect(hex(await scrypt(bytes('pass'), bytes('salt'), { cost: N, memoryCost: r, parallelism: p }, 32))).toBe(
        hex(scryptSync('pass', 'salt', 32, { N, r, p })),
      )
  })
})

describe('a challenge', () => {
  const secrets = { hmacSignatureSecret: 'secret', hmacKeySignatureSecret: 'secret' }
  const challengeOf = (counter: number) =>
    createChallenge({ algorithm: 'SCRYPT', cost: 512, memoryCost: 8, parallelism: 1, counter, deriveKey, ...secrets })

  test('of the edge is solved as the edge verifies it', async () => {
    const { challenge, solution } = JSON.parse(atob(await solve((await challengeOf(7)) as Parameters<typeof solve>[0])))
    expect(solution.counter).toBe(7)
    expect(await verifySolution({ challenge, solution, deriveKey, ...secrets })).toMatchObject({ verified: true })
  })

  test('of another kind is refused, and one that takes too long ends with its signal', async () => {
    const challenge = (await challengeOf(3)) as Parameters<typeof solve>[0]
    const other = { ...challenge, parameters: { ...challenge.parameters, algorithm: 'ARGON2ID' } }
    await expect(solve(other)).rejects.toThrow('another kind: ARGON2ID')
    await expect(solve(challenge, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })
})
