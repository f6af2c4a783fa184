/** Background work on every sale (or product) of one process, side by side, within a bound: one's trouble holds up no other. */

import { withTimeout } from '../lib/with-timeout.ts'

/**
 * Sales worked on at once in one round, and gates rebuilt at once in one process. A rebuild keeps one connection for its
 * lock and works with others of the same pool: with as many rebuilds as connections, all would wait for each other forever.
 */
const CONCURRENCY = 3
/** A round waits this long for one sale. Slower work goes on beside it and is not started again meanwhile. */
const TIMEOUT_MS = 2_000

/** What the work is about: a sale, or one product of it. */
interface Subject {
  readonly sale_id: string
  readonly product_id?: string
}

export class SaleWork {
  readonly #timeoutMs: number
  readonly #inProgress = new Set<string>()
  #rebuilds = 0

  constructor(timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs
  }

  /** Works on every subject; throws at the end if any failed or timed out. */
  async each<S extends Subject>(
    actor: string,
    subjects: readonly S[],
    work: (subject: S) => Promise<unknown>,
    timeoutMs = this.#timeoutMs,
  ): Promise<void> {
    const failed: string[] = []
    const waiting = subjects.values()
    const workOnNext = async () => {
      for (const one of waiting) {
        const name = one.product_id === undefined ? one.sale_id : `${one.sale_id}:${one.product_id}`
        await this.#once(`${actor} ${name}`, () => work(one), timeoutMs).catch((error) =>
          failed.push(`${name}: ${error}`),
        )
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, workOnNext))
    if (failed.length > 0) throw new Error(`${failed.length} of ${subjects.length} failed; ${failed[0]}`)
  }

  async #once(name: string, work: () => Promise<unknown>, timeoutMs: number): Promise<void> {
    if (this.#inProgress.has(name)) throw new Error('still in progress')
    this.#inProgress.add(name)
    await withTimeout(
      work().finally(() => this.#inProgress.delete(name)),
      timeoutMs,
    )
  }

  /** Rebuilds a gate, if there is room for another rebuild. */
  async rebuild<Done>(work: () => Promise<Done>): Promise<Done | 'busy'> {
    if (this.#rebuilds >= CONCURRENCY) return 'busy'
    this.#rebuilds++
    try {
      return await work()
    } finally {
      this.#rebuilds--
    }
  }
}
