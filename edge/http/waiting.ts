/**
 * Waiting for the work of another request. No I/O is shared between requests, but a promise that one of them awaits
 * may be resolved by another one with plain data: the runtime resumes each in its own context (flag
 * `handle_cross_request_promise_resolution`, the default since 2024-10-14).
 */

/** The callers that wait for the same result, first come first served. */
export class Waiting<Outcome = void> {
  readonly #resolves = new Set<(outcome: Outcome) => void>()

  get size(): number {
    return this.#resolves.size
  }

  /** What another request resolves this wait with; `otherwise` after so long. */
  async wait(ms: number, otherwise: Outcome): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#resolves.add(resolve)
    // The platform ends a request that waits for nothing of its own, so it waits for this timer.
    const timer = setTimeout(() => {
      this.#resolves.delete(resolve)
      resolve(otherwise)
    }, ms)
    const outcome = await promise
    clearTimeout(timer)
    return outcome
  }

  /** Ends the wait of those who came first, for as long as `next` has an outcome. */
  resolveEach(next: () => Outcome | null): void {
    for (const resolve of this.#resolves) {
      const outcome = next()
      if (outcome === null) return
      this.#resolves.delete(resolve)
      resolve(outcome)
    }
  }

  resolveAll(outcome: Outcome): void {
    for (const resolve of this.#resolves) resolve(outcome)
    this.#resolves.clear()
  }
}

/** What one request does for all: the others wait for its end, at most for so long. */
export class SharedWork {
  readonly #waiting = new Waiting()
  readonly #atMostMs: number
  #untilMs: number

  constructor(atMostMs: number) {
    this.#atMostMs = atMostMs
    this.#untilMs = Date.now() + atMostMs
  }

  isUnderWay(): boolean {
    return isAhead(this.#untilMs, Date.now(), this.#atMostMs)
  }

  async wait(): Promise<void> {
    if (this.isUnderWay()) await this.#waiting.wait(this.#untilMs - Date.now())
  }

  end(): void {
    this.#untilMs = 0
    this.#waiting.resolveAll()
  }
}

/**
 * True before a moment that another request has set at most `atMostMs` ahead; a moment further ahead is from before the
 * clock was put back, and does not count.
 */
export function isAhead(untilMs: number, nowMs: number, atMostMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + atMostMs
}
