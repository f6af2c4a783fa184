/**
 * Solves challenges of the proof of work for a crowd and for its bots. Half a million phones have more processors than the
 * machine of a rehearsal, so the time that a solution takes is waited for and not computed: the system is the rehearsal's own,
 * and with its key a challenge can be made whose solution is known.
 */
import { createHmac } from 'node:crypto'
import { type Challenge, createChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/scrypt'
import * as v from 'valibot'
import type { SecretJwkSet } from '../../../shared/keys.ts'

const Asked = v.object({
  parameters: v.looseObject({
    algorithm: v.literal('SCRYPT'),
    cost: v.number(),
    memoryCost: v.number(),
    parallelism: v.number(),
    expiresAt: v.number(),
    data: v.object({ sale: v.string(), visitor: v.string(), difficulty: v.number() }),
  }),
})

/** Half of the numbers are tried on average: 100,000 take a phone half a second (edge/admission/proofs/difficulty.ts). */
const PHONE_MS_PER_DIFFICULTY = 0.005
/** An attacker rents a server with sixteen processors, each as fast as three phones. */
const SERVER_PHONES = 16 * 3

export class Prover {
  readonly #secret: string
  readonly #random: () => number

  constructor(queueKeys: SecretJwkSet, random: () => number) {
    const last = Buffer.from(queueKeys.keys.at(-1)?.k ?? '', 'base64url')
    // As edge/config.ts derives it.
    this.#secret = createHmac('sha256', last).update('proof of work').digest('base64url')
    this.#random = random
  }

  /** What to send with a join, and how long a phone would have taken to find it. */
  async solve(body: string): Promise<{ altcha: string; phoneMs: number }> {
    const { algorithm, cost, memoryCost, parallelism, expiresAt, data } = v.parse(Asked, JSON.parse(body)).parameters
    const challenge = await createChallenge({
      algorithm,
      cost,
      memoryCost,
      parallelism,
      expiresAt,
      data,
      deriveKey,
      counter: 0,
      hmacSignatureSecret: this.#secret,
      hmacKeySignatureSecret: this.#secret,
    })
    const solution = { counter: 0, derivedKey: await solutionOf(challenge), time: 0 }
    return {
      altcha: Buffer.from(JSON.stringify({ challenge, solution })).toString('base64url'),
      phoneMs: 2 * this.#random() * data.difficulty * PHONE_MS_PER_DIFFICULTY,
    }
  }
}

/** The processors of one attacker: its bots queue for them. */
export class ProofServer {
  readonly #prover: Prover
  #busyUntilMs = 0

  constructor(prover: Prover) {
    this.#prover = prover
  }

  /** What to send with a join, and after how long it is found. */
  async solve(body: string): Promise<{ altcha: string; takesMs: number }> {
    const { altcha, phoneMs } = await this.#prover.solve(body)
    const nowMs = performance.now()
    this.#busyUntilMs = Math.max(nowMs, this.#busyUntilMs) + phoneMs / SERVER_PHONES
    return { altcha, takesMs: this.#busyUntilMs - nowMs }
  }
}

async function solutionOf({ parameters }: Challenge): Promise<string> {
  const { nonce, salt } = parameters
  const password = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)])
  const { derivedKey } = await deriveKey(parameters, Buffer.from(salt, 'hex'), password)
  return Buffer.from(derivedKey).toString('hex')
}
