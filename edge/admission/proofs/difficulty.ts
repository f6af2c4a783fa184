/**
 * How much a proof of work costs where the sale leaves that open (`auto`): the usual amount, and for a network that asks for a
 * large share of a sale's challenges as many times that as it is above its fair share, up to a limit. Counts fade, so the
 * price falls again. They are kept in the memory of one isolate, which sees a part of the crowd: enough to measure shares.
 */
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/** Difficulty counts the SHA-256 hashes that take as long: 100,000 take a phone about half a second. */
export const USUAL_DIFFICULTY = 50_000
/** A large share may be a carrier's customers behind one address: they wait for seconds, and come in. */
export const MAX_FACTOR = 32
/** The half-life of a count. */
export const HALF_LIFE_MS = 60_000
/** Sales and networks remembered; those that ask are among the last used. */
const MAX_COUNTS = 50_000

/**
 * What the networks of an address may ask for at the usual price, the smallest first: so many challenges, or this share of
 * all, whichever is more. A household or a small office is below it, also while hardly anybody else has come.
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

  /** Counts a challenge for an address with these networks; returns how many times the usual price it costs. */
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
    // A clock that was put back must not make a count grow.
    const fadedBy = before ? 2 ** (-Math.max(0, nowMs - before.atMs) / HALF_LIFE_MS) : 0
    const value = (before?.value ?? 0) * fadedBy + 1
    this.#counts.set(key, { value, atMs: nowMs })
    return value
  }
}
