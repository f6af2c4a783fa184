/**
 * Limits the rate of calls by key, in memory of a fixed size. It is cheap and approximate. Exact limits (one number
 * per visitor, one order per visitor) are enforced elsewhere.
 */
import { hashOf } from '../../../shared/lib/hash.ts'
import type { Rate } from '../setting-forms.ts'

/** The number of slots in each row. Half a million keys with one call each share them without a refusal. */
const SLOTS = 2 ** 16

/**
 * A steady rate with a burst of as many calls as the rate allows in its period (GCRA). Each key has one number: the
 * moment at which its calls would be used up at the steady rate.
 *
 * The numbers are in two rows of slots, and a key has one slot in each (a count-min sketch); the earlier of the two
 * moments counts. Keys that share a slot share its calls, so a key may be refused too early if both of its slots are
 * busy, but no key is ever allowed more than its rate. No key is evicted, so an attacker cannot flush out the count
 * of another, and many new keys need no more memory.
 */
export class Limiter {
  readonly #rows: readonly [Float64Array, Float64Array]
  /** The seed is random in each isolate, so that nobody can choose a key that shares the slots of another. */
  #seed: number | null = null

  constructor(slots = SLOTS) {
    this.#rows = [new Float64Array(slots), new Float64Array(slots)]
  }

  /** Takes one call. Returns the milliseconds to wait if the call exceeds the limit, else 0. */
  take(key: string, rate: Rate, nowMs: number): number {
    return this.#ask(key, rate, nowMs, true)
  }

  /** Returns the milliseconds until a call would be allowed, without taking one. */
  wait(key: string, rate: Rate, nowMs: number): number {
    return this.#ask(key, rate, nowMs, false)
  }

  #ask(key: string, { calls, seconds }: Rate, nowMs: number, takes: boolean): number {
    const periodMs = seconds * 1000
    const latestMs = nowMs + periodMs
    const [one, other] = this.#rows
    // Workers have no random numbers before the first request.
    this.#seed ??= Math.random() * 2 ** 32
    const hash = mixBits(hashOf(key, this.#seed))
    const [i, j] = [hash % one.length, (hash >>> 16) % other.length]
    const [first, second] = [momentAt(one, i, latestMs), momentAt(other, j, latestMs)]
    const usedUntilMs = Math.max(nowMs, Math.min(first, second)) + periodMs / calls
    if (usedUntilMs > latestMs) return usedUntilMs - latestMs
    if (takes) {
      one[i] = Math.max(first, usedUntilMs)
      other[j] = Math.max(second, usedUntilMs)
    }
    return 0
  }
}

/**
 * A moment further ahead than any call can set it dates from before the clock was put back. It is ignored, so that it
 * locks nobody out.
 */
function momentAt(row: Float64Array, slot: number, latestMs: number): number {
  const moment = row[slot] ?? 0
  return moment > latestMs ? 0 : moment
}

/** The final mixing of murmur3: every bit of the result depends on the whole text. */
function mixBits(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
