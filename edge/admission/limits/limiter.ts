/**
 * Counts calls by key at a steady rate, in memory of a fixed size. Cheap and approximate: what must be exact (one number
 * per visitor, one order per visitor) is exact elsewhere.
 */
import { hashOf } from '../../../shared/lib/hash.ts'
import type { Rate } from '../../config.ts'

/** Of each row. Half a million keys of one call each share them without anyone being refused. */
const SLOTS = 2 ** 16

/**
 * A steady rate with a burst of as many calls as the rate allows in its period (GCRA): one number per key, the moment at
 * which the key's calls would be used up at the steady rate.
 *
 * The numbers are in two rows of slots, and a key has one slot in each (a count-min sketch): the earlier of the two
 * moments is taken. Keys that share a slot share its calls, so a key may be refused too early, if both of its slots are
 * busy; none is ever allowed more than its rate, however many others come. Nothing is evicted, so nobody can be flushed
 * out, and a crowd of new keys costs no memory.
 */
export class Limiter {
  readonly #rows: readonly [Float64Array, Float64Array]
  /** Random for each isolate: nobody can choose a key that shares the slots of another. */
  #seed: number | null = null

  constructor(slots = SLOTS) {
    this.#rows = [new Float64Array(slots), new Float64Array(slots)]
  }

  /** Takes one call; returns the milliseconds to wait if it is one too many, else 0. */
  take(key: string, rate: Rate, nowMs: number): number {
    return this.#ask(key, rate, nowMs, true)
  }

  /** The milliseconds until a call would be taken; takes none. */
  wait(key: string, rate: Rate, nowMs: number): number {
    return this.#ask(key, rate, nowMs, false)
  }

  #ask(key: string, { calls, seconds }: Rate, nowMs: number, takes: boolean): number {
    const periodMs = seconds * 1000
    const latestMs = nowMs + periodMs
    const [one, other] = this.#rows
    // Workers have no random numbers before the first request.
    this.#seed ??= Math.random() * 2 ** 32
    const hash = mixed(hashOf(key, this.#seed))
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

/** A moment further ahead than any call sets it was set before the clock was put back, and must not lock anyone out. */
function momentAt(row: Float64Array, slot: number, latestMs: number): number {
  const moment = row[slot] ?? 0
  return moment > latestMs ? 0 : moment
}

/** As murmur3 ends: all bits depend on all of the text. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}
