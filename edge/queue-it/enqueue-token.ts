/**
 * The enqueue token, by which a shop lets only its own visitors into the room. The format is that of the package
 * `@queue-it/queue-token`. Its encrypted part has nothing that this room uses, so only the header is read. Pure.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { timingSafeEqual } from 'hono/utils/buffer'
import { base64url } from 'jose'
import * as v from 'valibot'
import { tryParseJson } from '../../shared/parse.ts'

const MAX_LENGTH = 4_096
/** The shop's clock may be ahead by this much. */
const CLOCK_TOLERANCE_MS = 30_000
/** A token without an end is valid for so long, because it would otherwise be valid for ever. */
const MAX_AGE_MS = 24 * 3_600_000

const milliseconds = v.pipe(v.number(), v.finite())
const Header = v.object({
  typ: v.literal('QT1'),
  enc: v.literal('AES256'),
  iss: milliseconds,
  exp: v.optional(milliseconds),
  c: v.string(),
  e: v.optional(v.string()),
  ip: v.optional(v.string()),
})

interface Expected {
  readonly customer: string
  readonly event: string
  readonly secret: string
  /** The visitor's address, if the token is bound to it. */
  readonly address?: string
  readonly nowMs: number
}

/** True for a token that the shop has made for this event, and that is valid now. */
export async function isEnqueueToken(token: string, expected: Expected): Promise<boolean> {
  const { customer, event, secret, address, nowMs } = expected
  const [header = '', payload = '', hash = '', ...more] = token.split('.')
  if (token.length > MAX_LENGTH || more.length > 0) return false
  if (!(await timingSafeEqual(hash, hashOf(`${header}.${payload}`, secret)))) return false
  const claims = headerIn(header)
  if (!claims || claims.c !== customer || (claims.e ?? event) !== event) return false
  if (address !== undefined && claims.ip !== undefined && claims.ip !== address) return false
  const { iss, exp = iss + MAX_AGE_MS } = claims
  return iss <= nowMs + CLOCK_TOLERANCE_MS && nowMs < exp
}

const hashOf = (text: string, secret: string) => base64url.encode(sha256(utf8ToBytes(text + secret)))

function headerIn(text: string): v.InferOutput<typeof Header> | undefined {
  try {
    return tryParseJson(Header, new TextDecoder().decode(base64url.decode(text)))
  } catch {
    return undefined
  }
}
