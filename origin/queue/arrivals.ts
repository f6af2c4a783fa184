/**
 * Counts who has come to the checkout of each sale, over all origins; the edge steers the queue by it. There are two
 * counts: the ticket numbers that arrived (a Redis HyperLogLog: error below one percent, 12 KB), and the visitors who
 * found all units in carts and still ask. Notes are written in batches, after the responses. While Redis is away or
 * full, the counts do not change and say so (`counted`): the edge then counts no visitor as a no-show. The notes wait
 * until Redis is back. In the other direction the edge reports how many wait in the queue, and all origins know it:
 * visitors with unpaid orders come after those who have fewer.
 */
import { queueName, queueNamesOf, saleAndLineOf } from '../../shared/api/access.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Metrics } from '../base/metrics.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import { MOST_UNPAID, type Store, WAITS_FOR_USE } from '../stock/scripts.ts'
import type { SourceCounts } from './source-counts.ts'

const FLUSH_MS = 200
/**
 * A sale to which nobody has come for so long is counted this often: the edge, which asks once a second, learns of
 * the next one so late.
 */
const QUIET_AFTER_MS = 5_000
const QUIET_FLUSH_MS = 1_000
/** Notes of one sale and kind that wait for Redis; what exceeds this is dropped. */
const MAX_NOTES = 200_000
/** A sale that nobody asked about or came to for this long is forgotten until somebody does. */
const NEEDED_FOR_MS = 60_000
/** Redis forgets the arrivals of a sale this long after the last one: the sale is over, or starts again. */
const ARRIVALS_TTL_MS = 48 * 3_600_000
/** The first count of a sale is waited for this long; after that Redis counts as away. */
const FIRST_COUNT_TIMEOUT_MS = 500
/** The limit of latest arrivals reported to the edge, which is enough to learn how late people come. */
const MAX_RECENT = 20
/** The limit of remembered arrivals of a sale. They are remembered because a second call is no late arrival. */
const MAX_SEEN = 100_000
/** All who wait for stock ask no more often than this together; each asks within these bounds. */
const ASKS_PER_SECOND = 400
const ASK_AGAIN_SECONDS = { min: 5, max: 60 }
/** A visitor who stays away for this many times their interval has given up. */
const GIVES_UP_AFTER_INTERVALS = 2.4
/** A line that the edge has not reported for this long has nobody waiting. It reports every second. */
const REPORT_TTL_MS = 10_000
/** Upper bound of the demand, in units: the stores take it as an integer, and no sale has as many. */
const MAX_DEMAND = 1_000_000_000
/** Members in one Redis call, at most. */
const CHUNK = 500
/** A count below this share of the last one was reset: Redis came back empty. A smaller drop is HyperLogLog's error. */
const RESET_BELOW = 0.9

export interface Counts {
  readonly arrivals: number
  /** The visitors who wait for stock. Those with unpaid orders are left out, because they come after the queue. */
  readonly waiting_for_stock: number
  /** The visitors who are on a protected site, as the edge reports their sessions. */
  readonly on_site: number
  /** False before the first count, and while Redis is away or takes no notes. */
  readonly counted: boolean
}

interface SaleArrivals {
  /** Null before the first attempt to count. */
  counts: Counts | null
  /** The ticket numbers that arrived and are not yet written to Redis. */
  arrived: Set<number>
  /** The ticket numbers that first arrived here since the last write, with the label of their source. */
  turns: Map<number, string | undefined>
  /**
   * The visitors who are not yet written to Redis: the number of unpaid orders while they wait for stock, null once
   * they have a unit.
   */
  waiting: Map<string, number | null>
  /** The sessions on a protected site that are not yet written to Redis: when each ends, by line and number. */
  sessions: Map<string, number>
  /** How many visitors wait for stock, by the number of their unpaid orders. */
  waitingByUnpaid: readonly number[]
  /** The number of visitors who wait in each queue, as the edge has reported to this process. */
  reported: Map<string, number>
  /** How many wait in each queue, as reported to any process. */
  inLine: Readonly<Record<string, string>>
  /** Ticket numbers that arrived here, as long as the sale is needed. */
  seen: RecentMap<number, true>
  /** First arrivals here since the edge asked last. */
  recent: number[]
  neededAtMs: number
  countedAtMs: number
  /** When there was something to write, or a count was another one. */
  changedAtMs: number
}

