/**
 * The fast gate of one product: one bucket, or several, so that a Cluster can share the work. A visitor's bucket is
 * always the same, which keeps keys and limits exact; when it is empty it takes units over from the others, so that
 * nobody hears "sold out" while a unit is left anywhere.
 */
import { randomUUID } from 'node:crypto'
import { hashOf } from '../../shared/hash.ts'
import type { Reservation } from '../ledger/record.ts'
import { Batcher } from '../lib/batcher.ts'
import type { Store } from '../lib/redis.ts'
import {
  Bucket,
  type HoldEnd,
  type Intent,
  type Lent,
  type LiveOrder,
  type ReserveAnswer,
  type Stock,
  type Terms,
} from './bucket.ts'

/** How often a caller whose bucket was filled up, and emptied by others before its turn, tries again. */
const MAX_TRIES = 5
/** Callers waiting to hear whether an order waits to be recorded; more are told to try again. */
const MAX_LOOKS = 5_000

export class Gate {
  readonly buckets: readonly Bucket[]
  /** What each bucket said last: what is left altogether is told approximately. */
  readonly #left: Stock[]
  /** Fillings under way, by bucket: those who find it empty at the same moment share one. */
  readonly #filling = new Map<Bucket, Promise<Filling>>()
  /** Units that callers wait for, by bucket. */
  readonly #wanted = new Map<Bucket, number>()

  constructor(redis: Store, sale: string, product: string, buckets: number) {
    this.buckets = Array.from({ length: buckets }, (_, index) => new Bucket(redis, sale, product, index))
    this.#left = this.buckets.map(() => ({ available: 0, held: 0 }))
  }

  /** A visitor's bucket is always the same. */
  bucketOf(visitor: string): Bucket {
    return this.buckets[hashOf(visitor) % this.buckets.length] as Bucket
  }

  /** Takes units, if there are any. Fails with Overloaded when too many wait, and as Redis fails between buckets. */
  reserve(call: Reservation, terms: Terms): Promise<ReserveAnswer> {
    const home = this.bucketOf(call.visitor)
    return this.buckets.length === 1 ? home.reserve(call, terms) : this.#reserve(home, call, terms)
  }

  async #reserve(home: Bucket, call: Reservation, terms: Terms): Promise<ReserveAnswer> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const answer = await home.reserve(call, terms)
      if (answer.verdict === 'fenced' || answer.verdict === 'unknown') return answer
      if (answer.verdict !== 'none') return { ...answer, ...this.#note(home, answer) }
      const found = await this.#fill(home, call.quantity)
      if (found === 'fenced') return { verdict: 'fenced' }
      if (found !== 'filled' && found.available < call.quantity) return { verdict: 'none', ...found }
    }
    return { verdict: 'none', ...MOVING }
  }

  /** What is left in all buckets, after what one of them said. */
  #note(bucket: Bucket, { available, held }: Stock): Stock {
    this.#left[this.buckets.indexOf(bucket)] = { available, held }
    return sum(this.#left)
  }

  async #fill(home: Bucket, quantity: number): Promise<Filling> {
    const want = (units: number) => this.#wanted.set(home, (this.#wanted.get(home) ?? 0) + units)
    want(quantity)
    try {
      let filling = this.#filling.get(home)
      if (!filling) {
        filling = this.#fillOnce(home).finally(() => this.#filling.delete(home))
        this.#filling.set(home, filling)
      }
      return await filling
    } finally {
      want(-quantity)
    }
  }

  /**
   * Takes units over from the other buckets. That there are none is only believed when two looks at all buckets, one
   * after the other, find the same: empty, nothing on its way, nothing moved (a double collect; Afek et al., Atomic
   * Snapshots of Shared Memory, 1993). Otherwise what is left is somewhere on its way, and "try again" is the answer.
   */
  async #fillOnce(home: Bucket): Promise<Filling> {
    let before = ''
    for (let looks = 0; looks < MAX_TRIES; looks++) {
      const all: Lent[] = []
      let taken = 0
      for (const bucket of this.buckets) {
        const wanted = Math.max(0, (this.#wanted.get(home) ?? 0) - taken)
        const lent = await bucket.lend(bucket === home ? 0 : wanted)
        if (!lent) return 'fenced'
        this.#note(bucket, lent)
        all.push(lent)
        if (lent.units === 0) continue
        taken += lent.units
        await home.take(lent)
        await bucket.arrived(lent)
      }
      const left = sum(all.map(withLent))
      if (taken > 0) return 'filled'
      const seen = all.map(({ moves, epoch }) => `${moves} ${epoch}`).join()
      if (left.available > 0 || left.held > 0 || seen === before) return left
      before = seen
    }
    return MOVING
  }

  /** Ends holds: units come back (`release`) or are sold. Each hold ends once; returns how many did. */
  async settle(ends: readonly HoldEnd[]): Promise<number> {
    const byBucket = Map.groupBy(ends, (end) => this.bucketOf(end.visitor))
    const settled = await Promise.all([...byBucket].map(([bucket, some]) => bucket.settle(some)))
    return settled.reduce((all, some) => all + some, 0)
  }

  /** Intents still waiting to be recorded, at most so many of each bucket. */
  async intents(limit: number): Promise<Intent[]> {
    return (await Promise.all(this.buckets.map((bucket) => bucket.intents(limit)))).flat()
  }

  /** The reservation behind an order that waits to be recorded. Fails with Overloaded, and as Redis fails. */
  waitingOf(order: string): Promise<Reservation | undefined> {
    return this.#looks.add(order)
  }

  /** To find one all of a stream is read: those who ask at the same moment have it read once. */
  readonly #looks = new Batcher<string, Reservation | undefined>(
    { size: MAX_LOOKS, queue: MAX_LOOKS },
    async (orders) => {
      const asked = new Set(orders)
      const found = (await Promise.all(this.buckets.map((bucket) => bucket.waitingOf(asked)))).flat()
      const byOrder = new Map(found.map((reservation) => [reservation.order, reservation]))
      return orders.map((order) => byOrder.get(order))
    },
  )

  /** How many intents wait to be recorded. */
  async waiting(): Promise<number> {
    const each = await Promise.all(this.buckets.map((bucket) => bucket.waiting()))
    return each.reduce((all, one) => all + one, 0)
  }

  /** True when every bucket is in use. */
  async isOpen(): Promise<boolean> {
    const open = await Promise.all(this.buckets.map((bucket) => bucket.isOpen()))
    return open.every(Boolean)
  }

  /** What the buckets say together; null while one of them is fenced. Units on their way between them are held. */
  async stock(): Promise<Stock | null> {
    const all = await Promise.all(this.buckets.map((bucket) => bucket.stock()))
    const stocks = all.flatMap((one) => (one ? withLent(one) : []))
    return stocks.length === all.length ? sum(stocks) : null
  }

  /** Keeps what the gate knows for another day; what is not kept, Redis forgets. */
  async keep(): Promise<void> {
    await Promise.all(this.buckets.map((bucket) => bucket.keep()))
  }

  /** Takes the gate out of use and forgets what it knew; the intents stay. */
  async fence(): Promise<Rebuild> {
    const fence = randomUUID()
    await Promise.all(this.buckets.map((bucket) => bucket.fence(fence)))
    return new Rebuild(this, fence)
  }
}

