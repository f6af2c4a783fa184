/**
 * Tells whether the provider answers at all. One charge may get no answer by itself, for example if a bank never
 * responds. So after each such charge this reads its record, which an available provider can always return. If
 * several of these reads in a row get no answer, the provider is away.
 */

import { machine, type Runtime } from '../lib/runtime.ts'
import type { PaymentProvider, ProviderSeen } from '../providers/provider.ts'
import type { Calls } from './call-budget.ts'
import { addTime, bucketsOf, lately, type Timed } from './provider-times.ts'

/** The provider counts as away after this many reads in a row without an answer, because one may be lost. */
const AWAY_AFTER = 2
/** The time between two reads, because many charges may go unanswered at once. */
const READ_EVERY_MS = 1_000

interface WatchDeps {
  readonly provider: Pick<PaymentProvider, 'find'>
  readonly calls: Pick<Calls, 'take'>
  /** The ledger's time. */
  readonly nowMs: () => number
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

export class ProviderWatch {
  readonly #deps: WatchDeps
  #answeredAtMs: number | null = null
  #failedAtMs: number | null = null
  #failedReads = 0
  #times: readonly Timed[] = []
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: WatchDeps) {
    this.#deps = deps
  }

  /** A charge was answered after so many milliseconds. */
  answeredWithin(ms: number): void {
    const { runtime = machine } = this.#deps
    this.#times = addTime(this.#times, ms, runtime.monotonicMs())
    this.answered()
  }

  get isAway(): boolean {
    return this.#failedReads >= AWAY_AFTER
  }

  seen(): ProviderSeen {
    const { runtime = machine } = this.#deps
    this.#times = lately(this.#times, runtime.monotonicMs())
    return {
      answeredAtMs: this.#answeredAtMs,
      failedAtMs: this.#failedAtMs,
      isAway: this.isAway,
      times: bucketsOf(this.#times),
    }
  }

  answered(): void {
    this.#answeredAtMs = this.#deps.nowMs()
    this.#failedReads = 0
  }

  /** A read got no answer. */
  failed(): void {
    this.#failedAtMs = this.#deps.nowMs()
    this.#failedReads++
  }

  /** The pages of the provider's records, noting whether it answers. */
  async *watched<Page>(pages: AsyncIterable<Page>): AsyncIterable<Page> {
    try {
      for await (const page of pages) {
        this.answered()
        yield page
      }
      // The provider has answered even if nothing has changed.
      this.answered()
    } catch (error) {
      this.failed()
      throw error
    }
  }

  /** The charge of this order got no answer. */
  heardNothing(order: string): void {
    const { provider, calls, nowMs, runtime = machine } = this.#deps
    this.#failedAtMs = nowMs()
    if (runtime.monotonicMs() - this.#readAtMs < READ_EVERY_MS) return
    this.#readAtMs = runtime.monotonicMs()
    const read = async () => {
      if ((await calls.take('comparison', 1)) === 0) return
      await provider.find(order).then(
        () => this.answered(),
        () => this.failed(),
      )
    }
    // The read does not delay the attempt, because the lease of the job is short.
    void read().catch(() => {})
  }
}
