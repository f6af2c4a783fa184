/**
 * The purges that a change of a sale makes necessary. They are stored until they are done, so one that fails, or ends
 * with its object, is repeated.
 */

/**
 * When a sale's cached responses are purged: once the change is known in every isolate (USABLE_MS), and again when
 * one that heard of it late can no longer have responded by what was before.
 */
const PURGE_AFTER_MS = 500
const PURGE_AGAIN_MS = 15_000
/** A purge that failed all its tries is repeated this often. */
const PURGE_REPEAT_MS = 10_000

interface StoredPurges {
  /** When they are due, the soonest first. */
  readonly atMs: readonly number[]
  /** The number of failures in a row; 0 until the origin knows that the last one is over; null if there was none. */
  readonly failures: number | null
}

export class CachePurges {
  readonly #storage: DurableObjectStorage
  #stored: StoredPurges
  #isPurging = false

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#stored = storage.kv.get<StoredPurges>('purges') ?? { atMs: [], failures: null }
  }

  get failures(): number | null {
    return this.#stored.failures
  }

  /** Null while one is being made, or if none is to be made. */
  get nextAtMs(): number | null {
    return this.#isPurging ? null : (this.#stored.atMs[0] ?? null)
  }

  /** For a change that is in effect from this time. */
  add(fromMs: number): void {
    this.#store({ ...this.#stored, atMs: [fromMs + PURGE_AFTER_MS, fromMs + PURGE_AGAIN_MS] })
  }

  /** Makes the purge that is due. The result is false if there was none. */
  async makeDue(purge: () => Promise<boolean>): Promise<boolean> {
    const startedMs = Date.now()
    if ((this.nextAtMs ?? Number.POSITIVE_INFINITY) > startedMs) return false
    this.#isPurging = true
    const isDone = await purge()
    this.#isPurging = false
    const { atMs, failures } = this.#stored
    // What changed meanwhile has purges of its own.
    const later = atMs.filter((ms) => ms > startedMs)
    if (isDone) this.#store({ atMs: later, failures: failures === null ? null : 0 })
    else
      this.#store({
        atMs: [...later, Date.now() + PURGE_REPEAT_MS].sort((a, b) => a - b),
        failures: (failures ?? 0) + 1,
      })
    return true
  }

  /** The origin has heard of the failures. */
  reported(): void {
    if (this.#stored.failures === 0) this.#store({ ...this.#stored, failures: null })
  }

  #store(stored: StoredPurges): void {
    this.#stored = stored
    this.#storage.kv.put('purges', stored)
  }
}
