import { createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/scrypt'
import { expect, test, vi } from 'vitest'
import { deriveKey as deriveAtEdge } from '../../../edge/admission/proofs/proof-of-work.ts'
import { readConfig } from '../../../edge/http/config.ts'
import { newKeySet } from '../../../shared/keys.ts'
import { ProofServer, Prover } from './prover.ts'

const keys = newKeySet()
const config = await readConfig({
  ORIGIN_URL: 'http://127.0.0.1:1',
  EDGE_TOKEN: 'secret',
  ENVIRONMENT: 'development',
  QUEUE_KEYS: JSON.stringify(keys),
  ADMISSION_KEYS: JSON.stringify(newKeySet()),
} as Parameters<typeof readConfig>[0])
const secrets = { hmacSignatureSecret: config.keys.proof, hmacKeySignatureSecret: config.keys.proof }

const asked = async (difficulty: number) =>
  JSON.stringify(
    await createChallenge({
      algorithm: 'SCRYPT',
      cost: 512,
      memoryCost: 8,
      parallelism: 1,
      deriveKey,
      counter: randomInt(10),
      data: { sale: 'drop', visitor: 'ada', difficulty },
      expiresAt: Math.floor(Date.now() / 1000) + 600,
      ...secrets,
    }),
  )

test('a proof is one that the edge accepts, for the visitor and the difficulty that were asked for', async () => {
  const { altcha, phoneMs } = await new Prover(keys, () => 0.5).solve(await asked(100_000))
  const { challenge, solution } = JSON.parse(Buffer.from(altcha, 'base64url').toString())
  expect((await verifySolution({ challenge, solution, deriveKey: deriveAtEdge, ...secrets })).verified).toBe(true)
  expect(challenge.parameters.data).toEqual({ sale: 'drop', visitor: 'ada', difficulty: 100_000 })
  expect(phoneMs).toBe(500)
})

test('the bots of one attacker queue for its processors', async () => {
  const server = new ProofServer(new Prover(keys, () => 0.5))
  const challenge = await asked(960_000)
  // A challenge takes a phone 4,800 ms, and there are as many phones as reduce that to a tenth of a second.
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  for (const takesMs of [100, 200, 300]) expect(await server.solve(challenge)).toMatchObject({ takesMs })
  now.mockReturnValue(1_250)
  expect(await server.solve(challenge)).toMatchObject({ takesMs: 150 })
  now.mockRestore()
})
