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
/** An order that aims disturbs calls at some points much more often: at those that matter, or one in so many of all. */
const AIMED = 0.35
const AIMS = 12
/** Half of these disturbances are of one kind, for which this draws, since some faults need the same one twice. */
const KINDS = 7

export interface Chances {
  /** How often time moves on while something else could go. */
  readonly waits?: number
  /** The points that matter most; left out: none is aimed at. */
  readonly aims?: readonly string[]
  /** True if no call is disturbed. */
  readonly isCalm?: boolean
}

/** Decides by chance, and records what it decided. */
export class SeededDecisions implements Decisions {
  readonly #random: () => number
  readonly #chance: () => number
  readonly #disturbed: number
  readonly #waits: number
  readonly #undisturbed: number
  /** The points that it aims at, by their names or their hash. */
  readonly #aims: readonly (string | number)[]
  readonly #kind: number
  readonly recorded: { readonly seed: number; readonly who: number[]; readonly fates: number[] }
  /** Set once all actors are through: from then on nothing is disturbed. */
  isCalm = false

  constructor(seed: number, { waits = WAITS, aims, isCalm = false }: Chances = {}) {
    this.#waits = waits
    this.#random = seededRandom(seed)
    this.#chance = seededRandom(seed ^ 0x5bd1e995)
    this.recorded = { seed, who: [], fates: [] }
    this.#disturbed = isCalm ? 0 : this.#oneOf(DISTURBED)
    this.#undisturbed = this.#oneOf(UNDISTURBED)
    const isAimed = aims !== undefined && !isCalm && this.#random() < 0.7
    const isNamed = aims !== undefined && aims.length > 0 && isAimed && this.#random() < 0.6
    this.#aims = isNamed ? [this.#oneOf(aims), this.#oneOf(aims)] : isAimed ? [Math.floor(this.#random() * AIMS)] : []
    this.#kind = isAimed ? Math.floor(this.#random() * KINDS) : 0
  }

  #oneOf<One>(list: readonly One[]): One {
    return list[Math.floor(this.#random() * list.length)] as One
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
    const isAimed = this.#aims.includes(point) || this.#aims.includes(hashOf(point) % AIMS)
    const kind = () =>
      isAimed && this.#random() < 0.5 ? this.#kind % (count - 1) : Math.floor(this.#random() * (count - 1))
    const chosen = this.#random() < (isAimed ? AIMED : this.#disturbed) ? 1 + kind() : 0
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
