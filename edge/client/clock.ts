/**
 * The server's clock, as well as a page can know it. The visitor's own clock is never believed: it may be wrong, and be
 * changed in mid-sale. What is measured is time gone by (`performance.now()`), and what is added is what the server said.
 */

/** No message lies in caches for so long: one that seems to comes from a clock that was put back. */
const IN_CACHES_MS = 5_000

export class ServerClock {
  /** What to add to the time gone by. */
  #offsetMs = Number.NEGATIVE_INFINITY

  /** The server's time at a moment of this page's. */
  at(momentMs: number): number {
    return momentMs + this.#offsetMs
  }

  /**
   * Takes a reading: the server said `serverMs` in a message asked for at `askedAtMs` that arrived at `receivedAtMs`. On
   * the way it can only have grown old, by an unknown time (a slow network, a second in a cache): so the reading that is
   * furthest ahead is the best there was. The same rule puts the clock right after a sleep, in which the time gone by
   * stood still.
   */
  read(serverMs: number, askedAtMs: number, receivedAtMs: number): void {
    const offsetMs = serverMs - receivedAtMs
    const behindMs = this.#offsetMs - offsetMs
    if (behindMs < 0 || behindMs > receivedAtMs - askedAtMs + IN_CACHES_MS) this.#offsetMs = offsetMs
  }
}
