/**
 * Background work on sales (or products), side by side, within a bound: one's trouble holds up no other. The sales
 * are shared among the workers that run: each has one worker, which all find by the same calculation, and those of a
 * worker that has gone fall to the others. Where two differ for a moment about who runs, a sale has both or, until
 * the next report, none: its work is repeated for ever.
 */
import { hashOf } from '../../shared/lib/hash.ts'

import { machine, type Runtime } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'

/**
 * Sales worked on at once in one round, and gates rebuilt at once in one process. A rebuild keeps one connection for
 * its lock and works with others of the same pool: with as many rebuilds as connections, all would wait for each
 * other forever.
 */
const CONCURRENCY = 3
/** A round waits this long for one sale. Slower work goes on beside it and is not started again meanwhile. */
const TIMEOUT_MS = 2_000

/** What the work is about: a sale, or one product of it. */
interface Subject {
  readonly sale_id: string
  readonly product_id?: string
}

/**
 * The worker that has the sale: of those that stay none changes when another comes or goes. Undefined without
 * workers. Pure.
 */
export function workerOf(saleId: string, workers: readonly string[]): string | undefined {
  let [found, most]: [string | undefined, number] = [undefined, -1]
  for (const worker of workers) {
    const weight = hashOf(worker, hashOf(saleId))
    if (weight > most || (weight === most && worker > (found ?? ''))) [found, most] = [worker, weight]
  }
  return found
}

export class SaleWork {
  readonly #timeoutMs: number
  readonly #runtime: Runtime
  readonly #inProgress = new Set<string>()
  #rebuilds = 0
  #isOwn: (saleId: string) => boolean = () => true

  constructor(timeoutMs = TIMEOUT_MS, runtime = machine) {
    this.#timeoutMs = timeoutMs
    this.#runtime = runtime
  }

  /**
   * Limits the work to this worker's sales among the running workers. Before the first call it works on all sales.
   */
  share(worker: string, running: readonly string[]): void {
    this.#isOwn = (saleId) => workerOf(saleId, running) === worker
  }

  /** Works on every subject of its own; throws at the end if any failed or timed out. */
  async each<S extends Subject>(
    actor: string,
    subjects: readonly S[],
    work: (subject: S) => Promise<unknown>,
    timeoutMs = this.#timeoutMs,
  ): Promise<void> {
    const failed: string[] = []
    const own = subjects.filter(({ sale_id }) => this.#isOwn(sale_id))
    const waiting = own.values()
    const workOnNext = async () => {
      for (const one of waiting) {
        const name = one.product_id === undefined ? one.sale_id : `${one.sale_id}:${one.product_id}`
        await this.#once(`${actor} ${name}`, () => work(one), timeoutMs).catch((error) =>
          failed.push(`${name}: ${error}`),
        )
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, workOnNext))
    if (failed.length > 0) throw new Error(`${failed.length} of ${own.length} failed; ${failed[0]}`)
  }

  async #once(name: string, work: () => Promise<unknown>, timeoutMs: number): Promise<void> {
    if (this.#inProgress.has(name)) throw new Error('still in progress')
    this.#inProgress.add(name)
    await withTimeout(
      work().finally(() => this.#inProgress.delete(name)),
      timeoutMs,
      this.#runtime,
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
