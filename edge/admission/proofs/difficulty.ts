/**
 * Sets the difficulty of a proof of work for sales that leave it open (`auto`). It is the usual amount. For a network
 * that requests more than its fair share of a sale's challenges, it grows in proportion to the excess, up to a limit.
 * Counts decay, so the difficulty falls again. They are in the memory of one isolate, which sees a part of the
 * visitors; that is enough to measure shares.
 */
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/** Difficulty is measured in SHA-256 hashes that take the same time: 100,000 take a phone about half a second. */
export const USUAL_DIFFICULTY = 50_000
/** The limit matters for a carrier whose customers share one address: they wait for seconds, and can join. */
export const MAX_FACTOR = 32
/** The half-life of a count. */
export const HALF_LIFE_MS = 60_000
/** The number of sales and networks remembered. Active ones are among the last used. */
const MAX_COUNTS = 50_000

/**
 * The fair share of the networks of an address, the smallest first: this number of challenges, or this share of all,
 * whichever is more. A household or a small office is below it even while there are hardly any other visitors.
 */
const FAIR = [
  { challenges: 10, share: 0.01 },
  { challenges: 40, share: 0.04 },
  { challenges: 80, share: 0.08 },
] as const

interface Count {
  readonly value: number
  readonly atMs: number
}

export class NetworkShares {
  readonly #counts = new RecentMap<string, Count>(MAX_COUNTS)

  /**
   * Counts a challenge for an address with these networks. Returns the factor by which it is more difficult than
   * usual.
   */
  take(sale: string, networks: readonly string[], nowMs: number): number {
    const all = this.#add(sale, nowMs)
    const excesses = FAIR.slice(0, networks.length).map(({ challenges, share }, i) => {
      const asked = this.#add(`${sale} ${networks[i]}`, nowMs)
      return asked / Math.max(challenges, share * all)
    })
    return Math.min(MAX_FACTOR, Math.max(1, ...excesses))
  }

  #add(key: string, nowMs: number): number {
    const before = this.#counts.get(key)
    // The age is never negative, because a clock that was put back must not make a count grow.
    const fadedBy = before ? 2 ** (-Math.max(0, nowMs - before.atMs) / HALF_LIFE_MS) : 0
    const value = (before?.value ?? 0) * fadedBy + 1
    this.#counts.set(key, { value, atMs: nowMs })
    return value
  }
}
