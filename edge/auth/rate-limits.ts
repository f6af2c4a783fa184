/**
 * Rate limits, kept in the memory of one isolate: cheap, approximate, and enough to make hammering useless. What must be
 * exact (one number per visitor, one order per visitor) is exact elsewhere.
 */
import { type Problem, problem } from '../../shared/problem.ts'
import { Recent } from '../../shared/recent-map.ts'
import type { Rate } from '../config.ts'
import type { Call } from '../http.ts'

/** Most keys remembered; beyond it those used longest ago are forgotten. */
const MAX_KEYS = 50_000

/**
 * A steady rate with a burst of as many calls as the rate allows in its period (GCRA): one number per key, the moment
 * at which the key's calls would be used up at the steady rate.
 */
export class Limiter {
  readonly #usedUntilMs = new Recent<string, number>(MAX_KEYS)

  /** Takes one call; answers the milliseconds to wait if it is one too many, 0 if it is not. */
  take(key: string, rate: Rate, nowMs: number): number {
    const periodMs = rate.seconds * 1000
    const usedUntilMs = Math.max(nowMs, this.#usedUntilMs.get(key) ?? 0) + periodMs / rate.calls
    // A clock that was put back must not lock anyone out.
    const waitMs = Math.min(periodMs, usedUntilMs - nowMs - periodMs)
    if (waitMs > 0) return waitMs
    this.#usedUntilMs.set(key, usedUntilMs)
    return 0
  }
}

/** What counts as one address: an IPv4 address (also one written as IPv6), or the /64 that one subscriber has of IPv6. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(?=\d+\.)/i
  if (mapped.test(address)) return address.replace(mapped, '')
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length
    while (groups.length < 8 - after) groups.push('0')
  }
  return groups.slice(0, 4).join(':')
}

const limiter = new Limiter()

/** One call by an address: what to answer if it is one too many. */
export function limitedByAddress(
  what: string,
  rate: Rate | null,
  { request, config, nowMs }: Call,
): Problem | null {
  // Those whom no front names count as one, or leaving the header out would be a way round.
  const address = request.headers.get(config.addressHeader) ?? ''
  return limited(what, addressKey(address), rate, nowMs)
}

/** The same by a visitor's name. */
export function limited(what: string, who: string, rate: Rate | null, nowMs: number): Problem | null {
  if (!rate) return null
  const waitMs = limiter.take(`${what} ${who}`, rate, nowMs)
  return waitMs > 0 ? problem('too-many-requests', { retry_after_seconds: waitMs / 1000 }) : null
}
