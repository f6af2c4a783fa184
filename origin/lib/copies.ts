/** Copies of what a process reads for many: for a while all who ask get the same one, and share its reading. */
import { RecentMap } from '../../shared/lib/recent-map.ts'

interface CopiesLimits {
  /** Copies in memory; those used longest ago are dropped. */
  readonly max: number
  /** How long a copy is given. */
  readonly freshMs: number
}

export class Copies<Copy> {
  readonly #freshMs: number
  readonly #known: RecentMap<string, { readonly copy: Promise<Copy>; readonly atMs: number }>

  constructor({ max, freshMs }: CopiesLimits) {
    this.#freshMs = freshMs
    this.#known = new RecentMap(max)
  }

  /** The copy of this key, read if there is none. Fails as `read` does, which is then called again by the next. */
  of(key: string, nowMs: number, read: () => Promise<Copy>): Promise<Copy> {
    const known = this.#known.get(key)
    if (known && Math.abs(nowMs - known.atMs) < this.#freshMs) return known.copy
    const copy = read()
    copy.catch(() => this.#known.delete(key))
    this.#known.set(key, { copy, atMs: nowMs })
    return copy
  }
}
