/** Timers for a crowd, one per visitor: a hashed timer wheel in two arrays, so that each costs the same however many. */

/** A timer is late by this at most, which counts towards the latency of what it starts. */
const SLOT_MS = 1
/** One turn of the wheel is half a minute; a later timer goes round again. */
const SLOTS = 32_768
const NOBODY = -1
const UNSET = 0

export class Wheel {
  readonly #first = new Int32Array(SLOTS).fill(NOBODY)
  readonly #next: Int32Array
  readonly #dueMs: Float64Array
  readonly #due: (id: number, dueMs: number) => void
  #tick: number

  /** `due` is called for each timer, with the moment it was set for. */
  constructor(size: number, nowMs: number, due: (id: number, dueMs: number) => void) {
    this.#next = new Int32Array(size).fill(NOBODY)
    this.#dueMs = new Float64Array(size)
    this.#due = due
    this.#tick = Math.floor(nowMs / SLOT_MS)
  }

  /** Sets the one timer of `id`; a past moment is due at the next run. */
  at(id: number, dueMs: number): void {
    if (this.#dueMs[id] !== UNSET) throw new Error(`${id} has a timer already`)
    this.#dueMs[id] = dueMs
    this.#insert(id, dueMs)
  }

  #insert(id: number, dueMs: number): void {
    const slot = Math.max(Math.ceil(dueMs / SLOT_MS), this.#tick + 1) % SLOTS
    this.#next[id] = this.#first[slot] ?? NOBODY
    this.#first[slot] = id
  }

  /** Fires all timers that are due. */
  run(nowMs: number): void {
    const until = Math.floor(nowMs / SLOT_MS)
    // Once round is enough, however long ago the last run was.
    this.#tick = Math.max(this.#tick, until - SLOTS)
    while (this.#tick < until) {
      const slot = ++this.#tick % SLOTS
      let id = this.#first[slot] ?? NOBODY
      this.#first[slot] = NOBODY
      while (id !== NOBODY) {
        const next = this.#next[id] ?? NOBODY
        const dueMs = this.#dueMs[id] ?? UNSET
        if (dueMs > nowMs) this.#insert(id, dueMs)
        else {
          this.#dueMs[id] = UNSET
          this.#due(id, dueMs)
        }
        id = next
      }
    }
  }
}
