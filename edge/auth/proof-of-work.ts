/**
 * The price of entry, where one is asked: a proof of work (ALTCHA) for each ticket number. It identifies nobody; it
 * makes a thousand places cost a thousand times as much as one.
 *
 * A challenge is made out to one visitor and one sale, and a visitor has one number: so a solution is good for one
 * number, however often and to whichever shard it is sent. A number gained anew, after leaving or missing a turn, needs
 * a new one.
 */
import { type Challenge, createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/sha'
import { base64url } from 'jose'
import * as v from 'valibot'
import { MAX_BODY_BYTES } from '../../shared/parse.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import type { Call } from '../http.ts'
import { presentedPlace, visitorCookies, visitorOf } from './visitor.ts'

/** For clients without a form. */
const PROOF_HEADER = 'x-proof-of-work'
/** The field in which ALTCHA's widget sends it. */
const PROOF_FIELD = 'altcha'
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

/** A challenge for whoever asks, to be solved before they join; and the cookies that tell then that it was theirs. */
export async function challengeFor(
  sale: string,
  call: Call,
): Promise<{ readonly challenge: Challenge; readonly cookies: string[] }> {
  const { config, nowMs } = call
  // Whoever has a place is somebody, also without cookies: they may need a number instead of one whose turn has passed.
  const presented = await presentedPlace(sale, call)
  const { name, secret } =
    presented.kind === 'place' ? { name: presented.claims.sub, secret: null } : await visitorOf(call)
  const challenge = await createChallenge({
    algorithm: 'SHA-256',
    cost: 1,
    counter: randomInt(config.powDifficulty),
    deriveKey,
    data: { sale, visitor: name },
    expiresAt: Math.floor(nowMs / 1000) + GOOD_FOR_SECONDS,
    hmacSignatureSecret: config.keys.proof,
    hmacKeySignatureSecret: config.keys.proof,
  })
  return { challenge, cookies: visitorCookies(secret, call) }
}

/** The visitor that a request's proof was made out to, and what it was; or what to answer without a good one. */
export async function proofOf(
  sale: string,
  call: Call,
): Promise<{ readonly visitor: string; readonly paidWith: string } | Problem> {
  const payload = await payloadOf(call.request)
  if (!payload) return proofRequired(sale)
  const { challenge, solution } = payload
  const { data } = challenge.parameters
  const { verified } = await verifySolution({
    challenge: challenge as unknown as Challenge,
    solution,
    deriveKey,
    hmacSignatureSecret: call.config.keys.proof,
    hmacKeySignatureSecret: call.config.keys.proof,
  })
  return verified && data.sale === sale
    ? { visitor: data.visitor, paidWith: challenge.signature }
    : proofRequired(sale)
}

export function proofRequired(sale: string): Problem {
  return problem('proof-of-work-required', { challenge: `/sales/${sale}/challenge` })
}

async function payloadOf(request: Request): Promise<v.InferOutput<typeof Payload> | null> {
  try {
    const text = request.headers.get(PROOF_HEADER) ?? (await fieldOf(request))
    if (text === null || text.length > MAX_PROOF_BYTES) return null
    const bytes = base64url.decode(text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
    const payload = v.safeParse(Payload, JSON.parse(new TextDecoder().decode(bytes)))
    return payload.success ? payload.output : null
  } catch {
    return null
  }
}

async function fieldOf(request: Request): Promise<string | null> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN)
  if (!(length <= MAX_BODY_BYTES)) return null
  const field = (await request.formData()).get(PROOF_FIELD)
  return typeof field === 'string' ? field : null
}
