/**
 * A bucket of the fast gate: a product's stock in Redis, or a share of it, behind a few scripts. It may be wrong, after
 * a failover for instance, and is therefore only ever asked first, never last; but it knows when it may be wrong
 * (`fenced`), and says so. All keys of a bucket carry one hash tag, so that on a Cluster they live in one slot.
 */
import { ReplyError } from 'ioredis'
import * as v from 'valibot'
import { tryParseJson } from '../../shared/parse.ts'
import type { Reservation } from '../ledger/record.ts'
import { Batcher } from '../lib/batcher.ts'
import type { Store } from '../lib/redis.ts'

/** Callers in one script call: more would keep Redis from others for longer than a millisecond. */
const RESERVE_BATCH = 128
const POSTPONE_MS = 5_000
/** Recorded intents are removed together, so often: workers look at those that are much older. */
const ACKNOWLEDGE_MS = 25
/** Orders restored, or found to have ended meanwhile, in one call. */
const RESTORE_CHUNK = 500
/** Callers waiting for the script; more are told to try again. */
const MAX_WAITING = 5_000
/** Keys of a visitor that are remembered besides those of their orders: people send a few, and Redis keeps each. */
const MAX_REMEMBERED = 20
/** Intents read at once where one of them is looked for. */
const LOOK_PAGE = 1_000
/** What nobody has looked after for so long is of a sale that is over. */
const KEPT_MS = 24 * 3_600_000

/** The sale's terms, the same for all callers of one group. */
export interface Terms {
  readonly holdMs: number
  readonly limit: number
}

interface Call {
  readonly reservation: Reservation
  readonly terms: Terms
}

export interface HoldEnd {
  readonly order: string
  readonly visitor: string
  readonly quantity: number
  readonly key: string
  /** release: the unit comes back; sell: it stays gone; refuse: it comes back, and the key is free again. */
  readonly how: 'release' | 'sell' | 'refuse'
}

/** The end of a reservation that the ledger does not take. */
export const refused = ({ order, visitor, quantity, key }: Reservation): HoldEnd => ({
  ...{ order, visitor, quantity, key },
  how: 'refuse',
})

/** A reservation that waits in the stream to be recorded. */
export interface Intent {
  readonly entry: string
  /** Null when it cannot be read, having been written by a version with other ideas for instance. */
  readonly intent: Reservation | null
  readonly fields: readonly string[]
}

const text = v.pipe(v.string(), v.minLength(1))
/** A reservation as it is read from the stream. */
const Waiting = v.object({
  order: text,
  sale: text,
  product: text,
  visitor: text,
  number: v.pipe(v.number(), v.safeInteger()),
  quantity: v.pipe(v.number(), v.safeInteger()),
  key: text,
  hash: text,
  method: v.nullable(text),
}) satisfies v.GenericSchema<unknown, Reservation>

const reservationIn = (fields: readonly string[]) => fields[fields.indexOf('reservation') + 1] ?? ''
/** The order in a reservation as it waits: a text in JSON has no bare quotes, so that nothing else looks like it. */
const ORDER = /"order":"([^"]+)"/

/** A live order as the gate needs to know it, to be rebuilt. */
export interface LiveOrder {
  readonly order: string
  readonly visitor: string
  readonly key: string
  readonly hash: string
  readonly quantity: number
  /** End of its hold, milliseconds since the epoch; null when it is sold. */
  readonly holdEndsAtMs: number | null
}

export interface Stock {
  readonly available: number
  readonly held: number
}

/** What a key stands for: an order, and what was asked for by it. */
export interface Known {
  readonly order: string
  readonly hash: string
}

export type ReserveAnswer =
  | ({ readonly verdict: 'reserved'; readonly entry: string } & Stock)
  | ({ readonly verdict: 'replay' } & Known & Stock)
  /** What the visitor has of this product by now, and the order that came last. */
  | ({ readonly verdict: 'limit'; readonly units: number; readonly order: string } & Stock)
  | ({ readonly verdict: 'none' } & Stock)
  | { readonly verdict: 'fenced' }
  /** The script was sent and not answered: a unit may have been taken, and its intent may wait in the stream. */
  | { readonly verdict: 'unknown' }

