/** What pages show that is the same for all who come at one moment: made for the first, and kept for the others. */
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import type { Html } from '../html.ts'

export class Kept<T> {
  readonly #known: RecentMap<string, { readonly of: readonly unknown[]; readonly made: T }>

  /** Keeps `max` of them, those used last. */
  constructor(max: number) {
    this.#known = new RecentMap(max)
  }

  /** The one of this name, made anew when anything that it is made `of` is another object or value than it was. */
  get(name: string, of: readonly unknown[], make: () => T): T {
    const known = this.#known.get(name)
    if (known && known.of.length === of.length && known.of.every((one, i) => one === of[i])) return known.made
    const made = make()
    this.#known.set(name, { of, made })
    return made
  }
}

export const parts = new Kept<Html>(1_000)
