/**
 * Solves challenges of the proof of work for a crowd and for its bots. Half a million phones have more processors
 * than the machine of a rehearsal, so the time of a solution is waited for and not computed. The system belongs to
 * the rehearsal, so its key can make a challenge whose solution is known.
 */
import { createChallenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/scrypt'
import * as v from 'valibot'
import { derivedKey } from '../../../edge/http/visitor-secret.ts'
import type { SecretJwkSet } from '../../../shared/keys.ts'

const Asked = v.object({
  parameters: v.object({
    algorithm: v.literal('SCRYPT'),
    cost: v.number(),
    memoryCost: v.number(),
    parallelism: v.number(),
    expiresAt: v.number(),
    data: v.object({ sale: v.string(), visitor: v.string(), difficulty: v.number() }),
  }),
})

/**
 * Half of the numbers are tried on average: 100,000 take a phone half a second (edge/admission/proofs/difficulty.ts).
 */
const PHONE_MS_PER_DIFFICULTY = 0.005
/** An attacker rents a server with sixteen processors, each as fast as three phones. */
const SERVER_PHONES = 16 * 3

export class Prover {
  readonly #secret: string
  readonly #random: () => number

  constructor(queueKeys: SecretJwkSet, random: () => number) {
    // The key is derived in the same way as in edge/http/config.ts.
    this.#secret = Buffer.from(derivedKey(queueKeys, 'proof of work')).toString('base64url')
    this.#random = random
  }

  /** Returns the solution for a join, and the time that a phone would need to find it. */
  async solve(body: string): Promise<{ altcha: string; phoneMs: number }> {
    const { parameters } = v.parse(Asked, JSON.parse(body))
    const challenge = await createChallenge({
      ...parameters,
      deriveKey,
      counter: 0,
      hmacSignatureSecret: this.#secret,
      hmacKeySignatureSecret: this.#secret,
    })
    const solution = await solveChallenge({ challenge, deriveKey })
    return {
      altcha: Buffer.from(JSON.stringify({ challenge, solution })).toString('base64url'),
      phoneMs: 2 * this.#random() * parameters.data.difficulty * PHONE_MS_PER_DIFFICULTY,
    }
  }
}

/** The processors of one attacker, for which its bots wait in a queue. */
export class ProofServer {
  readonly #prover: Prover
  #busyUntilMs = 0

  constructor(prover: Prover) {
    this.#prover = prover
  }

  /** Returns the solution for a join, and the time after which it is found. */
  async solve(body: string): Promise<{ altcha: string; takesMs: number }> {
    const { altcha, phoneMs } = await this.#prover.solve(body)
    const nowMs = performance.now()
    this.#busyUntilMs = Math.max(nowMs, this.#busyUntilMs) + phoneMs / SERVER_PHONES
    return { altcha, takesMs: this.#busyUntilMs - nowMs }
  }
}
