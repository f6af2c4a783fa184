/**
 * Parts of pages that are the same for all visitors at one moment. They are made for the first visitor and reused for
 * the others.
 */
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import type { Html } from '../html.ts'

export class Kept<T> {
  readonly #known: RecentMap<string, { readonly of: readonly unknown[]; readonly made: T }>

  /** Retains the `max` parts that were used last. */
  constructor(max: number) {
    this.#known = new RecentMap(max)
  }

  /** Returns the part of this name. It is made again if any value in `of` is another object or value than before. */
  get(name: string, of: readonly unknown[], make: () => T): T {
    const known = this.#known.get(name)
    if (known && known.of.length === of.length && known.of.every((one, i) => one === of[i])) return known.made
    const made = make()
    this.#known.set(name, { of, made })
    return made
  }
}

export const parts = new Kept<Html>(1_000)
