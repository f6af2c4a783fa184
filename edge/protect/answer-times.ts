/**
 * How long the protected site takes to answer those who were let in, which steers the line. Visitors shape what they send, so little
 * of it counts: one answer for a session and second, to a request that was complete when it came. Pure.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { JoinCounts } from '../../shared/api/internal.ts'

/** A request to the site, and what became of it. */
export interface SiteAnswer {
  /** The visitor of the admission. */
  readonly visitor: string
  /** True for a request whose sender could hold a part of it back. */
  readonly hasBody: boolean
  readonly beganMs: number
  readonly tookMs: number
  /** Null without an answer. */
  readonly status: number | null
}

/** A request without an answer counts as one that took this long. */
export const UPSTREAM_TIMEOUT_MS = 30_000

/**
 * The sample as it is counted; empty for a body and for a refusal, which takes the site no work. Its name is a digest by a
 * secret: isolates agree on it, and nobody can choose one that is kept before those of others.
 */
export function sampleOf(answer: SiteAnswer, secret: string): Partial<JoinCounts> {
  const { visitor, hasBody, beganMs, tookMs, status } = answer
  const isRefusal = status !== null && status >= 400 && status < 500
  if (hasBody || isRefusal) return {}
  const digest = sha256(utf8ToBytes(`${secret} ${Math.floor(beganMs / 1000)} ${visitor}`))
  const ms = status === null ? UPSTREAM_TIMEOUT_MS : Math.max(0, Math.round(tookMs))
  return { answers: { [bytesToHex(digest.subarray(0, 4))]: ms } }
}
