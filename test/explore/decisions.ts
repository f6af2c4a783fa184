/**
 * The decisions of one order of events: who goes next, and what becomes of a call. They come from a seed, or from a
 * list that was recorded. Nought always means "undisturbed", so that a list is simpler the more noughts it has, and
 * what is past its end is nought.
 */

import { hashOf } from '../../shared/lib/hash.ts'
import { seededRandom } from '../../shared/lib/random.ts'

/** One decision about who goes, and one about a fate for each step; both in the order in which they were asked. */
export interface Recorded {
  readonly seed: number
  readonly who: readonly number[]
  readonly fates: readonly number[]
}

export interface Decisions {
  /** Set once nothing is to be disturbed any more. */
  isCalm: boolean
  /** Which of so many goes; `count` itself: time moves on, where `mayWait`. */
  who(count: number, mayWait: boolean): number
  /** Which of so many fates of a call at this point. */
  fate(count: number, point: string): number
  /** Chance inside the processes, which is never part of a recorded list. */
  random(): number
}

/** How many calls of a hundred are disturbed, one of these for each order: some orders only change who goes. */
const DISTURBED = [0, 0.01, 0.02, 0.04, 0.08]
/** How often the item goes that the undisturbed order would have go; one of these for each order. */
const UNDISTURBED = [0.3, 0.5, 0.7, 0.85]
/** How often time moves on while something else could go, unless the order says otherwise. */
const WAITS = 0.01
/** An order that aims disturbs calls at some points much more often, one in so many of all points. */
const AIMED = 0.3
const AIMS = 12

/** Decides by chance, and records what it decided. */
export class SeededDecisions implements Decisions {
  readonly #random: () => number
  readonly #chance: () => number
  readonly #disturbed: number
  readonly #waits: number
  readonly #undisturbed: number
  /** The points that it aims at, by their hash; none of them: -1. */
  readonly #aim: number
  readonly recorded: { readonly seed: number; readonly who: number[]; readonly fates: number[] }
  /** Set once all actors are through: from then on nothing is disturbed. */
  isCalm = false

  constructor(seed: number, waits = WAITS, aims = false) {
    this.#waits = waits
    this.#random = seededRandom(seed)
    this.#chance = seededRandom(seed ^ 0x5bd1e995)
    this.recorded = { seed, who: [], fates: [] }
    this.#disturbed = this.#oneOf(DISTURBED)
    this.#undisturbed = this.#oneOf(UNDISTURBED)
    this.#aim = aims && this.#random() < 0.7 ? Math.floor(this.#random() * AIMS) : -1
  }

  #oneOf(list: readonly number[]): number {
    return list[Math.floor(this.#random() * list.length)] ?? 0
  }

  who(count: number, mayWait: boolean): number {
    if (this.isCalm) return 0
    const draw = () => {
      if (mayWait && this.#random() < this.#waits) return count
      return this.#random() < this.#undisturbed ? 0 : Math.floor(this.#random() * count)
    }
    const chosen = draw()
    this.recorded.who.push(chosen)
    return chosen
  }

  fate(count: number, point: string): number {
    if (this.isCalm) return 0
    const rate = hashOf(point) % AIMS === this.#aim ? AIMED : this.#disturbed
    const chosen = this.#random() < rate ? 1 + Math.floor(this.#random() * (count - 1)) : 0
    this.recorded.fates.push(chosen)
    return chosen
  }

  random(): number {
    return this.#chance()
  }
}

/** Decides as recorded. Decisions that are no longer possible become the nearest that is. */
export class ReplayedDecisions implements Decisions {
  readonly recorded: Recorded
  readonly #chance: () => number
  #who = 0
  #fates = 0
  isCalm = false

  constructor(recorded: Recorded) {
    this.recorded = recorded
    this.#chance = seededRandom(recorded.seed ^ 0x5bd1e995)
  }

  who(count: number, mayWait: boolean): number {
    if (this.isCalm) return 0
    return Math.min(this.recorded.who[this.#who++] ?? 0, mayWait ? count : count - 1)
  }

  fate(count: number): number {
    if (this.isCalm) return 0
    return Math.min(this.recorded.fates[this.#fates++] ?? 0, count - 1)
  }

  random(): number {
    return this.#chance()
  }
}
