/**
 * Who has come to the checkout, across all origins, by which the edge steers the line: how many have arrived, by their
 * ticket numbers (a Redis HyperLogLog: error below one percent, 12 KB), and how many visitors were told that all units are
 * in carts and still hope for one, who come before anyone who is yet to be called. Noted in batches, behind the answers;
 * while Redis is away, or full, the counts stand still and are told to be no longer so (`counted`): the edge then takes
 * nobody for one who does not come, and goes by the units that are taken. What was noted meanwhile is told when Redis is
 * back.
 */
import type { Logger } from 'pino'
import { Recent } from '../../shared/recent-map.ts'
import { type Actor, loop } from '../lib/loop.ts'
import type { Metrics } from '../lib/metrics.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from '../stock/scripts.ts'

const FLUSH_MS = 200
/** Noted of a sale and not yet told to Redis, of each kind; should it be away for long, who comes later is not. */
const MAX_NOTED = 200_000
/** A sale that nobody has asked about for so long, nor come to, is left alone until somebody does. */
const NEEDED_FOR_MS = 60_000
/** Who has come to a sale is forgotten so long after the last who did: it is over, or begins anew. */
const KEPT_MS = 48 * 3_600_000
/** A first count of a sale is waited for no longer: Redis is away. */
const FIRST_WITHIN_MS = 500
/** Told of those who came lately, the latest: enough to say how late people come .. */
const MAX_LATELY = 20
/** .. and remembered of all sales, since who comes again has not come late. */
const MAX_SEEN = 100_000
/** All who hope together ask no more often than this; each of them every five seconds, or more seldom. */
const ASKS_PER_SECOND = 400
const ASK_AGAIN_SECONDS = { least: 5, most: 60 }
/** Who does not ask for so many times as long as they were told to wait has given up. */
const HOPES_FOR = 2.4
/** Most told in one call. */
const CHUNK = 500
/** A count that falls below this share of the last began anew: Redis came back empty. By less it is only inexact. */
const BEGAN_ANEW = 0.9

export interface Counts {
  readonly arrivals: number
  readonly hopeful: number
  /** False until they have been counted, and while what is noted cannot be told to Redis. */
  readonly counted: boolean
}

interface Noted {
  readonly arrived: Set<number>
  /** True: asked, and went empty-handed; false: has got a unit. */
  readonly hopes: Map<string, boolean>
}

/** Told as it is where it began anew, since the edge takes one that stands still for people who do not come. */
const sinceThen = (last: number, found: number) => (found < BEGAN_ANEW * last ? found : Math.max(last, found))

const NOBODY: Counts = { arrivals: 0, hopeful: 0, counted: false }

export class Arrivals implements Actor {
  readonly #redis: Store
  readonly #counts = new Map<string, Counts>()
  /** When somebody last asked about a sale or came to it, on the monotonic clock; after which it is left alone. */
  readonly #neededAtMs = new Map<string, number>()
  #noted = new Map<string, Noted>()
  /** Who came here for the first time since somebody asked, by sale. */
  #lately = new Map<string, number[]>()
  readonly #seen = new Recent<string, true>(MAX_SEEN)
  readonly #metrics: Metrics
  readonly #loop: Actor

