/** Limits the number of calls that one visitor has in progress, so that nobody displaces other visitors' calls. */
export class VisitorCalls {
  readonly #limit: number
  /** The number of calls in progress, by visitor. */
  readonly #inProgress = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Starts a call unless the visitor has too many; `leave` ends it. */
  enter(visitor: string): boolean {
    const calls = this.#inProgress.get(visitor) ?? 0
    if (calls >= this.#limit) return false
    this.#inProgress.set(visitor, calls + 1)
    return true
  }

  leave(visitor: string): void {
    const calls = this.#inProgress.get(visitor) ?? 0
    if (calls > 1) this.#inProgress.set(visitor, calls - 1)
    else this.#inProgress.delete(visitor)
  }
}
