/**
 * The server's clock, as well as a page can know it. The visitor's own clock may be wrong, and may be changed during the
 * sale: the page measures elapsed time (`performance.now()`), and adds what the server said.
 */

/** Longest time that a message stays in caches; one that seems older comes from a server clock that was put back. */
const IN_CACHES_MS = 5_000

export class ServerClock {
  /** What to add to `performance.now()`. */
  #offsetMs = Number.NEGATIVE_INFINITY

  /** The server's time at a `performance.now()`. */
  at(momentMs: number): number {
    return momentMs + this.#offsetMs
  }

  /**
   * Takes a reading: the server said `serverMs` in a response requested at `requestedAtMs` and received at `receivedAtMs`.
   * A reading can only be late, by an unknown time (a slow network, a second in a cache): so the one furthest ahead is the
   * best. The same rule corrects the clock after a sleep, in which elapsed time stood still.
   */
  read(serverMs: number, requestedAtMs: number, receivedAtMs: number): void {
    const offsetMs = serverMs - receivedAtMs
    const behindMs = this.#offsetMs - offsetMs
    if (behindMs < 0 || behindMs > receivedAtMs - requestedAtMs + IN_CACHES_MS) this.#offsetMs = offsetMs
  }
}