  constructor(redis: Store, metrics: Metrics, log: Logger) {
    this.#redis = redis
    this.#metrics = metrics
    this.#loop = loop('arrivals', FLUSH_MS, { log, metrics }, () => this.#flush())
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Who has come, by what was called: whoever joins again is called again, and a ticket number is nobody's to choose. */
  arrived(sale: string, number: number): void {
    const { arrived } = this.#of(sale)
    if (arrived.size < MAX_NOTED) arrived.add(number)
    const name = `${sale} ${number}`
    if (this.#seen.get(name)) return
    this.#seen.set(name, true)
    const lately = this.#lately.get(sale)
    if (!lately) return void this.#lately.set(sale, [number])
    lately.push(number)
    if (lately.length > MAX_LATELY) lately.shift()
  }

  /** Ticket numbers of those who came last, of those who have come since this was asked before. */
  lately(sale: string): number[] {
    const lately = this.#lately.get(sale) ?? []
    this.#lately.delete(sale)
    return lately
  }

  /** A visitor found all units in carts, or has got one; of those who got one only they matter who may have hoped. */
  hopes(sale: string, visitor: string, stillHopes: boolean): void {
    const { hopes } = this.#of(sale)
    if (hopes.has(visitor)) hopes.set(visitor, stillHopes)
    else if (hopes.size < MAX_NOTED && (stillHopes || this.#last(sale).hopeful > 0))
      hopes.set(visitor, stillHopes)
  }

  /** After how many seconds somebody who found all units in carts is to ask again; jittered. */
  askAgainSeconds(sale: string): number {
    return this.#meanSeconds(sale) * (0.75 + Math.random() / 2)
  }

  #meanSeconds(sale: string): number {
    const { least, most } = ASK_AGAIN_SECONDS
    return Math.min(most, Math.max(least, this.#last(sale).hopeful / ASKS_PER_SECOND))
  }

  /** As of the last look; of a sale that this process has not been asked about lately, from now on. */
  counts(sale: string): Counts {
    this.#neededAtMs.set(sale, performance.now())
    return this.#last(sale)
  }

  /** The same, once they have been counted: of a sale that this process has not been asked about before it waits for that. */
  async counted(sale: string): Promise<Counts> {
    const isNew = !this.#counts.has(sale)
    const known = this.counts(sale)
    if (!isNew) return known
    await withTimeout(this.#flush(), FIRST_WITHIN_MS).catch(() => {})
    return this.counts(sale)
  }

  #last(sale: string): Counts {
    return this.#counts.get(sale) ?? NOBODY
  }

  #of(sale: string): Noted {
    this.#neededAtMs.set(sale, performance.now())
    let noted = this.#noted.get(sale)
    if (!noted) {
      noted = { arrived: new Set(), hopes: new Map() }
      this.#noted.set(sale, noted)
    }
    return noted
  }

  async #flush(): Promise<undefined> {
    const all = this.#noted
    this.#noted = new Map()
    const failed: unknown[] = []
    this.#forget()
    for (const sale of this.#neededAtMs.keys()) {
      const { arrived = new Set<number>(), hopes = new Map<string, boolean>() } = all.get(sale) ?? {}
      try {
        const arrivals = sinceThen(this.#last(sale).arrivals, await this.#countArrived(sale, [...arrived]))
        const hopeful = await this.#countHopeful(sale, [...hopes])
        this.#counts.set(sale, { arrivals, hopeful, counted: true })
        this.#metrics.arrivals.set({ sale }, arrivals)
        this.#metrics.hopeful.set({ sale }, hopeful)
      } catch (error) {
        failed.push(error)
        this.#counts.set(sale, { ...this.#last(sale), counted: false })
        for (const number of arrived) this.arrived(sale, number)
        const since = this.#of(sale).hopes
        // What they have become meanwhile is what they are.
        for (const [visitor, still] of hopes)
          if (since.size < MAX_NOTED && !since.has(visitor)) since.set(visitor, still)
      }
    }
    if (failed.length > 0) throw failed[0]
  }

  #forget(): void {
    for (const [sale, atMs] of this.#neededAtMs) {
      if (performance.now() - atMs < NEEDED_FOR_MS) continue
      this.#neededAtMs.delete(sale)
      this.#lately.delete(sale)
      this.#counts.set(sale, { ...this.#last(sale), counted: false })
    }
  }

  async #countArrived(sale: string, numbers: readonly number[]): Promise<number> {
    const key = `{${sale}}:arrivals`
    for (let at = 0; at < numbers.length; at += CHUNK)
      await this.#redis.pfadd(key, ...numbers.slice(at, at + CHUNK))
    if (numbers.length > 0) await this.#redis.pexpire(key, KEPT_MS)
    return this.#redis.pfcount(key)
  }

  async #countHopeful(sale: string, hopes: readonly (readonly [string, boolean])[]): Promise<number> {
    let hopeful = 0
    // As long as they are not counted here, others may have told them to wait for the longest there is.
    const { counted } = this.#last(sale)
    const waitSeconds = counted ? this.#meanSeconds(sale) : ASK_AGAIN_SECONDS.most
    const hopesForMs = Math.round(waitSeconds * HOPES_FOR * 1000)
    for (let at = 0; at === 0 || at < hopes.length; at += CHUNK) {
      const some = hopes.slice(at, at + CHUNK)
      const asked = some.flatMap(([visitor, still]) => (still ? visitor : []))
      const served = some.flatMap(([visitor, still]) => (still ? [] : visitor))
      hopeful = await this.#redis.countWaitingForStock(
        `{${sale}}:hopeful`,
        hopesForMs,
        asked.length,
        ...asked,
        ...served,
      )
    }
    return hopeful
  }
}
