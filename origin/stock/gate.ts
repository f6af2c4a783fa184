/**
 * The fast gate of one sale: the stock of its products in Redis, behind a few scripts. Redis may be wrong, after a failover for
 * instance: then the gate is fenced, and says so. It is asked first, and the ledger decides. Its keys share one hash tag and so
 * one node: a script decides for several products, and a Cluster spreads sales.
 */
import { randomUUID } from 'node:crypto'
import { ReplyError } from 'ioredis'
import type { Problem } from '../../shared/problem.ts'
import { isBoxOffice, type Quoted, type Reservation } from '../ledger/record.ts'
import { Batcher } from '../lib/batcher.ts'
import { type CartChoice, chooseQuoted, isNamed } from '../seats/cart-choice.ts'
import { Free } from '../seats/free.ts'
import { Offers } from '../seats/offers.ts'
import { cartOf, isPromoCode, partsOf, type Units, unitsText } from './cart.ts'
import { Intents, storedDetails } from './intents.ts'
import type { LiveOrder } from './reconciliation-queries.ts'
import { Replicas } from './replicas.ts'
import type { Store } from './scripts.ts'

/** Callers in one script call. More would block Redis for longer than a millisecond. */
const RESERVE_BATCH = 128
/** Callers waiting for the script; more get try-again. */
const MAX_WAITING = 5_000
const POSTPONE_MS = 5_000
/** Keys remembered per visitor besides those of their orders. People send a few, and Redis stores each. */
const MAX_REMEMBERED = 20
/** Seats are chosen again where another process took them meanwhile; each time somebody has got some. */
const CHOICES = 10
/** Orders restored, or ended, in one call. */
const REBUILD_CHUNK = 500
/** A gate that no worker has compared for this long belongs to a sale that is over, and is deleted. */
const GATE_TTL_MS = 24 * 3_600_000
/** More units than any visitor has. */
const UNLIMITED = 1_000_000_000

/** The sale's terms, the same for all callers of one batch. */
interface Terms {
  readonly holdMs: number
  readonly limit: number
  /** How many units those may buy who come before a visitor with one, two, .. or more unpaid orders. */
  readonly demand: readonly number[]
  /** How many units of a product a visitor may have, for products with such a limit. */
  readonly limits?: Readonly<Record<string, number>>
}

export interface HoldEnd extends Units {
  readonly order: string
  readonly visitor: string
  readonly key: string
  /**
   * release: the units come back; unpaid: they do, and the order counts as failed; sell: they stay gone; refuse: they come
   * back, the key is free again, the intent is gone.
   */
  readonly how: 'release' | 'unpaid' | 'sell' | 'refuse'
}

export const refused = ({ order, visitor, product, quantity, cart, key }: Reservation): HoldEnd => ({
  order,
  visitor,
  product,
  quantity,
  ...(cart && { cart }),
  key,
  how: 'refuse',
})

export interface Stock {
  readonly available: number
  readonly held: number
}

/** A seat by its place in the bitmap of taken seats. */
export interface SectionSeat {
  readonly section: string
  readonly seat: number
}

interface ProductStock extends Stock {
  readonly product: string
}

export interface KnownKey {
  readonly order: string
  readonly hash: string
}

