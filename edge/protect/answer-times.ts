/**
 * Measures how long the protected site takes to respond to admitted visitors, which controls the rate of the queue.
 * Visitors choose their requests, so only one response per session and second counts, to a request that was complete
 * when it arrived. Pure.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { JoinCounts } from '../../shared/api/internal.ts'

/** A request to the site with its result. */
export interface SiteAnswer {
  /** The visitor of the admission. */
  readonly visitor: string
  /** True for a request with a body, which its sender could delay. */
  readonly hasBody: boolean
  readonly beganMs: number
  readonly tookMs: number
  /** The status; null without a response. */
  readonly status: number | null
}

/** A request without a response counts as one that took this long. */
export const UPSTREAM_TIMEOUT_MS = 30_000

/**
 * The sample that counts; empty for a request with a body, and for a refusal, which costs the site no work. Its name
 * is a digest with a secret, so that isolates agree on it and nobody can choose one that takes precedence over
 * others.
 */
export function sampleOf(answer: SiteAnswer, secret: string): Partial<JoinCounts> {
  const { visitor, hasBody, beganMs, tookMs, status } = answer
  const isRefusal = status !== null && status >= 400 && status < 500
  if (hasBody || isRefusal) return {}
  const digest = sha256(utf8ToBytes(`${secret} ${Math.floor(beganMs / 1000)} ${visitor}`))
  const ms = status === null ? UPSTREAM_TIMEOUT_MS : Math.max(0, Math.round(tookMs))
  return { answers: { [bytesToHex(digest.subarray(0, 4))]: ms } }
}