/** How it went to fill a bucket; where there was nothing to fill it with, what is left altogether. */
type Filling = 'filled' | 'fenced' | Stock

/** Units are there, and always somewhere else: to a buyer, they are in other people's hands. */
const MOVING: Stock = { available: 0, held: 1 }

/** A gate that is being rebuilt from the ledger. */
export class Rebuild {
  readonly #gate: Gate
  readonly #fence: string
  readonly #held: number[]

  constructor(gate: Gate, fence: string) {
    this.#gate = gate
    this.#fence = fence
    this.#held = gate.buckets.map(() => 0)
  }

  /** Puts live orders back, each into its visitor's bucket. */
  async restore(orders: readonly LiveOrder[]): Promise<void> {
    const byBucket = Map.groupBy(orders, (order) => this.#gate.bucketOf(order.visitor))
    await Promise.all(
      this.#gate.buckets.map(async (bucket, i) => {
        this.#held[i] = (this.#held[i] ?? 0) + (await bucket.restore(this.#fence, byBucket.get(bucket) ?? []))
      }),
    )
  }

  /**
   * Ends the holds of all orders that ended since they were read to be put back, and before the counts to open with were.
   * Those that end later are counted by their own calls, whether these come before the gate is open or after.
   */
  async settle(ends: readonly HoldEnd[]): Promise<void> {
    const byBucket = Map.groupBy(ends, (end) => this.#gate.bucketOf(end.visitor))
    await Promise.all(
      this.#gate.buckets.map(async (bucket, i) => {
        const ended = await bucket.settleCounted(this.#fence, byBucket.get(bucket) ?? [])
        this.#held[i] = (this.#held[i] ?? 0) - ended
      }),
    )
  }

  /** Opens the gate with the ledger's counters; false when another rebuild has begun meanwhile. */
  async open({ available, held }: Stock): Promise<boolean> {
    const { buckets } = this.#gate
    const each = Math.floor(available / buckets.length)
    const more = available - each * buckets.length
    // What the exact gate sold since the orders were read belongs to somebody: to the first, for the sum to be right.
    const unread = held - this.#held.reduce((all, units) => all + units, 0)
    const opened = await Promise.all(
      buckets.map((bucket, i) =>
        bucket.unfence(this.#fence, {
          available: each + (i < more ? 1 : 0),
          held: (this.#held[i] ?? 0) + (i === 0 ? unread : 0),
        }),
      ),
    )
    return opened.every(Boolean)
  }
}

/** To a buyer, units on their way to another bucket are in other people's hands. */
const withLent = ({ available, held, lent }: Lent): Stock => ({ available, held: held + lent })

const sum = (all: readonly Stock[]): Stock =>
  all.reduce((so, one) => ({ available: so.available + one.available, held: so.held + one.held }), {
    available: 0,
    held: 0,
  })