export type GateVerdict =
  /** With the seats that were chosen for it, and what they cost. */
  | ({ readonly verdict: 'reserved' } & Quoted & Stock)
  | ({ readonly verdict: 'replay' } & KnownKey & Stock)
  /** How many units of the sale the visitor has, and their latest order. */
  | ({ readonly verdict: 'limit'; readonly units: number; readonly order: string } & Stock)
  /** unpaid: how many unpaid orders the visitor has, if any. */
  /** product: the one of a cart of which too few are left; null if no seats fit its wishes. */
  | ({ readonly verdict: 'none'; readonly unpaid?: number; readonly product?: string | null } & Stock)
  /** Seats of the cart that somebody else has, or that are blocked. */
  | { readonly verdict: 'seat_taken'; readonly seats: readonly number[] }
  /** How many units of a product the visitor has, of which they may have no more. */
  | { readonly verdict: 'product_limit'; readonly product: string; readonly units: number; readonly order: string }
  /** The seats chosen for it cannot be sold at their price, and were not taken. */
  | { readonly verdict: 'priced_out'; readonly problem: Problem }
  /** Others want the remaining units, and come first: so many earlier orders of the visitor failed. */
  | ({ readonly verdict: 'unpaid'; readonly unpaid: number } & Stock)
  | { readonly verdict: 'fenced' }
  /** The script was sent, and no reply came: a unit may have been taken, and its intent may wait to be recorded. */
  | { readonly verdict: 'unknown' }

const KEYS = ['stock', 'holds', 'keys', 'visitors', 'unrecorded', 'unpaid', 'seats', 'limited'] as const
type GateKeys = Readonly<Record<(typeof KEYS)[number], string>>

interface Call {
  readonly reservation: Reservation
  readonly terms: Terms
}

/** With the seats chosen for it. */
interface ChosenCall extends Call {
  readonly pricedOut?: Problem
}

export class Gate {
  readonly #redis: Store
  readonly #key: GateKeys
  readonly #calls: Batcher<Call, GateVerdict>
  /** What was free when seats were chosen last: the next time only what has changed is measured. */
  readonly #frees = new WeakMap<CartChoice['chart'], Free>()
  /** The reservations that wait to be recorded. */
  readonly intents: Intents
  readonly offers = new Offers(() => this.seats())

  constructor(redis: Store, saleId: string, replicas = new Replicas(redis)) {
    this.#redis = redis
    this.#key = {
      stock: `{${saleId}}:stock`,
      holds: `{${saleId}}:holds`,
      keys: `{${saleId}}:keys`,
      visitors: `{${saleId}}:visitors`,
      unrecorded: `{${saleId}}:unrecorded`,
      unpaid: `{${saleId}}:unpaid_orders`,
      seats: `{${saleId}}:seats`,
      limited: `{${saleId}}:limited`,
    }
    this.intents = new Intents(redis, replicas, saleId, this.#key.unrecorded)
    this.#calls = new Batcher({ size: RESERVE_BATCH, queue: MAX_WAITING }, (calls) => this.#reserve(calls))
  }

  /** Takes units, if there are any. Fails with Overloaded when too many wait; while Redis is away, it is fenced. */
  reserve(reservation: Reservation, terms: Terms): Promise<GateVerdict> {
    return isBoxOffice(reservation.visitor)
      ? this.#reserveUnlimited(reservation, terms)
      : this.#calls.add({ reservation, terms })
  }

