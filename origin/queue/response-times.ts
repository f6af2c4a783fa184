/**
 * How long buyers' calls of each sale take, checkouts, payments and orders: a high quantile at the slowest origin. The edge
 * calls fewer people where it grows. Every origin notes its own in Redis; while that is away, it knows itself alone.
 */
import type { Context } from 'hono'
import { EDGE_WAITED_HEADER } from '../../shared/api/internal.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { headerOf } from '../lib/request.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from '../stock/scripts.ts'

const NOTE_EVERY_MS = 500
/** The slowest note of a sale holds for so long, unless a slower one comes. */
const HOLDS_MS = 1_000
const QUANTILE = 0.95
/** Calls of a sale between two notes that count, at most .. */
const MAX_CALLS = 5_000
/** .. and at least: fewer wait for those until the next note, since one slow call is no congestion. */
const MIN_CALLS = 5
const REDIS_TIMEOUT_MS = 300
const MAX_WAITED_MS = 60_000

interface ResponseTimesDeps extends LoopDeps {
  readonly redis: Pick<Store, 'noteSlowest' | 'get'>
}

export class ResponseTimes {
  readonly #redis: ResponseTimesDeps['redis']
  #calls = new Map<string, number[]>()
  /** Sales whose few calls have waited for a second note. */
  #waited: ReadonlySet<string> = new Set()
  /** This process's last notes. */
  #own: ReadonlyMap<string, number> = new Map()
  readonly actor: Actor

  constructor(deps: ResponseTimesDeps) {
    this.#redis = deps.redis
    this.actor = loop('response times', NOTE_EVERY_MS, deps, () => this.#note())
  }

  /** A call of a sale that began then, by `performance.now()` less what it waited in the Worker, has its answer. */
  answered(saleId: string, beganMs: number): void {
    const calls = this.#calls.get(saleId) ?? []
    if (calls.length === 0) this.#calls.set(saleId, calls)
    if (calls.length < MAX_CALLS) calls.push(performance.now() - beganMs)
  }

  /** Milliseconds, 0 where nobody called. */
  async of(saleId: string): Promise<number> {
    const own = this.#own.get(saleId) ?? 0
    const noted = await withTimeout(this.#redis.get(keyOf(saleId)), REDIS_TIMEOUT_MS).catch(() => null)
    return Math.max(own, Number(noted))
  }

  async #note(): Promise<void> {
    const calls = [...this.#calls]
    const few = calls.filter(([saleId, times]) => times.length < MIN_CALLS && !this.#waited.has(saleId))
    this.#calls = new Map(few)
    this.#waited = new Set(this.#calls.keys())
    const enough = calls.filter(([, times]) => times.length >= MIN_CALLS)
    this.#own = new Map(enough.map(([saleId, times]) => [saleId, Math.ceil(highOf(times))]))
    await Promise.all(
      [...this.#own].map(([saleId, ms]) =>
        withTimeout(this.#redis.noteSlowest(keyOf(saleId), ms, HOLDS_MS), REDIS_TIMEOUT_MS),
      ),
    )
  }
}

/** How long a buyer's call was in the Worker before it came here, by what the edge says: 0 where it says nothing. */
export const waitedMs = (c: Context): number =>
  Math.min(MAX_WAITED_MS, Math.max(0, Number(headerOf(c, EDGE_WAITED_HEADER)) || 0))

const keyOf = (saleId: string) => `{${saleId}}:slowest`

/** Of few calls a lower one. */
export const highOf = (times: readonly number[]) =>
  [...times].sort((a, b) => a - b)[Math.floor(QUANTILE * (times.length - 1))] ?? 0
