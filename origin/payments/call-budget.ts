/**
 * The calls that the provider takes a second (PAYMENTS_PER_SECOND), shared by all workers in Redis (take-calls.lua).
 * A worker takes the calls of many jobs at once before it takes the jobs; those it gets no calls for stay pending.
 * Charges come first, then captures, refunds, and reads. Without Redis each worker makes a share of the rate by
 * itself.
 */

import type { Metrics } from '../base/metrics.ts'
import { countDue } from '../jobs/job-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { type TokenBucket, takeTokens } from '../lib/token-bucket.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from '../stock/scripts.ts'

/** What calls are for, the first first, and the most requests to the provider that one takes. */
const CALLS = { charge: 1, capture: 1, refund: 3, abandoned: 3, comparison: 1 } as const
type Kind = keyof typeof CALLS
const RANKS = Object.keys(CALLS)
type Queue = 'charge' | 'capture' | 'refund'

/**
 * Calls that were unused for this time may be made at once. It is longer than the time between two rounds of the
 * jobs.
 */
const BURST_SECONDS = 0.5
/** The number of workers is unknown while Redis is away. Up to this many workers keep the rate. */
const WORKERS_ALONE = 4
const REDIS_TIMEOUT_MS = 300
/** Charges are counted up to here: more are as many, for who steers the lines. */
const COUNTED = 100_000
/** Workers count the charges that wait each second, and more often while there are any. */
const WAITING_HOLDS_MS = 3_000

/** The most tokens of a bucket. */
const burstOf = (perSecond: number) => Math.max(1, BURST_SECONDS * perSecond)

interface BudgetDeps {
  readonly perSecond: number
  /** The name of the provider, which has one account. */
  readonly account: string
  readonly sql: Sql
  readonly redis: Pick<Store, 'takeCalls'>
  readonly metrics: Pick<Metrics, 'providerCalls'>
}

export class CallBudget {
  readonly #deps: BudgetDeps
  #alone: TokenBucket = { tokens: 0, atMs: performance.now() }
  readonly #short = new Set<Queue>()

  constructor(deps: BudgetDeps) {
    this.#deps = deps
  }

  /** True while jobs wait for calls: they are asked for again soon. */
  get isShort(): boolean {
    return this.#short.size > 0
  }

  /** How many jobs of a queue may begin now, of at most so many: no more than are due. Their calls are taken. */
  async room(queue: Queue, most: number): Promise<number> {
    const due = most > 0 ? await countDue(this.#deps.sql, queue, queue === 'charge' ? COUNTED : most) : 0
    const wanted = Math.min(most, due)
    const granted = await this.take(queue, wanted, due)
    if (granted < wanted) this.#short.add(queue)
    else this.#short.delete(queue)
    return granted
  }

  /** How many of so many may be made now. */
  async take(kind: Kind, jobs: number, waiting = jobs): Promise<number> {
    const granted = jobs === 0 ? 0 : await this.#take(kind, jobs, waiting)
    this.#deps.metrics.providerCalls.inc({ kind }, granted * CALLS[kind])
    return granted
  }

  async #take(kind: Kind, jobs: number, waiting: number): Promise<number> {
    const { redis, account, perSecond } = this.#deps
    const rank = RANKS.indexOf(kind) + 1
    const each = CALLS[kind]
    const charges = kind === 'charge' ? waiting : ''
    try {
      const keys = [budgetKey(account), waitingKey(account)]
      const args = [perSecond, burstOf(perSecond), rank, jobs, each, WAITING_HOLDS_MS, charges]
      return await withTimeout(redis.takeCalls(...keys, ...args), REDIS_TIMEOUT_MS)
    } catch {
      const share = perSecond / WORKERS_ALONE
      const limit = { perSecond: share, most: Math.max(each, burstOf(share)) }
      const alone = takeTokens(this.#alone, performance.now(), limit, jobs, each)
      this.#alone = alone.bucket
      return alone.granted
    }
  }
}

/** The budget of a provider without a limit. */
export const UNLIMITED = {
  isShort: false,
  room: async (_queue: Queue, most: number) => most,
  take: async (_kind: Kind, jobs: number) => jobs,
}
export type Calls = Pick<CallBudget, 'isShort' | 'room' | 'take'>

const budgetKey = (account: string) => `{payments:${account}}:budget`
const waitingKey = (account: string) => `{payments:${account}}:waiting`

/** The charges that wait for calls. */
export const chargesWaiting = async (redis: Pick<Store, 'get'>, account: string): Promise<number> =>
  Number(await redis.get(waitingKey(account)))
