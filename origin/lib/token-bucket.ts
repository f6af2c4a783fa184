/** A token bucket: it fills at a rate, up to what it holds, and calls take tokens from it. Pure. */

export interface TokenBucket {
  readonly tokens: number
  readonly atMs: number
}

interface Limit {
  readonly perSecond: number
  /** The most tokens. */
  readonly most: number
}

/**
 * Takes the tokens of as many of `wanted` as there are, at `each` tokens: how many those are, and the bucket
 * afterwards.
 */
export function takeTokens(bucket: TokenBucket, nowMs: number, { perSecond, most }: Limit, wanted: number, each = 1) {
  const filled = bucket.tokens + (Math.max(0, nowMs - bucket.atMs) * perSecond) / 1000
  const tokens = Math.min(most, filled)
  const granted = Math.max(0, Math.min(wanted, Math.floor(tokens / each)))
  return { granted, bucket: { tokens: tokens - granted * each, atMs: nowMs } }
}
