/**
 * Timers for a crowd, one per visitor. There is a list of visitors for each millisecond, so a timer costs the same
 * for any number of visitors.
 */

const UNSET = 0

export class Wheel {
  /** The visitors whose timers are due in a millisecond. */
  readonly #slots = new Map<number, number[]>()
  readonly #dueMs: Float64Array
  readonly #due: (id: number, dueMs: number) => void
  #tick: number

  /** `due` is called for each timer with the time for which it was set, at most a millisecond late. */
  constructor(size: number, nowMs: number, due: (id: number, dueMs: number) => void) {
    this.#dueMs = new Float64Array(size)
    this.#due = due
    this.#tick = Math.floor(nowMs)
  }

  /** Sets the only timer of `id`; a past moment is due at the next run. */
  at(id: number, dueMs: number): void {
    if (this.#dueMs[id] !== UNSET) throw new Error(`${id} has a timer already`)
    this.#dueMs[id] = dueMs
    const slot = Math.max(Math.ceil(dueMs), this.#tick + 1)
    const ids = this.#slots.get(slot)
    if (ids) ids.push(id)
    else this.#slots.set(slot, [id])
  }

  /** Fires all timers that are due. */
  run(nowMs: number): void {
    const until = Math.floor(nowMs)
    while (this.#tick < until) {
      const ids = this.#slots.get(++this.#tick) ?? []
      this.#slots.delete(this.#tick)
      for (const id of ids) {
        const dueMs = this.#dueMs[id] ?? UNSET
        this.#dueMs[id] = UNSET
        this.#due(id, dueMs)
      }
    }
  }
}
