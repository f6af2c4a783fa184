/**
 * Copies of what the origin tells everyone, in this isolate: one request loads each, and those that come meanwhile
 * wait for it. After a failure nobody tries for a moment: an origin in trouble must not meet a crowd.
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { ProblemError } from '../../shared/problem.ts'
import { refuse } from './call.ts'
import { isAhead, SharedWork } from './waiting.ts'

/** After a failure. */
const PAUSE_MS = 1_000
/** While the origin is away, a copy is sent for this long: longer than a restart or a failover takes. */
const OLD_FOR_MS = 3_600_000

interface CopiesLimits {
  /** Copies in memory; those used longest ago are dropped. */
  readonly max: number
  /** How long an isolate sends the same copy. */
  readonly freshMs: number
  /** How long a request waits for another that loads it. */
  readonly waitMs: number
}

/** A copy that may be old. `oldSinceMs` is when it was loaded, if it could not be loaded again; null if it is fresh. */
export interface AgedCopy<Copy> {
  readonly copy: Copy
  readonly oldSinceMs: number | null
}

export class Copies<Copy> {
  readonly #limits: CopiesLimits
  readonly #copies: RecentMap<string, { readonly copy: Copy; readonly atMs: number }>
  readonly #loading: RecentMap<string, SharedWork>
  /** Until when nobody loads it. */
  readonly #failed: RecentMap<string, number>

  constructor(limits: CopiesLimits) {
    this.#limits = limits
    this.#copies = new RecentMap(limits.max)
    this.#loading = new RecentMap(limits.max)
    this.#failed = new RecentMap(limits.max)
  }

  /** A fresh copy, where there is one. */
  known(key: string): Copy | undefined {
    return this.#fresh(key, Date.now())?.copy
  }

  /**
   * The copy of a key, loaded by `load` unless there is a fresh one. Throws as `load` does, and `try-again` after a
   * failure.
   */
  async of(key: string, load: () => Promise<Copy>): Promise<Copy> {
    const { waitMs } = this.#limits
    const other = this.#loading.get(key)
    // Awaits nothing otherwise: those who come at once must find the one that loads.
    if (other?.isUnderWay()) await other.wait()
    const nowMs = Date.now()
    const found = this.#fresh(key, nowMs)
    if (found) return found.copy
    if (isAhead(this.#failed.get(key) ?? 0, nowMs, PAUSE_MS)) refuse('try-again', { retry_after_seconds: 2 })
    const loading = new SharedWork(waitMs)
    this.#loading.set(key, loading)
    try {
      const copy = await load()
      this.#copies.set(key, { copy, atMs: Date.now() })
      return copy
    } catch (error) {
      this.#failed.set(key, Date.now() + PAUSE_MS)
      throw error
    } finally {
      this.#loading.delete(key)
      loading.end()
    }
  }

  /** The same, and the last copy while the origin is away. Throws as `of` does if there is none. */
  async freshOrOld(key: string, load: () => Promise<Copy>): Promise<AgedCopy<Copy>> {
    try {
      return { copy: await this.of(key, load), oldSinceMs: null }
    } catch (error) {
      const known = this.#copies.get(key)
      const isAway = error instanceof ProblemError && error.problem.status >= 500
      if (!isAway || !known || Date.now() - known.atMs > OLD_FOR_MS) throw error
      return { copy: known.copy, oldSinceMs: known.atMs }
    }
  }

  #fresh(key: string, atMs: number) {
    const { freshMs } = this.#limits
    const known = this.#copies.get(key)
    return known && isAhead(known.atMs + freshMs, atMs, freshMs) ? known : undefined
  }
}