  /** For the box office, in a call of its own: the callers of a batch share their terms. */
  async #reserveUnlimited(reservation: Reservation, { holdMs }: Terms): Promise<GateVerdict> {
    const [verdict] = await this.#reserve([{ reservation, terms: { holdMs, limit: UNLIMITED, demand: [] } }])
    return verdict ?? { verdict: 'fenced' }
  }

  async #reserve(calls: readonly Call[]): Promise<GateVerdict[]> {
    return calls.some(({ reservation }) => isOpen(reservation)) ? this.#choose(calls) : this.#take(calls)
  }

  /**
   * Chooses seats for those who leave the choice to the system, from what is free now, and takes them. Where another process was
   * faster it chooses again; so it does for those for whom nothing was left while others of this batch got nothing after all.
   */
  async #choose(calls: readonly Call[]): Promise<GateVerdict[]> {
    const verdicts: GateVerdict[] = []
    let open = [...calls.entries()]
    for (let round = 1; open.length > 0; round++) {
      const taken = await this.#takenSeats()
      if (!taken) return calls.map((_, i) => verdicts[i] ?? { verdict: 'fenced' })
      const frees = new Map<CartChoice['chart'], Free>()
      const asked = open.map(([, call]): ChosenCall => {
        const { choice, quote } = call.reservation
        if (!choice || !isOpen(call.reservation)) return call
        const free = frees.get(choice.chart) ?? this.#free(choice.chart, taken)
        frees.set(choice.chart, free)
        const quoted = chooseQuoted(choice, quote, free)
        return 'type' in quoted
          ? { ...call, pricedOut: quoted }
          : { ...call, reservation: { ...call.reservation, ...quoted } }
      })
      const results = await this.#takeChosen(asked)
      const isFree = asked.some(({ reservation: { cart } }, k) => cart?.length && results[k]?.verdict !== 'reserved')
      const again = open.filter(([, { reservation }], k) => {
        const result = results[k]
        if (!reservation.choice || !isOpen(reservation) || !result || round === CHOICES) return false
        if (result.verdict === 'seat_taken') return !result.seats.some(isNamed(reservation.choice))
        return result.verdict === 'none' && asked[k]?.reservation.cart?.length === 0 && isFree
      })
      for (const [k, [i]] of open.entries()) verdicts[i] = results[k] ?? { verdict: 'fenced' }
      open = again
    }
    return verdicts
  }

  #free(chart: CartChoice['chart'], taken: Uint8Array): Free {
    const known = this.#frees.get(chart)
    if (known) known.update(taken)
    const free = known ?? new Free(chart, taken)
    this.#frees.set(chart, free)
    return free
  }

  /** The bitmap of taken seats; null while Redis is away. */
  async #takenSeats(): Promise<Uint8Array | null> {
    if (this.#redis.status !== 'ready') return null
    return this.#redis.getBuffer(this.#key.seats).then(
      (bits) => bits ?? new Uint8Array(),
      () => null,
    )
  }

  /** The bitmap of taken seats, for a comparison. */
  async seats(): Promise<Uint8Array> {
    return (await this.#redis.getBuffer(this.#key.seats)) ?? new Uint8Array()
  }

  async #takeChosen(calls: readonly ChosenCall[]): Promise<GateVerdict[]> {
    const sellable = calls.filter(({ pricedOut }) => !pricedOut)
    const verdicts = sellable.length > 0 ? (await this.#take(sellable)).values() : [].values()
    return calls.map(({ pricedOut: problem }) =>
      problem ? { verdict: 'priced_out', problem } : (verdicts.next().value ?? { verdict: 'fenced' }),
    )
  }

  async #take(calls: readonly Call[]): Promise<GateVerdict[]> {
    const { holdMs, limit, demand, limits } = (calls[0] as Call).terms
    const products = [
      ...new Set(calls.flatMap(({ reservation: r }) => (r.cart ? r.cart.map(({ product }) => product) : r.product))),
    ]
    const placeOf = new Map(products.map((product, i) => [product, i + 1]))
    const args = [...KEYS.map((name) => this.#key[name]), holdMs, limit, demand.join(' '), products.length, ...products]
    // Those of promo codes come with the calls that use them.
    const limitOf = (product: string) =>
      isPromoCode(product)
        ? calls.find(({ terms }) => terms.limits?.[product])?.terms.limits?.[product]
        : limits?.[product]
    for (const product of products) args.push(limitOf(product) ?? '')
    for (const { reservation: r } of calls) {
      const units = r.cart ? unitsText(r) : (placeOf.get(r.product) ?? 0)
      args.push(r.order, r.visitor, r.key, r.hash, units, r.quantity, storedDetails(r))
    }
    const isSent = this.#redis.status === 'ready'
    let reply: (string | number)[]
    try {
      reply = await this.#redis.reserveUnits(args)
    } catch (error) {
      // An error reply of Redis means that the script changed nothing.
      const verdict = isSent && !(error instanceof ReplyError) ? 'unknown' : 'fenced'
      return calls.map(() => ({ verdict }))
    }
    if (reply[0] === 'fenced') return calls.map(() => ({ verdict: 'fenced' }))
    return readVerdicts(reply, products, calls)
  }

  /** The order behind a key, also while the gate is fenced; undefined if it is not known, or Redis does not answer. */
  async findKey({ visitor, key }: Reservation): Promise<KnownKey | undefined> {
    const known = await this.#redis.hget(this.#key.keys, `${visitor} ${key}`).catch(() => null)
    return known === null ? undefined : readKnownKey(known)
  }

  /** Remembers that a key was answered with an order of another key. A rebuild forgets it: the ledger does not know. */
  async rememberKey({ visitor, key, hash }: Reservation, order: string): Promise<void> {
    await this.#redis.rememberKey(this.#key.keys, visitor, key, `${order}|${hash}`, MAX_REMEMBERED)
  }

  /** Takes in an order that was recorded without this gate. */
  async adopt(reservation: Reservation, holdEndsAtMs: number): Promise<void> {
    const { stock, holds, keys, visitors, seats, limited } = this.#key
    const { order, visitor, key, hash, quantity } = reservation
    const args = [order, visitor, key, hash, unitsText(reservation), quantity, holdEndsAtMs]
    await this.#redis.adoptOrder(stock, holds, keys, visitors, seats, limited, ...args)
  }

  /** Takes seats of a section out of sale, or puts them back. If this is lost, the reconciler finds the difference. */
  async block(section: string, seats: readonly number[], isBlocked: boolean): Promise<void> {
    await this.#redis.blockSeats(this.#key.stock, this.#key.seats, section, isBlocked ? 1 : 0, ...seats)
  }

  /** Gives an order another seat, as the ledger has done. If this is lost, the reconciler finds the difference. */
  async move(order: string, visitor: string, from: SectionSeat, to: SectionSeat): Promise<void> {
    const { stock, holds, seats, limited } = this.#key
    const args = [order, visitor, from.section, from.seat, to.section, to.seat]
    await this.#redis.moveSeat(stock, holds, seats, limited, ...args)
  }

  /** Marks seats as taken that the ledger has sold, blocked or held: the counts are left to the reconciler. */
  async markTaken(seats: readonly number[]): Promise<void> {
    if (seats.length === 0) return
    const commands = this.#redis.multi()
    for (const seat of seats) commands.setbit(this.#key.seats, seat, 1)
    await commands.exec()
  }

  /** Ends holds, each once; returns how many it ended. */
  settle(ends: readonly HoldEnd[]): Promise<number> {
    if (ends.length === 0) return Promise.resolve(0)
    return this.#redis.settleHolds(keysToSettle(this.#key), '', ...ends.flatMap(argsOf))
  }

  /** Takes in what the ledger knows of a visitor: a rebuild keeps these, a Redis that came back empty has lost them. */
  async learnUnpaid(visitor: string, orders: number): Promise<void> {
    await this.#redis.hset(this.#key.unpaid, visitor, orders)
  }

  /** Orders whose hold is over by Redis's clock, and in how many milliseconds the next one is; null: there is none. */
  async due(limit: number): Promise<{ orders: string[]; nextInMs: number | null }> {
    const [nextInMs, ...orders] = await this.#redis.dueHolds(this.#key.holds, limit)
    return { orders: orders.map(String), nextInMs: typeof nextInMs === 'number' ? nextInMs : null }
  }

  /** Orders that hold units: those that are open, and some that have just ended. */
  countHolds(): Promise<number> {
    return this.#redis.zcard(this.#key.holds)
  }

  /** Holds that are not over after all, because they are being paid for instance, become due again later. */
  async postpone(holds: readonly { order: string; forMs?: number | undefined }[]): Promise<void> {
    if (holds.length === 0) return
    const nowMs = await this.#nowMs()
    const scores = holds.flatMap(({ order, forMs = POSTPONE_MS }) => [nowMs + forMs, order])
    await this.#redis.zadd(this.#key.holds, 'XX', ...scores)
  }

  /** Redis's clock, which is the same for all origins. */
  #nowMs(): Promise<number> {
    return this.#redis.clockMs(this.#key.stock)
  }

  /** What the counters say, by product; null while the gate is fenced. */
  async stock(): Promise<ReadonlyMap<string, Stock> | null> {
    const reply = await this.#redis.readStock(this.#key.stock)
    if (reply === null) return null
    const stock = new Map<string, Stock>()
    for (let i = 0; i < reply.length; i += 3)
      stock.set(String(reply[i]), { available: Number(reply[i + 1]), held: Number(reply[i + 2]) })
    return stock
  }

  /** Whether the gate is in use for all of these products. */
  async isOpen(products: readonly string[]): Promise<boolean> {
    const stock = await this.stock()
    return stock !== null && products.every((product) => stock.has(product))
  }

  /** Extends the gate's life by GATE_TTL_MS. The counters expire first, which fences the gate. Intents never expire: each was promised to a buyer. */
  async extendExpiry(): Promise<void> {
    const { stock, unrecorded, ...others } = this.#key
    const commands = this.#redis.multi().pexpire(stock, GATE_TTL_MS)
    for (const key of Object.values(others)) commands.pexpire(key, 2 * GATE_TTL_MS)
    await commands.exec()
  }

  /** Deletes the gate of a sale that is over, except the intents. If this is lost it expires, for which Redis stops. */
  async remove(): Promise<void> {
    const { unrecorded, ...others } = this.#key
    await this.#redis.unlink(...Object.values(others))
  }

  /** Takes the gate out of use and deletes its data, except the intents. Redis frees the data of a million orders in a thread of its own. */
  async fence(): Promise<Rebuild> {
    const { stock, unrecorded, unpaid, ...others } = this.#key
    const fence = randomUUID()
    // The stock goes first: without its `run` nobody can reserve while the other keys are deleted.
    await this.#redis
      .multi()
      .del(stock)
      .hset(stock, 'fence', fence)
      .unlink(...Object.values(others))
      .exec()
    return new Rebuild(this.#redis, this.#key, fence)
  }
}

export const quotedOf = ({ cart, charge }: Quoted): Quoted => ({ ...(cart && { cart }), ...(charge && { charge }) })

/** Its seats are still to be chosen. */
const isOpen = ({ choice, cart }: Reservation) => choice !== undefined && cart === undefined

const keysToSettle = (key: GateKeys) => KEYS.map((name) => key[name])
const argsOf = (end: HoldEnd) => [end.order, end.visitor, unitsText(end), end.quantity, end.key, end.how]

/** A key's value: see reserve.lua. */
function readKnownKey(value: string): KnownKey {
  const [order = '', hash = ''] = value.split('|')
  return { order, hash }
}

/** The reply of reserve.lua. */
function readVerdicts(
  [letters, ...reply]: readonly (string | number)[],
  products: readonly string[],
  calls: readonly Call[],
): GateVerdict[] {
  const stocks = new Map(
    products.map((product, i) => [product, { available: Number(reply[2 * i]), held: Number(reply[2 * i + 1]) }]),
  )
  let next = 2 * products.length
  return Array.from(String(letters), (letter, i): GateVerdict => {
    if (letter === 'f') return { verdict: 'fenced' }
    const { reservation } = calls[i] as Call
    const stockOf = (product: string) => stocks.get(product) ?? { available: 0, held: 0 }
    const { available, held } = stockOf(partsOf(reservation)[0]?.product ?? '')
    if (letter === 'r') return { verdict: 'reserved', available, held, ...quotedOf(reservation) }
    if (letter === 'n') return { verdict: 'none', available, held }
    const detail = String(reply[next++])
    if (letter === 'u') return { verdict: 'unpaid', unpaid: Number(detail), available, held }
    if (letter === 'e') return { verdict: 'none', unpaid: Number(detail), available, held }
    if (letter === 'k') return { verdict: 'replay', ...readKnownKey(detail), available, held }
    if (letter === 's') return { verdict: 'seat_taken', seats: detail.split(',').map(Number) }
    if (letter === 'm') {
      const [place, unpaid] = detail.split('|').map(Number)
      const product = products[(place ?? 0) - 1] ?? null
      return { verdict: 'none', product, ...(unpaid && { unpaid }), ...stockOf(product ?? '') }
    }
    if (letter === 'o') {
      const [place, units, order = ''] = detail.split('|')
      return { verdict: 'product_limit', product: products[Number(place) - 1] ?? '', units: Number(units), order }
    }
    const [units, order = ''] = detail.split('|')
    return { verdict: 'limit', units: Number(units), order, available, held }
  })
}

/**
 * The rebuild of a gate from the ledger, while it is fenced. Orders that begin and end meanwhile are noted in the gate, and
 * `open` counts the notes that the ledger's counts do not include. Overtaken by another's fence, it changes nothing any more.
 */
export class Rebuild {
  readonly #redis: Store
  readonly #key: GateKeys
  readonly #fence: string

  constructor(redis: Store, key: GateKeys, fence: string) {
    this.#redis = redis
    this.#key = key
    this.#fence = fence
  }

  async restore(orders: readonly LiveOrder[]): Promise<void> {
    const { stock, holds, keys, visitors, seats, limited } = this.#key
    for (let at = 0; at < orders.length; at += REBUILD_CHUNK) {
      const chunk = orders.slice(at, at + REBUILD_CHUNK)
      const args = chunk.flatMap((o) => {
        const cart = cartOf(o.lines)
        const units = cart ? unitsText({ product: '', quantity: 0, cart }) : ''
        return [o.order, o.visitor, o.key, o.hash, o.quantity, o.holdEndsAtMs ?? '', units]
      })
      await this.#redis.restoreOrders(stock, holds, keys, visitors, seats, limited, this.#fence, ...args)
    }
  }

  /**
   * Ends the holds of orders that ended after they were read to be restored and before the counts were read. Orders that
   * end later are counted by their own calls, before the gate opens or after.
   */
  async settle(ends: readonly HoldEnd[]): Promise<void> {
    for (let at = 0; at < ends.length; at += REBUILD_CHUNK) {
      const args = ends.slice(at, at + REBUILD_CHUNK).flatMap(argsOf)
      await this.#redis.settleHolds(keysToSettle(this.#key), this.#fence, ...args)
    }
  }

  /** Marks the seats that operators block. */
  async block(seats: readonly number[]): Promise<void> {
    for (let at = 0; at < seats.length; at += REBUILD_CHUNK) {
      const commands = this.#redis.multi()
      for (const seat of seats.slice(at, at + REBUILD_CHUNK)) commands.setbit(this.#key.seats, seat, 1)
      await commands.exec()
    }
  }

  /** Opens the gate with the ledger's counts; false if another rebuild has begun. */
  async open(counts: readonly ProductStock[]): Promise<boolean> {
    const args = counts.flatMap(({ product, available, held }) => [product, available, held])
    return (await this.#redis.unfenceGate(this.#key.stock, this.#fence, ...args)) === 1
  }
}

/** The fast gates of this process, one per sale. */
export class Gates {
  readonly #redis: Store
  readonly #replicas: Replicas
  readonly #gates = new Map<string, Gate>()

  constructor(redis: Store) {
    this.#redis = redis
    this.#replicas = new Replicas(redis)
  }

  of(saleId: string): Gate {
    let gate = this.#gates.get(saleId)
    if (!gate) {
      gate = new Gate(this.#redis, saleId, this.#replicas)
      this.#gates.set(saleId, gate)
    }
    return gate
  }
}
