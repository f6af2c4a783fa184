/**
 * The fast gate: one product's stock in Redis, behind a few scripts. It may be wrong, after a failover for instance,
 * and is therefore only ever asked first, never last; but it knows when it may be wrong (`fenced`), and says so.
 * All keys of a product carry one hash tag, so that on a cluster they live in one slot.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { Batcher } from '../batch.ts'
import type { Reservation } from '../ledger/ledger.ts'

const script = (name: string) => readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')

/** Callers in one script call: more would keep Redis from others for longer than a millisecond. */
const RESERVE_BATCH = 128
/** One under way, one being read: a third would only wait in Redis instead of here. */
const RESERVE_CONCURRENCY = 2
const POSTPONE_MS = 5_000
/** Orders restored in one pipeline. */
const RESTORE_CHUNK = 1_000
/** Callers waiting for the script; more are told to try again. */
const MAX_WAITING = 5_000

export interface ReserveCall {
  readonly order: string
  readonly visitor: string
  readonly key: string
  readonly hash: string
  readonly quantity: number
  /** What a worker needs to record the order if this process does not live to do it. */
  readonly intent: Reservation
}

/** The sale's terms, the same for all callers of one group. */
export interface Terms {
  readonly holdMs: number
  readonly limit: number
}

export interface HoldEnd {
  readonly order: string
  readonly visitor: string
  readonly quantity: number
  readonly key: string
  /** release: the unit comes back; sell: it stays gone; refuse: it comes back, and the key is free again. */
  readonly how: 'release' | 'sell' | 'refuse'
}

/** A reservation that waits in the stream to be recorded. */
export interface Intent {
  readonly entry: string
  /** Null when it cannot be read, having been written by a version with other ideas for instance. */
  readonly intent: Reservation | null
  readonly text: string
}

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

export type ReserveAnswer =
  | ({ readonly verdict: 'reserved'; readonly entry: string } & Stock)
  | ({ readonly verdict: 'replay'; readonly order: string; readonly hash: string } & Stock)
  | ({ readonly verdict: 'limit'; readonly order: string } & Stock)
  | ({ readonly verdict: 'none' } & Stock)
  | { readonly verdict: 'fenced' }

/** Redis with our scripts as commands (ioredis sends EVALSHA, and the source again after a NOSCRIPT). */
interface Scripts {
  reserveUnits(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>
  settleHolds(keys: number, ...args: (string | number)[]): Promise<number>
  unfenceGate(keys: number, ...args: (string | number)[]): Promise<number>
  gateIsOpen(keys: number, ...args: string[]): Promise<number>
}

export function defineScripts(redis: Redis): void {
  redis.defineCommand('reserveUnits', { lua: script('reserve') })
  redis.defineCommand('settleHolds', { lua: script('settle') })
  redis.defineCommand('unfenceGate', { lua: script('unfence') })
  redis.defineCommand('gateIsOpen', { lua: script('is-open') })
}

export class Gate {
  readonly #redis: Redis & Scripts
  readonly #key: { stock: string; holds: string; keys: string; visitors: string; intents: string }
  readonly #calls: Batcher<ReserveCall & Terms, ReserveAnswer>

