/**
 * Measures how long this system's own work takes for the buyers of each sale: checkouts, payments and orders. The
 * result is the figure of answer-samples.ts at the slowest origin, and the edge calls fewer people when it grows.
 * Every origin writes its own figure to Redis. While Redis is away, an origin knows only its own.
 */
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from '../stock/scripts.ts'
import { AnswerSamples, MIN_SAMPLES, robustOf } from './answer-samples.ts'

const NOTE_EVERY_MS = 500
/** The slowest figure of a sale stays for this time, unless a slower one is written. */
const HOLDS_MS = 1_000
const REDIS_TIMEOUT_MS = 300
/** The edge reports about once a second. A report holds long enough that a late next one leaves no gap. */
const REPORT_HOLDS_MS = 2_500

interface ResponseTimesDeps extends LoopDeps {
  readonly redis: Pick<Store, 'noteSlowest' | 'get'>
}

export class ResponseTimes {
  readonly #redis: ResponseTimesDeps['redis']
  readonly #samples = new Map<string, AnswerSamples>()
  /** The last figures of this process by sale. */
  #own: ReadonlyMap<string, number> = new Map()
  readonly actor: Actor

  constructor(deps: ResponseTimesDeps) {
    this.#redis = deps.redis
    this.actor = loop('response times', NOTE_EVERY_MS, deps, () => this.#note())
  }

  /**
   * Records that a visitor's call of a sale has been served or has failed by our fault. `beganMs` is its start by
   * `performance.now()`.
   */
  answered(saleId: string, visitor: string, beganMs: number): void {
    const samples = this.#samples.get(saleId) ?? new AnswerSamples()
    this.#samples.set(saleId, samples)
    const nowMs = performance.now()
    samples.add(visitor, nowMs - beganMs, nowMs)
  }

  /**
   * Writes the response times of a protected site that the edge has seen since its last report. A few slow responses
   * are not congestion.
   */
  async reported(saleId: string, times: readonly number[]): Promise<void> {
    if (times.length < MIN_SAMPLES) return
    const ms = Math.ceil(robustOf(times))
    await withTimeout(this.#redis.noteSlowest(keyOf(saleId), ms, REPORT_HOLDS_MS), REDIS_TIMEOUT_MS)
  }

  /** Returns the figure in milliseconds, 0 if nobody has called. */
  async of(saleId: string): Promise<number> {
    const own = this.#own.get(saleId) ?? 0
    const noted = await withTimeout(this.#redis.get(keyOf(saleId)), REDIS_TIMEOUT_MS).catch(() => null)
    return Math.max(own, Number(noted))
  }

  async #note(): Promise<void> {
    const nowMs = performance.now()
    const own = new Map<string, number>()
    for (const [saleId, samples] of this.#samples) {
      const noted = samples.note(nowMs)
      if (noted !== null) own.set(saleId, Math.ceil(noted))
      if (samples.isEmpty()) this.#samples.delete(saleId)
    }
    this.#own = own
    await Promise.all(
      [...own].map(([saleId, ms]) =>
        withTimeout(this.#redis.noteSlowest(keyOf(saleId), ms, HOLDS_MS), REDIS_TIMEOUT_MS),
      ),
    )
  }
}

const keyOf = (saleId: string) => `{${saleId}}:slowest`
