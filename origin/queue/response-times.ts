/**
 * How long our own work for buyers of each sale takes, checkouts, payments and orders: what answer-samples.ts makes
 * of it, at the slowest origin. The edge calls fewer people where it grows. Every origin notes its own in Redis;
 * while that is away, it knows itself alone.
 */
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from '../stock/scripts.ts'
import { AnswerSamples, MIN_SAMPLES, robustOf } from './answer-samples.ts'

const NOTE_EVERY_MS = 500
/** The slowest note of a sale holds for so long, unless a slower one comes. */
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
  /** This process's last notes. */
  #own: ReadonlyMap<string, number> = new Map()
  readonly actor: Actor

  constructor(deps: ResponseTimesDeps) {
    this.#redis = deps.redis
    this.actor = loop('response times', NOTE_EVERY_MS, deps, () => this.#note())
  }

  /**
   * A visitor's call of a sale, which began then by `performance.now()`, has been served or has failed by our fault.
   */
  answered(saleId: string, visitor: string, beganMs: number): void {
    const samples = this.#samples.get(saleId) ?? new AnswerSamples()
    this.#samples.set(saleId, samples)
    const nowMs = performance.now()
    samples.add(visitor, nowMs - beganMs, nowMs)
  }

  /**
   * Notes the answers of a protected site that the edge has seen since its last report. A few slow ones are no
   * congestion.
   */
  async reported(saleId: string, times: readonly number[]): Promise<void> {
    if (times.length < MIN_SAMPLES) return
    const ms = Math.ceil(robustOf(times))
    await withTimeout(this.#redis.noteSlowest(keyOf(saleId), ms, REPORT_HOLDS_MS), REDIS_TIMEOUT_MS)
  }

  /** Milliseconds, 0 where nobody called. */
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