  constructor(redis: Redis, sale: string, product: string) {
    this.#redis = redis as Redis & Scripts
    const tag = `{${sale}:${product}}`
    this.#key = {
      stock: `${tag}:stock`,
      holds: `${tag}:holds`,
      keys: `${tag}:keys`,
      visitors: `${tag}:visitors`,
      intents: `${tag}:intents`,
    }
    this.#calls = new Batcher(
      { size: RESERVE_BATCH, concurrency: RESERVE_CONCURRENCY, queue: MAX_WAITING },
      (calls) => this.#reserve(calls),
    )
  }

  /** Takes units, if there are any. Fails with Overloaded when too many wait, and as Redis fails. */
  reserve(call: ReserveCall & Terms): Promise<ReserveAnswer> {
    return this.#calls.add(call)
  }

  async #reserve(calls: readonly (ReserveCall & Terms)[]): Promise<ReserveAnswer[]> {
    const { stock, holds, keys, visitors, intents } = this.#key
    const { holdMs, limit } = calls[0] as Terms
    const args = calls.flatMap((c) => [
      c.order,
      c.visitor,
      c.key,
      c.hash,
      c.quantity,
      JSON.stringify(c.intent),
    ])
    const answer = await this.#redis.reserveUnits(
      5,
      stock,
      holds,
      keys,
      visitors,
      intents,
      holdMs,
      limit,
      ...args,
    )
    if (answer[0] === 'fenced') return calls.map(() => ({ verdict: 'fenced' }))
    const left = { available: Number(answer[0]), held: Number(answer[1]) }
    return calls.map((_, i) => readVerdict(String(answer[2 + 2 * i]), String(answer[3 + 2 * i]), left))
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
  async #nowMs(): Promise<number> {
    const [seconds, micros] = await this.#redis.time()
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  /** Removes intents that are recorded. */
  async acknowledge(entries: readonly string[]): Promise<void> {
    if (entries.length > 0) await this.#redis.xdel(this.#key.intents, ...entries)
  }

  /** Intents still waiting to be recorded and at least so old, the oldest first. */
  async intents(limit: number, minAgeMs = 0): Promise<Intent[]> {
    const newest = minAgeMs > 0 ? String((await this.#nowMs()) - minAgeMs) : '+'
    const entries = await this.#redis.xrange(this.#key.intents, '-', newest, 'COUNT', limit)
    return entries.map(([entry, [, text = '']]) => ({ entry, intent: readIntent(text), text }))
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
  async stock(): Promise<Stock | null> {
    const [open, [available, held]] = await Promise.all([
      this.isOpen(),
      this.#redis.hmget(this.#key.stock, 'available', 'held'),
    ])
    return open ? { available: Number(available), held: Number(held) } : null
  }

  /** Takes the gate out of use and forgets what it knew; the intents stay. Returns the fence to open it with. */
  async fence(): Promise<string> {
    const { stock, holds, keys, visitors } = this.#key
    const fence = randomUUID()
    // In this order: once `run` is gone nobody reserves, and nothing can come between.
    await this.#redis.multi().del(stock).hset(stock, 'fence', fence).del(holds, keys, visitors).exec()
    return fence
  }

  /** Puts live orders back, so many at a time. */
  async restore(orders: readonly LiveOrder[]): Promise<void> {
    const { holds, keys, visitors } = this.#key
    for (let at = 0; at < orders.length; at += RESTORE_CHUNK) {
      const chunk = orders.slice(at, at + RESTORE_CHUNK)
      const pipeline = this.#redis.pipeline()
      const held = chunk.flatMap((o) => (o.holdEndsAtMs === null ? [] : [o.holdEndsAtMs, o.order]))
      if (held.length > 0) pipeline.zadd(holds, ...held)
      pipeline.hset(keys, ...chunk.flatMap((o) => [`${o.visitor}|${o.key}`, `${o.order}|${o.hash}`]))
      pipeline.hset(visitors, ...chunk.flatMap((o) => [o.visitor, `${o.quantity}|${o.order}`]))
      await pipeline.exec()
    }
  }

  /** Opens the gate with a counter from the ledger; false when another rebuild has begun meanwhile. */
  async unfence(fence: string, { available, held }: Stock): Promise<boolean> {
    return (await this.#redis.unfenceGate(1, this.#key.stock, available, held, fence)) === 1
  }
}

function readIntent(text: string): Reservation | null {
  try {
    const intent: unknown = JSON.parse(text)
    return typeof intent === 'object' && intent !== null && 'order' in intent ? (intent as Reservation) : null
  } catch {
    return null
  }
}

function readVerdict(verdict: string, detail: string, left: Stock): ReserveAnswer {
  switch (verdict) {
    case 'reserved':
      return { verdict, entry: detail, ...left }
    case 'replay': {
      const [order = '', hash = ''] = detail.split('|')
      return { verdict, order, hash, ...left }
    }
    case 'limit':
      return { verdict, order: detail, ...left }
    default:
      return { verdict: 'none', ...left }
  }
}
