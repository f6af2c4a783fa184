/**
 * Proof of work (ALTCHA) for each ticket number, in sales that require it. It identifies nobody, but makes a thousand
 * places cost a thousand times as much as one. Its function needs much memory, so that a graphics card has little
 * advantage over a phone.
 *
 * Making a challenge costs the edge one try. Verifying a solution costs two signatures and no try, because the
 * challenge contains a signature of the key that solves it.
 *
 * A challenge is for one visitor and one sale, and a visitor has one number, so a solution is good for one number,
 * however often and to whichever shard it is sent. A number gained after leaving or missing a turn needs a new one.
 */
import { scrypt } from '@noble/hashes/scrypt.js'
import { type Challenge, createChallenge, type DeriveKeyFunction, randomInt, verifySolution } from 'altcha-lib'
import { base64url } from 'jose'
import * as v from 'valibot'
import type { Call } from '../../http/call.ts'
import { PAYMENT_TTL_SECONDS } from '../../queue/rpc.ts'

/** The header is for clients without a form. */
const PROOF_HEADER = 'x-proof-of-work'
const MAX_PROOF_BYTES = 4_096

/** One try runs scrypt over N * 128 * r bytes, which is half a megabyte. */
const TRY = { algorithm: 'SCRYPT', cost: 512, memoryCost: 8, parallelism: 1 } as const
/** A try takes a browser about as long as this many SHA-256 hashes, in which difficulty is measured. */
const HASHES_PER_TRY = 250

const Payload = v.object({
  challenge: v.object({
    parameters: v.looseObject({
      data: v.object({
        sale: v.string(),
        visitor: v.string(),
        difficulty: v.number(),
      }),
    }),
    signature: v.string(),
  }),
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
})

const secretsOf = ({ config }: Call) => ({
  hmacSignatureSecret: config.keys.proof,
  hmacKeySignatureSecret: config.keys.proof,
})

/** Makes a challenge for a visitor, who solves it before they join. */
export function challengeFor(sale: string, visitor: string, difficulty: number, call: Call): Promise<Challenge> {
  return createChallenge({
    ...TRY,
    counter: randomInt(Math.ceil(difficulty / HASHES_PER_TRY)),
    deriveKey,
    data: { sale, visitor, difficulty },
    // The challenge lasts long enough for the slowest phone and a visitor who is interrupted.
    expiresAt: Math.floor(call.nowMs / 1000) + PAYMENT_TTL_SECONDS,
    ...secretsOf(call),
  })
}

/**
 * The function is JavaScript, because the platform's own needs a compatibility flag that also enables Node's globals.
 */
export const deriveKey: DeriveKeyFunction = async ({ cost, memoryCost, parallelism, keyLength }, salt, password) => ({
  derivedKey: scrypt(password, salt, { N: cost, r: memoryCost ?? 8, p: parallelism ?? 1, dkLen: keyLength ?? 32 }),
})

/** A solved challenge, with its sale, its visitor and its difficulty. */
export interface Proof {
  readonly sale: string
  readonly visitor: string
  readonly difficulty: number
  /** Identifies the proof, so that a second use is detected. */
  readonly paidWith: string
}

/** Reads the proof of a join from its header or its fields (`altcha`); null without a valid one. */
export async function readProof(altcha: string | undefined, call: Call): Promise<Proof | null> {
  const payload = payloadIn(call.request.headers.get(PROOF_HEADER) ?? altcha)
  if (!payload) return null
  const { challenge, solution } = payload
  const signed = challenge as unknown as Challenge
  const { verified } = await verifySolution({ challenge: signed, solution, deriveKey, ...secretsOf(call) })
  return verified ? { ...challenge.parameters.data, paidWith: challenge.signature } : null
}

function payloadIn(text: string | undefined): v.InferOutput<typeof Payload> | null {
  if (text === undefined || text.length > MAX_PROOF_BYTES) return null
  try {
    const bytes = base64url.decode(
      text
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, ''),
    )
    const payload = v.safeParse(Payload, JSON.parse(new TextDecoder().decode(bytes)))
    return payload.success ? payload.output : null
  } catch {
    return null
  }
}
