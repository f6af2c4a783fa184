/**
 * Rate limits in the memory of one isolate: cheap, approximate, and enough to make hammering useless. What must be exact
 * (one number per visitor, one order per visitor) is exact elsewhere.
 */
import { Recent } from '../../shared/recent-map.ts'
import type { Rate } from '../config.ts'
import { type Call, refuse } from '../http.ts'

/** Most keys remembered; beyond it the least recently used are forgotten. */
const MAX_KEYS = 50_000

/**
 * A steady rate with a burst of as many calls as the rate allows in its period (GCRA): one number per key, the moment
 * at which the key's calls would be used up at the steady rate.
 */
export class Limiter {
  readonly #usedUntilMs = new Recent<string, number>(MAX_KEYS)

  /** Takes one call; returns the milliseconds to wait if it is one too many, else 0. */
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

/** What counts as one address: an IPv4 address (also in IPv6 form), or the /64 that one subscriber has of IPv6. */
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

/** Counts a call of an address; throws `too-many-requests` if it is one too many. */
export function limitAddress(what: string, rate: Rate | null, { request, config, nowMs }: Call): void {
  // Calls without the header count as one address, or leaving it out would be a way round.
  if (rate) limit(what, addressKey(request.headers.get(config.ADDRESS_HEADER) ?? ''), rate, nowMs)
}

/** The same for a visitor's name. */
export function limitVisitor(what: string, name: string, rate: Rate | null, { nowMs }: Call): void {
  if (rate) limit(what, name, rate, nowMs)
}

function limit(what: string, who: string, rate: Rate, nowMs: number): void {
  const waitMs = limiter.take(`${what} ${who}`, rate, nowMs)
  if (waitMs > 0) refuse('too-many-requests', { retry_after_seconds: waitMs / 1000 })
}
