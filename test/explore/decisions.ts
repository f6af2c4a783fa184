/**
 * The decisions of one order of events: who goes next, and what becomes of a call. They come from a seed, or from a
 * list that was recorded. What is past the end of a list is undisturbed, so a shorter list is a simpler order.
 */

import { hashOf } from '../../shared/lib/hash.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import type { Fate } from './scheduler.ts'

/** A choice names who went, and what became of it: nought is the undisturbed fate. */
export interface Choice {
  /** Null: whoever would go in the undisturbed order. */
  readonly who: string | null
  readonly fate: number
  readonly isDisturbed: boolean
}

/** The decisions of an order, in the order in which they were asked. */
export interface Recorded {
  readonly seed: number
  readonly choices: readonly Choice[]
}

/** The choice of moving time on. */
const TIME = 'time'

export abstract class Decisions {
  /** Set once nothing is to be disturbed any more. */
  isCalm = false
  readonly seed: number
  readonly #chance: () => number
  /** What was decided. */
  readonly #made: Choice[] = []

  constructor(seed: number) {
    this.seed = seed
    this.#chance = seededRandom(seed ^ 0x5bd1e995)
  }

  get recorded(): Recorded {
    return { seed: this.seed, choices: [...this.#made] }
  }

  protected abstract choose(keys: readonly string[], mayWait: boolean): number
  protected abstract chooseFate(fates: readonly Fate[], point: string): number

  /** Which of these goes; their number: time moves on, where `mayWait`. */
  who(names: readonly string[], mayWait: boolean): number {
    if (this.isCalm) return 0
    const keys = numbered(names)
    const chosen = this.choose(keys, mayWait)
    this.#made.push({ who: keys[chosen] ?? TIME, fate: 0, isDisturbed: chosen > 0 })
    return chosen
  }

  /** Which of these fates of the call that was chosen, at this point. */
  fate(fates: readonly Fate[], point: string): number {
    if (this.isCalm) return 0
    const fate = this.chooseFate(fates, point)
    const choice = this.#made.pop()
    if (choice) this.#made.push({ ...choice, fate, isDisturbed: choice.isDisturbed || fate > 0 })
    return fate
  }

  /** Chance inside the processes, which is never part of a recorded list. */
  random(): number {
    return this.#chance()
  }
}

/** Tells those of the same name apart. */
function numbered(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before === 0 ? name : `${name} #${before + 1}`
  })
}

/** How many calls of a hundred are disturbed, one of these for each order: some orders only change who goes. */
const DISTURBED = [0, 0.01, 0.02, 0.04, 0.08]
/** How often the item goes that the undisturbed order would have go; one of these for each order. */
const UNDISTURBED = [0.3, 0.5, 0.7, 0.85]
/** The same of an order that tells a story, whose end needs what comes before it. */
const MOST_UNDISTURBED = [0.85, 0.95, 0.99]
/** How often time moves on while something else could go, unless the order says otherwise. */
const WAITS = 0.01
/** An order that aims disturbs calls at some points much more often: at those that matter, or one in so many of all. */
const AIMED = 0.35
const AIMS = 12
/** What matters at a point comes so often. */
const FAULTY = 0.5
/** The fate of a call that only comes later than others, in the lists of those that may. */
const HELD = 1
/** Half of these disturbances are of one kind, for which this draws, since some faults need the same one twice. */
const KINDS = 10

export interface Chances {
  /** How often time moves on while something else could go. */
  readonly waits?: number
  /** The points that matter most; left out: none is aimed at. */
  readonly aims?: readonly string[]
  /** What matters at some points: there it comes most often. */
  readonly faults?: Readonly<Record<string, Fate>>
  /** True if most steps go in the undisturbed order. */
  readonly isOrdered?: boolean
  /** True if no call fails: some are only held. */
  readonly isCalm?: boolean
}

/** Decides by chance, and records what it decided. */
export class SeededDecisions extends Decisions {
  readonly #random: () => number
  readonly #disturbed: number
  readonly #waits: number
  readonly #undisturbed: number
  /** The points that it aims at, by their names or their hash. */
  readonly #aims: readonly (string | number)[]
  readonly #kind: number
  readonly #faults: Readonly<Record<string, Fate>>
  readonly #isCalm: boolean

  constructor(seed: number, { waits = WAITS, aims, faults = {}, isOrdered = false, isCalm = false }: Chances = {}) {
    super(seed)
    this.#waits = waits
    this.#random = seededRandom(seed)
    this.#isCalm = isCalm
    this.#faults = faults
    this.#disturbed = this.#oneOf(DISTURBED)
    this.#undisturbed = this.#oneOf(isOrdered ? MOST_UNDISTURBED : UNDISTURBED)
    const isAimed = aims !== undefined && this.#random() < 0.7
    const isNamed = aims !== undefined && aims.length > 0 && isAimed && this.#random() < 0.6
    this.#aims = isNamed ? [this.#oneOf(aims), this.#oneOf(aims)] : isAimed ? [Math.floor(this.#random() * AIMS)] : []
    this.#kind = isAimed ? Math.floor(this.#random() * KINDS) : 0
  }

  #oneOf<One>(list: readonly One[]): One {
    return list[Math.floor(this.#random() * list.length)] as One
  }

  protected choose({ length }: readonly string[], mayWait: boolean): number {
    if (mayWait && this.#random() < this.#waits) return length
    return this.#random() < this.#undisturbed ? 0 : Math.floor(this.#random() * length)
  }

  protected chooseFate(fates: readonly Fate[], point: string): number {
    const count = fates.length
    const fault = this.#faults[point]
    if (fault !== undefined && fates.includes(fault) && this.#random() < FAULTY) return fates.indexOf(fault)
    const isAimed = this.#aims.includes(point) || this.#aims.includes(hashOf(point) % AIMS)
    if (this.#random() >= (isAimed ? AIMED : this.#disturbed)) return 0
    if (this.#isCalm) return HELD
    return 1 + (isAimed && this.#random() < 0.5 ? this.#kind % (count - 1) : Math.floor(this.#random() * (count - 1)))
  }
}

/** The nearest choices that are looked at where the next one of a list cannot be made. */
const AHEAD = 20

/** Decides as recorded. What cannot be chosen any more is left out; what is past the end is undisturbed. */
export class ReplayedDecisions extends Decisions {
  readonly #choices: readonly Choice[]
  #next = 0
  #fate = 0

  constructor({ seed, choices }: Recorded) {
    super(seed)
    this.#choices = choices
  }

  protected choose(keys: readonly string[], mayWait: boolean): number {
    this.#fate = 0
    for (const [i, { who, fate }] of this.#choices.slice(this.#next, this.#next + AHEAD).entries()) {
      const chosen = who === null ? 0 : who === TIME ? (mayWait ? keys.length : -1) : keys.indexOf(who)
      if (chosen < 0) continue
      this.#next += i + 1
      this.#fate = fate
      return chosen
    }
    return 0
  }

  protected chooseFate({ length }: readonly Fate[]): number {
    return Math.min(this.#fate, length - 1)
  }
}
