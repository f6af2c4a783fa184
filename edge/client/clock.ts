/**
 * Estimates the server's clock. The visitor's own clock may be wrong and may be changed during the sale, so the page
 * measures elapsed time (`performance.now()`) and adds the server's time.
 */

/** A message stays in caches for at most this long. If one seems older, the server's clock was put back. */
const IN_CACHES_MS = 5_000

export class ServerClock {
  /** The offset that is added to `performance.now()`. */
  #offsetMs = Number.NEGATIVE_INFINITY

  /** Returns the server's time at a value of `performance.now()`. */
  at(momentMs: number): number {
    return momentMs + this.#offsetMs
  }

  /**
   * Takes a reading: the server sent `serverMs` in a response that was requested at `requestedAtMs` and received at
   * `receivedAtMs`. A reading can only be late, by an unknown time (a slow network, a second in a cache), so the one
   * furthest ahead is the best. The same rule corrects the clock after the machine slept, because elapsed time stands
   * still meanwhile.
   */
  read(serverMs: number, requestedAtMs: number, receivedAtMs: number): void {
    const offsetMs = serverMs - receivedAtMs
    const behindMs = this.#offsetMs - offsetMs
    if (behindMs < 0 || behindMs > receivedAtMs - requestedAtMs + IN_CACHES_MS) this.#offsetMs = offsetMs
  }
}
