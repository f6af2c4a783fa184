/**
 * Proof of work (ALTCHA) for each ticket number, where a sale's edge asks for it. It identifies nobody; it makes a thousand
 * places cost a thousand times as much as one.
 *
 * A challenge is made out to one visitor and one sale, and a visitor has one number: a solution is good for one number,
 * however often and to whichever shard it is sent. A number gained after leaving or missing a turn needs a new one.
 */
import { type Challenge, createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/sha'
import { base64url } from 'jose'
import * as v from 'valibot'
import { type Call, refuse } from '../http.ts'
import { readJoin } from './join-request.ts'

/** For clients without a form. */
const PROOF_HEADER = 'x-proof-of-work'
/** Long enough for the slowest phone and a visitor who is called away. */
export const GOOD_FOR_SECONDS = 600
const MAX_PROOF_BYTES = 4_096

const Payload = v.object({
  challenge: v.object({
    parameters: v.looseObject({ data: v.object({ sale: v.string(), visitor: v.string() }) }),
    signature: v.string(),
  }),
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
})

const secretsOf = ({ config }: Call) => ({
  hmacSignatureSecret: config.keys.proof,
  hmacKeySignatureSecret: config.keys.proof,
})

/** A challenge for a visitor, to be solved before they join. */
export function challengeFor(sale: string, visitor: string, difficulty: number, call: Call): Promise<Challenge> {
  return createChallenge({
    algorithm: 'SHA-256',
    cost: 1,
    counter: randomInt(difficulty),
    deriveKey,
    data: { sale, visitor },
    expiresAt: Math.floor(call.nowMs / 1000) + GOOD_FOR_SECONDS,
    ...secretsOf(call),
  })
}

export interface Proof {
  /** The visitor it was made out to. */
  readonly visitor: string
  /** By which it is known again, should it be sent twice. */
  readonly paidWith: string
}

/** The proof in a request. Throws `proof-required` without a valid one for this sale. */
export async function requireProof(sale: string, call: Call): Promise<Proof> {
  const payload = await payloadOf(call)
  if (!payload) return refuseProof(sale)
  const { challenge, solution } = payload
  const { data } = challenge.parameters
  const signed = challenge as unknown as Challenge
  const { verified } = await verifySolution({ challenge: signed, solution, deriveKey, ...secretsOf(call) })
  if (!verified || data.sale !== sale) return refuseProof(sale)
  return { visitor: data.visitor, paidWith: challenge.signature }
}

export function refuseProof(sale: string): never {
  return refuse('proof-required', { kind: 'altcha', challenge: `/sales/${sale}/challenge` })
}

async function payloadOf(call: Call): Promise<v.InferOutput<typeof Payload> | null> {
  try {
    const text = call.request.headers.get(PROOF_HEADER) ?? (await readJoin(call)).altcha
    if (text === undefined || text.length > MAX_PROOF_BYTES) return null
    const bytes = base64url.decode(text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
    const payload = v.safeParse(Payload, JSON.parse(new TextDecoder().decode(bytes)))
    return payload.success ? payload.output : null
  } catch {
    return null
  }
}