const NEW = { neededAtMs: 0, countedAtMs: Number.NEGATIVE_INFINITY, changedAtMs: 0 }
const NOBODY: Counts = { arrivals: 0, waiting_for_stock: 0, on_site: 0, counted: false }

type Demanded = Pick<SaleRow, 'sale_id' | 'lines' | 'limit_per_visitor' | 'max_unpaid_orders'>

interface ArrivalsDeps extends LoopDeps {
  readonly redis: Pick<Store, 'status' | 'pipeline' | 'countWaitingForStock'>
  readonly metrics: LoopDeps['metrics'] & Pick<Metrics, 'arrivals' | 'waitingForStock'>
  readonly memory: SaleMemory
  readonly sources: Pick<SourceCounts, 'count'>
}

export class Arrivals {
  readonly #deps: ArrivalsDeps
  readonly #sales: PerSale<SaleArrivals>
  /** Writes the notes to Redis and counts, every FLUSH_MS. */
  readonly actor: Actor

  constructor(deps: ArrivalsDeps) {
    this.#deps = deps
    this.#sales = deps.memory.map('arrivals')
    this.actor = loop('arrivals', FLUSH_MS, deps, () => this.#flush())
  }

  /** Counts by ticket number, which nobody can choose: a visitor who joins and is admitted again arrives again. */
  arrived(saleId: string, number: number, source?: string): void {
    const sale = this.#needed(saleId)
    if (sale.arrived.size < MAX_NOTES) sale.arrived.add(number)
    if (sale.seen.get(number)) return
    sale.seen.set(number, true)
    if (sale.turns.size < MAX_NOTES) sale.turns.set(number, source)
    sale.recent.push(number)
    if (sale.recent.length > MAX_RECENT) sale.recent.shift()
  }

  /** A visitor has come to a protected site and stays for so long, or has left it (0 seconds). */
  onSite(saleId: string, line: string, number: number, seconds: number): void {
    this.arrived(queueName(saleId, line), number)
    const { sessions } = this.#needed(saleId)
    const name = queueName(String(number), line)
    if (sessions.has(name) || sessions.size < MAX_NOTES) sessions.set(name, Date.now() + seconds * 1000)
  }

  takeRecent(saleId: string): number[] {
    return this.#sales.get(saleId)?.recent.splice(0) ?? []
  }

  /**
   * A visitor with so many unpaid orders, at most MOST_UNPAID, waits for stock; null for one who does not, which
   * matters only if some wait.
   */
  waitsForStock(saleId: string, visitor: string, unpaid: number | null): void {
    const { waiting, waitingByUnpaid } = this.#needed(saleId)
    if (waiting.has(visitor) || (waiting.size < MAX_NOTES && (unpaid !== null || sum(waitingByUnpaid) > 0)))
      waiting.set(visitor, unpaid)
  }

  /** A visitor without unpaid orders found all uses of a promo code taken, of which some may come back. */
  waitsForUse(saleId: string, visitor: string): void {
    this.waitsForStock(saleId, visitor, WAITS_FOR_USE)
  }

  /** How many wait for a use of any code, beside those who wait for their turn or for stock. */
  demandForUses(saleId: string): number {
    return this.#needed(saleId).waitingByUnpaid[WAITS_FOR_USE] ?? 0
  }

  /** The edge's report of how many wait in a queue for their turn, or have been called and are on their way. */
  lineWaits(saleId: string, queue: string, waiting: number): void {
    this.#needed(saleId).reported.set(queue, waiting)
  }

  /**
   * How many units the visitors with fewer than one, two, .. unpaid orders may buy together, who wait for their turn
   * or for stock; up to the number from which on all count alike. Whoever waits for their turn counts as one without.
   */
  demand({ sale_id, lines, limit_per_visitor: limit, max_unpaid_orders: most }: Demanded): number[] {
    const { inLine, waitingByUnpaid } = this.#needed(sale_id)
    let waiting = 0
    // The counts cover the queues that the sale has now, because Redis still has the last report of a removed queue.
    for (const queue of queueNamesOf(sale_id, lines)) waiting += Number(inLine[queue] ?? 0)
    return Array.from({ length: Math.min(MOST_UNPAID, most) }, (_, unpaid) => {
      waiting += waitingByUnpaid[unpaid] ?? 0
      return Math.min(MAX_DEMAND, waiting * limit)
    })
  }

  /** When a visitor who waits for stock should ask again, jittered. */
  askAgainSeconds(saleId: string): number {
    return this.#meanAskSeconds(saleId) * (0.75 + Math.random() / 2)
  }

  #meanAskSeconds(saleId: string): number {
    const { min, max } = ASK_AGAIN_SECONDS
    return Math.min(max, Math.max(min, sum(this.#sales.get(saleId)?.waitingByUnpaid ?? []) / ASKS_PER_SECOND))
  }

  /** The last counts; the sale is counted regularly from now on. */
  counts(saleId: string): Counts {
    this.#needed(saleId)
    const last = this.#last(saleId)
    return { ...last, counted: last.counted && this.#deps.redis.status === 'ready' }
  }

  /** The same, but waits for the first count of a sale. */
  async firstCounts(saleId: string): Promise<Counts> {
    if (this.#needed(saleId).counts === null) await withTimeout(this.#flush(), FIRST_COUNT_TIMEOUT_MS).catch(() => {})
    return this.counts(saleId)
  }

  #last(saleId: string): Counts {
    return this.#sales.get(saleId)?.counts ?? NOBODY
  }

  #needed(saleId: string): SaleArrivals {
    const sale = this.#sales.getOrAdd(saleId, () => {
      const seen = new RecentMap<number, true>(MAX_SEEN)
      const maps = { turns: new Map(), waiting: new Map(), reported: new Map(), sessions: new Map() }
      const notes = { arrived: new Set<number>(), ...maps }
      return { counts: null, ...notes, waitingByUnpaid: [], inLine: {}, seen, recent: [], ...NEW }
    })
    sale.neededAtMs = performance.now()
    return sale
  }

  async #flush(): Promise<void> {
    // The commands of all sales travel at once: their keys may be on several nodes, so that they are not one pipeline.
    const counting: Promise<void>[] = []
    for (const [saleId, sale] of this.#sales) {
      if (performance.now() - sale.neededAtMs >= NEEDED_FOR_MS) this.#sales.delete(saleId)
      else if (!isQuiet(sale)) counting.push(this.#count(saleId, sale))
    }
    const failed = (await Promise.allSettled(counting)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async #count(saleId: string, sale: SaleArrivals): Promise<void> {
    const { arrived, turns, waiting, reported, sessions } = sale
    const before = JSON.stringify([sale.counts, sale.waitingByUnpaid, sale.inLine])
    sale.arrived = new Set()
    sale.turns = new Map()
    sale.waiting = new Map()
    sale.reported = new Map()
    sale.sessions = new Map()
    try {
      const { found, inLine, on_site } = await this.#exchange(saleId, [...arrived], turns, reported, sessions)
      const last = this.#last(saleId).arrivals
      // A count that was reset is reported as it is: the edge would take a count that stays the same for no-shows.
      const arrivals = found < RESET_BELOW * last ? found : Math.max(last, found)
      const waitingByUnpaid = await this.#countWaiting(saleId, [...waiting])
      const waiting_for_stock = waitingByUnpaid[0] ?? 0
      sale.inLine = inLine
      sale.counts = { arrivals, waiting_for_stock, on_site, counted: true }
      sale.waitingByUnpaid = waitingByUnpaid
      sale.countedAtMs = performance.now()
      const isOther = before !== JSON.stringify([sale.counts, sale.waitingByUnpaid, sale.inLine])
      if (arrived.size + waiting.size + sessions.size > 0 || isOther) sale.changedAtMs = sale.countedAtMs
      this.#deps.metrics.arrivals.set({ sale: saleId }, arrivals)
      this.#deps.metrics.waitingForStock.set({ sale: saleId }, waiting_for_stock)
    } catch (error) {
      sale.counts = { ...this.#last(saleId), counted: false }
      // The notes wait for the next attempt; newer ones of the same visitor win.
      const newer = this.#needed(saleId)
      for (const [number, source] of turns) newer.turns.set(number, source)
      for (const number of arrived) if (newer.arrived.size < MAX_NOTES) newer.arrived.add(number)
      for (const [name, endMs] of sessions) if (!newer.sessions.has(name)) newer.sessions.set(name, endMs)
      for (const [visitor, unpaid] of waiting)
        if (newer.waiting.size < MAX_NOTES && !newer.waiting.has(visitor)) newer.waiting.set(visitor, unpaid)
      throw error
    }
  }

  /**
   * Writes who has arrived and how many wait in each queue, and reads what all processes have written, in one round
   * trip.
   */
  async #exchange(
    saleId: string,
    numbers: readonly number[],
    turns: ReadonlyMap<number, string | undefined>,
    reported: ReadonlyMap<string, number>,
    sessions: ReadonlyMap<string, number>,
  ) {
    const keyOf = (name: string) => `{${saleId}}:${name}`
    const keys = {
      arrivals: keyOf('arrivals'),
      turns: keyOf('turns'),
      inLine: keyOf('in-line'),
      sessions: keyOf('sessions'),
    }
    const commands = this.#deps.redis.pipeline()
    // One bit for each number: its value before tells whether another process has counted the turn.
    for (const number of turns.keys()) commands.setbit(keys.turns, number, 1)
    if (turns.size > 0) commands.pexpire(keys.turns, ARRIVALS_TTL_MS)
    for (let at = 0; at < numbers.length; at += CHUNK) commands.pfadd(keys.arrivals, ...numbers.slice(at, at + CHUNK))
    if (numbers.length > 0) commands.pexpire(keys.arrivals, ARRIVALS_TTL_MS)
    if (reported.size > 0) commands.hset(keys.inLine, Object.fromEntries(reported)).pexpire(keys.inLine, REPORT_TTL_MS)
    const nowMs = Date.now()
    for (const [name, endMs] of sessions) commands.zadd(keys.sessions, endMs, name)
    if (sessions.size > 0) commands.zremrangebyscore(keys.sessions, 0, nowMs).pexpire(keys.sessions, ARRIVALS_TTL_MS)
    commands.zcount(keys.sessions, nowMs, '+inf')
    const replies = (await commands.pfcount(keys.arrivals).hgetall(keys.inLine).exec()) ?? []
    for (const [error] of replies) if (error) throw error
    const { sale } = saleAndLineOf(saleId)
    for (const [i, source] of [...turns.values()].entries())
      if (replies[i]?.[1] === 0) this.#deps.sources.count(sale, source, 'turns')
    const [onSite, found, inLine] = replies.slice(-3).map(([, reply]) => reply)
    return { found: Number(found), on_site: Number(onSite), inLine: (inLine ?? {}) as SaleArrivals['inLine'] }
  }

  async #countWaiting(saleId: string, visitors: readonly (readonly [string, number | null])[]): Promise<number[]> {
    // Before the first count other processes may have given out the longest interval.
    const intervalSeconds = this.#last(saleId).counted ? this.#meanAskSeconds(saleId) : ASK_AGAIN_SECONDS.max
    const keepMs = Math.round(intervalSeconds * GIVES_UP_AFTER_INTERVALS * 1000)
    const key = `{${saleId}}:waiting_for_stock`
    const keys = [key, ...Array.from({ length: WAITS_FOR_USE }, (_, i) => `${key}:${i + 1}`)]
    let counts: number[] = []
    for (let at = 0; at === 0 || at < visitors.length; at += CHUNK) {
      const chunk = visitors.slice(at, at + CHUNK)
      const notes = chunk.flatMap(([visitor, unpaid]) => [visitor, unpaid ?? ''])
      counts = await this.#deps.redis.countWaitingForStock(...keys, keepMs, ...notes)
    }
    return counts
  }
}

/** True if there is nothing to write, and nothing has changed for long. */
function isQuiet({ counts, arrived, waiting, reported, sessions, countedAtMs, changedAtMs }: SaleArrivals): boolean {
  const nowMs = performance.now()
  const isUpToDate = counts?.counted === true && nowMs - countedAtMs < QUIET_FLUSH_MS
  return (
    isUpToDate &&
    arrived.size + waiting.size + reported.size + sessions.size === 0 &&
    nowMs - changedAtMs > QUIET_AFTER_MS
  )
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