/** What another bucket finds here: units it may have, and whether anything is left or moving. */
export interface Lent extends Stock {
  readonly units: number
  /** Units on their way from here to others. */
  readonly lent: number
  /** How often units came in from others. */
  readonly moves: number
  /** Changes with every rebuild, after which what was under way is void. */
  readonly epoch: string
}

export class Bucket {
  readonly #redis: Store
  readonly #key: { stock: string; holds: string; keys: string; visitors: string; intents: string }
  readonly #calls: Batcher<Call, ReserveAnswer>

  constructor(redis: Store, sale: string, product: string, index: number) {
    this.#redis = redis
    const tag = `{${sale}:${product}:${index}}`
    this.#key = {
      stock: `${tag}:stock`,
      holds: `${tag}:holds`,
      keys: `${tag}:keys`,
      visitors: `${tag}:visitors`,
      intents: `${tag}:intents`,
    }
    this.#calls = new Batcher({ size: RESERVE_BATCH, queue: MAX_WAITING }, (calls) => this.#reserve(calls))
  }

  /** Takes units, if there are any. Fails with Overloaded when too many wait; while Redis is away, it is fenced. */
  reserve(reservation: Reservation, terms: Terms): Promise<ReserveAnswer> {
    return this.#calls.add({ reservation, terms })
  }

  async #reserve(calls: readonly Call[]): Promise<ReserveAnswer[]> {
    const { stock, holds, keys, visitors, intents } = this.#key
    const { holdMs, limit } = (calls[0] as Call).terms
    const callers = calls.map((call) => JSON.stringify(call.reservation))
    const isSent = this.#redis.status === 'ready'
    let answer: (string | number)[]
    try {
      answer = await this.#redis.reserveUnits(
        ...[5, stock, holds, keys, visitors, intents, holdMs, limit],
        ...callers,
      )
    } catch (error) {
      // What Redis itself refuses, it has not done.
      const verdict = isSent && !(error instanceof ReplyError) ? 'unknown' : 'fenced'
      return calls.map(() => ({ verdict }))
    }
    if (answer[0] === 'fenced') return calls.map(() => ({ verdict: 'fenced' }))
    const left = { available: Number(answer[0]), held: Number(answer[1]) }
    return calls.map((_, i) => readVerdict(String(answer[2 + 2 * i]), String(answer[3 + 2 * i]), left))
  }

  /** What a key stands for, also while the bucket is out of use; undefined where that is not known, or cannot be asked. */
  async known({ visitor, key }: Reservation): Promise<Known | undefined> {
    const known = await this.#redis.hget(this.#key.keys, `${visitor} ${key}`).catch(() => null)
    return known === null ? undefined : readKnown(known)
  }

  /**
   * Lets a key stand for an order that it was answered with, and that is another key's. Only Redis knows of this: a
   * rebuild, which is from the ledger, forgets it, and the key is as good as new.
   */
  async remember({ visitor, key, hash }: Reservation, order: string): Promise<void> {
    await this.#redis.rememberKey(1, this.#key.keys, visitor, key, `${order}|${hash}`, MAX_REMEMBERED)
  }

  /** Takes an order in that was recorded without this bucket. */
  async adopt({ order, visitor, key, hash, quantity }: Reservation, holdEndsAtMs: number): Promise<void> {
    const { stock, holds, keys, visitors } = this.#key
    const args = [order, visitor, key, hash, quantity, holdEndsAtMs]
    await this.#redis.adoptOrder(4, stock, holds, keys, visitors, ...args)
  }

  /** Ends holds: units come back (`release`) or are sold. Each hold ends once; returns how many did. */
  settle(ends: readonly HoldEnd[]): Promise<number> {
    if (ends.length === 0) return Promise.resolve(0)
    const { stock, holds, visitors, keys } = this.#key
    const args = ends.flatMap((e) => [e.order, e.visitor, e.quantity, e.key, e.how])
    return this.#redis.settleHolds(4, stock, holds, visitors, keys, ...args)
  }

  /** Orders whose hold is over by Redis's clock. */
  async due(limit: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#key.holds, '-inf', await this.#nowMs(), 'LIMIT', 0, limit)
  }

  /** Holds that are not over after all, being paid for instance: asked for again a while later. */
  async postpone(holds: readonly { order: string; forMs?: number | undefined }[]): Promise<void> {
    if (holds.length === 0) return
    const nowMs = await this.#nowMs()
    const scores = holds.flatMap(({ order, forMs = POSTPONE_MS }) => [nowMs + forMs, order])
    await this.#redis.zadd(this.#key.holds, 'XX', ...scores)
  }

  /** Redis's clock says which holds to look at, since it is one and the same for all origins. */
  #nowMs(): Promise<number> {
    return this.#redis.clockMs(1, this.#key.stock)
  }

  /** Removes intents that are recorded. */
  async acknowledge(entries: readonly string[]): Promise<void> {
    if (entries.length > 0) await this.#redis.xdel(this.#key.intents, ...entries)
  }

  /** Removes an intent that is recorded, with others, in a moment. To lose this is harmless: a worker finds it recorded. */
  acknowledgeSoon(entry: string): void {
    this.#recorded.push(entry)
    this.#acknowledging ??= setTimeout(() => {
      this.#acknowledging = undefined
      this.acknowledge(this.#recorded.splice(0)).catch(() => {})
    }, ACKNOWLEDGE_MS)
  }
  readonly #recorded: string[] = []
  #acknowledging: NodeJS.Timeout | undefined

  /**
   * Intents still waiting to be recorded and at least so old, the oldest first. A stream's ids never go back: where Redis's
   * clock was put back, or a new master's is behind, they stay ahead of it, and how old those are cannot be told.
   */
  async intents(limit: number, minAgeMs = 0): Promise<Intent[]> {
    if (minAgeMs === 0) return this.#intentsOf('-', '+', limit)
    const nowMs = await this.#nowMs()
    const old = await this.#intentsOf('-', nowMs - minAgeMs, limit)
    if (old.length === limit) return old
    // As far ahead, since some are made while this is asked.
    return [...old, ...(await this.#intentsOf(nowMs + minAgeMs, '+', limit - old.length))]
  }

  async #intentsOf(from: string | number, to: string | number, limit: number): Promise<Intent[]> {
    const entries = await this.#redis.xrange(this.#key.intents, from, to, 'COUNT', limit)
    return entries.map(([entry, fields]) => {
      return { entry, intent: tryParseJson(Waiting, reservationIn(fields)) ?? null, fields }
    })
  }

  /** Those of these orders that wait to be recorded: the stream is read until all are found, or to its end. */
  async waitingOf(orders: ReadonlySet<string>): Promise<Reservation[]> {
    const found: Reservation[] = []
    for (let after = '-', page = LOOK_PAGE; page === LOOK_PAGE && found.length < orders.size; ) {
      const entries = await this.#redis.xrange(this.#key.intents, after, '+', 'COUNT', LOOK_PAGE)
      page = entries.length
      after = `(${entries.at(-1)?.[0]}`
      for (const [, fields] of entries) {
        const reservation = reservationIn(fields)
        // Most are not asked for, and need not be understood.
        if (!orders.has(ORDER.exec(reservation)?.[1] ?? '')) continue
        const read = tryParseJson(Waiting, reservation)
        if (read) found.push(read)
      }
    }
    return found
  }

  /** How many intents wait to be recorded. */
  waiting(): Promise<number> {
    return this.#redis.xlen(this.#key.intents)
  }

  /** True when the counter is in use: loaded into this run of the server. */
  async isOpen(): Promise<boolean> {
    return (await this.#redis.gateIsOpen(1, this.#key.stock)) === 1
  }

  /** What the counter says; null while the gate is fenced. */
  stock(): Promise<Lent | null> {
    return this.lend(0)
  }

  /** Gives other buckets some of what is available here, if at least one is; null while the gate is fenced. */
  async lend(wanted: number): Promise<Lent | null> {
    const answer = await this.#redis.lendUnits(1, this.#key.stock, wanted)
    if (answer[0] === 'fenced') return null
    const [units = 0, available = 0, held = 0, lent = 0, moves = 0] = answer.map(Number)
    return { units, available, held, lent, moves, epoch: String(answer[5]) }
  }

  /** Takes in what another bucket has lent; false if a rebuild has come between. */
  async take({ units, epoch }: Lent): Promise<boolean> {
    return (await this.#redis.takeUnits(1, this.#key.stock, units, epoch)) === 1
  }

  /** Notes that what was lent has been taken in. */
  async arrived({ units, epoch }: Lent): Promise<void> {
    await this.#redis.unitsArrived(1, this.#key.stock, units, epoch)
  }

  /**
   * Keeps what the bucket knows for another day. The counter goes first: without it the bucket is out of use, and what
   * else it knew may go. Intents are kept until they are recorded, each having been promised to somebody; the empty stream
   * that is left, of 400 bytes, is worth no doubt about that.
   */
  async keep(): Promise<void> {
    const { stock, holds, keys, visitors } = this.#key
    const kept = this.#redis.multi().pexpire(stock, KEPT_MS)
    for (const key of [holds, keys, visitors]) kept.pexpire(key, 2 * KEPT_MS)
    await kept.exec()
  }

  /** Takes the bucket out of use and forgets what it knew; the intents stay. */
  async fence(fence: string): Promise<void> {
    const { stock, holds, keys, visitors } = this.#key
    // In this order: once `run` is gone nobody reserves, and nothing can come between.
    await this.#redis.multi().del(stock).hset(stock, 'fence', fence).del(holds, keys, visitors).exec()
  }

  /** Puts live orders back behind this fence; returns how many units they hold. */
  async restore(fence: string, orders: readonly LiveOrder[]): Promise<number> {
    const { stock, holds, keys, visitors } = this.#key
    let held = 0
    for (let at = 0; at < orders.length; at += RESTORE_CHUNK) {
      const args = orders
        .slice(at, at + RESTORE_CHUNK)
        .flatMap((o) => [o.order, o.visitor, o.key, o.hash, o.quantity, o.holdEndsAtMs ?? ''])
      held += await this.#redis.restoreOrders(4, stock, holds, keys, visitors, fence, ...args)
    }
    return held
  }

  /** Ends holds that the counts to open with are without, behind this fence; returns how many units they held. */
  async settleCounted(fence: string, ends: readonly HoldEnd[]): Promise<number> {
    let held = 0
    for (let at = 0; at < ends.length; at += RESTORE_CHUNK) {
      const some = ends.slice(at, at + RESTORE_CHUNK)
      await this.settle(some)
      held += await this.#redis.holdsCounted(1, this.#key.stock, fence, ...some.map((end) => end.order))
    }
    return held
  }

  /** Puts the bucket to use with a counter from the ledger; false when another rebuild has begun meanwhile. */
  async unfence(fence: string, { available, held }: Stock): Promise<boolean> {
    return (await this.#redis.unfenceGate(1, this.#key.stock, available, held, fence)) === 1
  }
}

/** A key's value: see reserve.lua. */
function readKnown(known: string): Known {
  const [order = '', hash = ''] = known.split('|')
  return { order, hash }
}

function readVerdict(verdict: string, detail: string, left: Stock): ReserveAnswer {
  switch (verdict) {
    case 'reserved':
      return { verdict, entry: detail, ...left }
    case 'replay':
      return { verdict, ...readKnown(detail), ...left }
    case 'limit': {
      const [units, order = ''] = detail.split('|')
      return { verdict, units: Number(units), order, ...left }
    }
    default:
      return { verdict: 'none', ...left }
  }
}
