/**
 * Timers for a crowd: one per visitor at most, half a million of them in two arrays. A hashed timer wheel: setting one
 * and firing one cost the same however many there are.
 */
/** A timer is late by this at most, which counts towards the latency of what it begins. */
const SLOT_MS = 1
/** One turn of the wheel is half a minute; who waits longer goes round again. */
const SLOTS = 32_768
const NOBODY = -1
/** Due times are kept per visitor; this one means that none is set. */
const UNSET = 0

export class Wheel {
  readonly #first = new Int32Array(SLOTS).fill(NOBODY)
  readonly #next: Int32Array
  readonly #dueMs: Float64Array
  readonly #due: (id: number, dueMs: number) => void
  #tick: number
  #set = 0

  /** `due` is called for each timer that has come, with the moment it was meant for. */
  constructor(size: number, nowMs: number, due: (id: number, dueMs: number) => void) {
    this.#next = new Int32Array(size).fill(NOBODY)
    this.#dueMs = new Float64Array(size)
    this.#due = due
    this.#tick = Math.floor(nowMs / SLOT_MS)
  }

  /** How many timers are set. */
  get set(): number {
    return this.#set
  }

  /** Sets the one timer of `id`. A moment that has passed is due at the next run. */
  at(id: number, dueMs: number): void {
    if (this.#dueMs[id] !== UNSET) throw new Error(`${id} has a timer already`)
    this.#dueMs[id] = dueMs
    this.#set++
    this.#insert(id, dueMs)
  }

  #insert(id: number, dueMs: number): void {
    const slot = Math.max(Math.ceil(dueMs / SLOT_MS), this.#tick + 1) % SLOTS
    this.#next[id] = this.#first[slot] ?? NOBODY
    this.#first[slot] = id
  }

  /** Fires all that are due by now. */
  run(nowMs: number): void {
    const until = Math.floor(nowMs / SLOT_MS)
    // Once round is enough, however long ago the last run was.
    this.#tick = Math.max(this.#tick, until - SLOTS)
    while (this.#tick < until) {
      this.#tick++
      const slot = this.#tick % SLOTS
      let id = this.#first[slot] ?? NOBODY
      this.#first[slot] = NOBODY
      while (id !== NOBODY) {
        const next = this.#next[id] ?? NOBODY
        const dueMs = this.#dueMs[id] ?? UNSET
        if (dueMs > nowMs) this.#insert(id, dueMs)
        else {
          this.#dueMs[id] = UNSET
          this.#set--
          this.#due(id, dueMs)
        }
        id = next
      }
    }
  }
}
