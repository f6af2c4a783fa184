/**
 * The fast gate of one sale: the stock of its products in Redis, behind a few scripts. Redis may be wrong, after a
 * failover for instance: then the gate is fenced, and says so. It is asked first, and the ledger decides. Its keys
 * share one hash tag and so one node: a script decides for several products, and a Cluster spreads sales.
 */

import { ReplyError } from 'ioredis'
import { assertExists } from '../../../shared/lib/assert.ts'
import type { Problem } from '../../../shared/problem.ts'
import { isPromoCode, type Units, unitsText } from '../../ledger/cart.ts'
import { Batcher } from '../../lib/batcher.ts'
import { machine, type Runtime } from '../../lib/runtime.ts'
import { traced } from '../../lib/tracing.ts'
import type { PerSale, SaleMemory } from '../../sales/sale-memory.ts'
import { type CartChoice, type CheckoutReservation, chooseQuoted, isNamed } from '../../seats/cart-choice.ts'
import { Free } from '../../seats/free.ts'
import { Offers } from '../../seats/offers.ts'
import { KeptSeats } from '../../seats/precedence.ts'
import { Intents, storedDetails } from '../intents.ts'
import { Replicas } from '../replicas.ts'
import type { Store } from '../scripts.ts'
import { type GateKeys, gateKeys, keyList } from './gate-keys.ts'
import { type GateReading, readGate, readStock } from './gate-reading.ts'
import { type GivenBack, giveBack, type HoldEnd, settleHolds } from './hold-ends.ts'
import { Rebuild } from './rebuild.ts'
import type { SeatChange } from './seat-change.ts'
import { type GateVerdict, type KnownKey, readKnownKey, readVerdicts, type Stock } from './verdicts.ts'

/** Callers in one script call. More would block Redis for longer than a millisecond. */
const RESERVE_BATCH = 128
/** Callers waiting for the script; more get try-again. */
const MAX_WAITING = 5_000
const POSTPONE_MS = 5_000
/** Keys remembered per visitor besides those of their orders. People send a few, and Redis stores each. */
const MAX_REMEMBERED = 20
/** Seats are chosen again where another process took them meanwhile; each time somebody has got some. */
const CHOICES = 10
/** A gate that no worker has compared for this long belongs to a sale that is over, and is deleted. */
const GATE_TTL_MS = 24 * 3_600_000
const ANSWERED = 'Each call of a batch has one verdict.'
const KEPT = 'Each call of a batch has a number of seats kept from it.'
/** A limit above the number of units of any visitor. */
const UNLIMITED = 1_000_000_000

/** The sale's terms, the same for all callers of one script call. */
interface Terms {
  readonly holdMs: number
  readonly limit: number
  /** How many units those may buy who come before a visitor with one, two, .. or more unpaid orders. */
  readonly demand: readonly number[]
  /** How many others want a use of a promo code alone. */
  readonly demandForUses?: number
  /** How many units of a product a visitor may have, for products with such a limit. */
  readonly limits?: Readonly<Record<string, number>>
  /** The variants that share the limit of their product, by each of them. */
  readonly variants?: Readonly<Record<string, readonly string[]>>
}

type Adopted = Units & Pick<CheckoutReservation, 'order' | 'visitor' | 'key' | 'hash'>

interface Call {
  readonly reservation: CheckoutReservation
  readonly terms: Terms
}

/** With the seats chosen for it. */
interface ChosenCall extends Call {
  readonly pricedOut?: Problem
  /** Every seat that it could have is kept for others, who come first. */
  readonly comesLast?: boolean
}

export class Gate {
  readonly #redis: Store
  readonly #key: GateKeys
  readonly #calls: Batcher<Call, GateVerdict>
  /** What was free when seats were chosen last: the next time only what has changed is measured. */
  readonly #frees = new WeakMap<CartChoice['chart'], Free>()
  /** The reservations that wait to be recorded. */
  readonly intents: Intents
  readonly offers: Offers
  readonly #runtime: Runtime

  constructor(redis: Store, saleId: string, runtime = machine, replicas = new Replicas(redis, runtime)) {
    this.#redis = redis
    this.#key = gateKeys(saleId)
    this.intents = new Intents(redis, replicas, saleId, this.#key.unrecorded, runtime)
    this.offers = new Offers(() => this.seats(), runtime)
    this.#runtime = runtime
    this.#calls = new Batcher({ size: RESERVE_BATCH, queue: MAX_WAITING }, (calls) => this.#reserveAll(calls), runtime)
  }

  /** Takes units, if there are any. Fails with Overloaded when too many wait; while Redis is away, it is fenced. */
  reserve(reservation: CheckoutReservation, terms: Terms): Promise<GateVerdict> {
    return reservation.isBoxOffice
      ? this.#reserveUnlimited(reservation, terms)
      : this.#calls.add({ reservation, terms })
  }

  /** For the box office, in a call of its own: the callers of a batch share their terms. */
  async #reserveUnlimited(reservation: CheckoutReservation, { holdMs }: Terms): Promise<GateVerdict> {
    const [verdict] = await this.#reserve([{ reservation, terms: { holdMs, limit: UNLIMITED, demand: [] } }])
    return assertExists(verdict, ANSWERED)
  }

  /** Reserves for a whole batch: calls with equal terms together, because the sale may change during a batch. */
  async #reserveAll(calls: readonly Call[]): Promise<GateVerdict[]> {
    const verdicts: GateVerdict[] = []
    for (const group of byTerms(calls)) verdicts.push(...(await this.#reserve(group)))
    return verdicts
  }

  async #reserve(calls: readonly Call[]): Promise<GateVerdict[]> {
    const kept = await this.#keptFrom(calls)
    return kept.some((seats) => seats > 0) || calls.some(({ reservation }) => isOpen(reservation))
      ? this.#choose(calls, kept)
      : this.#take(calls)
  }

  /**
   * How many of the best seats are kept from each caller for those who come first: whoever has let orders fail
   * chooses after them.
   */
  async #keptFrom(calls: readonly Call[]): Promise<number[]> {
    const none = calls.map(() => 0)
    const isCompeted = calls.some(
      ({ reservation, terms }) => reservation.choice && terms.demand.some((units) => units > 0),
    )
    if (!isCompeted || this.#redis.status !== 'ready') return none
    const visitors = calls.map(({ reservation }) => reservation.visitor)
    const unpaid = await this.#redis.hmget(this.#key.unpaid, ...visitors).catch(() => none)
    // Redis has nothing (null) for a visitor without failed orders: zero, as a number.
    const failed = unpaid.map(Number)
    return calls.map(({ reservation, terms: { demand } }, i) =>
      reservation.choice ? unitsAhead(demand, assertExists(failed[i], 'Redis answers for each visitor.')) : 0,
    )
  }

  /**
   * Chooses seats for those who leave the choice to the system, from what is free now, and takes them. Where another
   * process was faster it chooses again; so it does for those for whom nothing was left while others of this batch
   * got nothing after all. `kept`: how many of the best seats each caller leaves to others.
   */
  async #choose(calls: readonly Call[], kept: readonly number[]): Promise<GateVerdict[]> {
    const verdicts: GateVerdict[] = []
    let open = [...calls.entries()]
    for (let round = 1; open.length > 0; round++) {
      const taken = await this.#takenSeats()
      if (!taken) return calls.map((_, i) => verdicts[i] ?? { verdict: 'fenced' })
      const halls = new Map<CartChoice['chart'], { readonly free: Free; readonly others: KeptSeats }>()
      const hallOf = (chart: CartChoice['chart']) => {
        const free = this.#free(chart, taken)
        return { free, others: new KeptSeats(chart, free) }
      }
      const chosenFor = ([i, call]: readonly [number, Call]): ChosenCall => {
        const { reservation } = call
        const { choice, quote, cart } = reservation
        const keeps = assertExists(kept[i], KEPT)
        if (!choice || (!isOpen(reservation) && keeps === 0)) return call
        const { free, others } = halls.get(choice.chart) ?? hallOf(choice.chart)
        halls.set(choice.chart, { free, others })
        others.keep(keeps)
        if (cart) {
          const isKept = cart.some(({ seats }) => seats?.some((seat) => others.has(seat)))
          return isKept ? { ...call, reservation: { ...reservation, cart: [] }, comesLast: true } : call
        }
        const quoted = chooseQuoted(choice, quote, free)
        if ('type' in quoted) return { ...call, pricedOut: quoted }
        const comesLast = keeps > 0 && quoted.cart?.length === 0 && !others.isEmpty
        return { ...call, reservation: { ...reservation, ...quoted }, ...(comesLast && { comesLast }) }
      }
      const asked: ChosenCall[] = []
      // The calls for whom fewer seats are kept choose first, so that the others still have the seats kept for them.
      const inTurn = [...open.entries()].sort(
        ([, [a]], [, [b]]) => assertExists(kept[a], KEPT) - assertExists(kept[b], KEPT),
      )
      for (const [k, one] of inTurn) asked[k] = chosenFor(one)
      const results = await this.#takeChosen(asked)
      const isFree = asked.some(({ reservation: { cart } }, k) => cart?.length && results[k]?.verdict !== 'reserved')
      const again = open.filter(([, { reservation }], k) => {
        const result = results[k]
        if (!reservation.choice || !isOpen(reservation) || !result || round === CHOICES) return false
        if (result.verdict === 'seat_taken') return !result.seats.some(isNamed(reservation.choice))
        return result.verdict === 'none' && asked[k]?.reservation.cart?.length === 0 && isFree
      })
      for (const [k, [i]] of open.entries()) verdicts[i] = assertExists(results[k], ANSWERED)
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
    return calls.map(({ pricedOut: problem, comesLast }): GateVerdict => {
      if (problem) return { verdict: 'priced_out', problem }
      const verdict = assertExists(verdicts.next().value, ANSWERED)
      return comesLast && verdict.verdict === 'none' ? { unpaid: 1, ...verdict, verdict: 'unpaid' } : verdict
    })
  }

  async #take(calls: readonly Call[]): Promise<GateVerdict[]> {
    const { holdMs, limit, demand, limits = {}, variants = {} } = assertExists(calls[0], 'A batch has a call.').terms
    // The calls that use codes bring this demand, as they bring the limits of their codes; others have none.
    const demandForUses = Math.max(...calls.map(({ terms: { demandForUses = 0 } }) => demandForUses))
    const products = [
      ...new Set(calls.flatMap(({ reservation: r }) => (r.cart ? r.cart.map(({ product }) => product) : r.product))),
    ]
    const placeOf = new Map(products.map((product, i) => [product, i + 1]))
    const args = [
      ...keyList(this.#key),
      holdMs,
      limit,
      `${demand.join(' ')}|${demandForUses}`,
      products.length,
      ...products,
    ]
    // The limits of promo codes come with the calls that use them.
    const limitOf = (product: string) =>
      isPromoCode(product)
        ? calls.find(({ terms }) => terms.limits?.[product])?.terms.limits?.[product]
        : limits[product]
    for (const product of products) {
      const most = limitOf(product)
      const { [product]: alike = [product] } = variants
      const others = alike.filter((variant) => variant !== product)
      args.push(most === undefined ? '' : [most, ...others].join(' '))
    }
    for (const { reservation: r } of calls) {
      const { networks = '' } = r
      const units = r.cart
        ? unitsText(r)
        : assertExists(placeOf.get(r.product), 'A batch lists the product of each call.')
      args.push(r.order, r.visitor, r.key, r.hash, units, r.quantity, storedDetails(r), networks)
    }
    const isSent = this.#redis.status === 'ready'
    let reply: (string | number)[]
    try {
      const reserving = () => this.#redis.reserveUnits(args)
      reply = await traced('reserve in gate', reserving, { 'batch.size': calls.length })
    } catch (error) {
      // An error reply of Redis means that the script changed nothing.
      const verdict = isSent && !(error instanceof ReplyError) ? 'unknown' : 'fenced'
      return calls.map(() => ({ verdict }))
    }
    if (reply[0] === 'fenced') return calls.map(() => ({ verdict: 'fenced' }))
    return readVerdicts(reply, products, calls)
  }

  /** The order behind a key, also while the gate is fenced; undefined if it is not known, or Redis does not answer. */
  async findKey({ visitor, key }: CheckoutReservation): Promise<KnownKey | undefined> {
    const known = await this.#redis.hget(this.#key.keys, `${visitor} ${key}`).catch(() => null)
    return known === null ? undefined : readKnownKey(known)
  }

  /** Remembers that a key was answered with an order of another key. A rebuild forgets it: the ledger does not know. */
  async rememberKey({ visitor, key, hash }: CheckoutReservation, order: string): Promise<void> {
    await this.#redis.rememberKey(this.#key.keys, visitor, key, `${order}|${hash}`, MAX_REMEMBERED)
  }

  /** Takes in an order that was recorded without this gate. */
  async adopt(reservation: Adopted, holdEndsAtMs: number): Promise<void> {
    const { stock, holds, keys, visitors, seats, limited, claims } = this.#key
    const { order, visitor, key, hash, quantity } = reservation
    const args = [order, visitor, key, hash, unitsText(reservation), quantity, holdEndsAtMs]
    await this.#redis.adoptOrder(stock, holds, keys, visitors, seats, limited, claims, ...args)
  }

  /** Learns what an operator has changed of seats. If this is lost, the reconciler finds the difference. */
  async changeSeats({ section, version, visitor = '', freed, taken, stock }: SeatChange): Promise<void> {
    const { stock: counters, seats, claims, limited } = this.#key
    const units = stock.flatMap(({ product, available, held }) => [product, available, held])
    const args = [section, version, visitor, freed.join(), taken.join(), ...units]
    await this.#redis.changeSeats(counters, seats, claims, limited, ...args)
  }

  /** Ends holds, each once; returns how many it ended. */
  settle(ends: readonly HoldEnd[]): Promise<number> {
    if (ends.length === 0) return Promise.resolve(0)
    return settleHolds(this.#redis, this.#key, ends)
  }

  /** Gives back what was reserved, unless somebody else knows of its intent: see intents.ts. */
  giveBack(reservation: CheckoutReservation): Promise<GivenBack> {
    return giveBack(this.#redis, this.#key, reservation)
  }

  /** Takes in what the ledger knows of a visitor: a rebuild keeps these, a Redis that came back empty has lost them. */
  async learnUnpaid(visitor: string, orders: number): Promise<void> {
    await this.#redis.learnUnpaid(this.#key.unpaid, visitor, orders)
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
    return reply && readStock(reply)
  }

  /** All of the gate at one moment, for a comparison; null while it is fenced. */
  read(): Promise<GateReading | null> {
    return readGate(this.#redis, this.#key, this.intents)
  }

  /** True if the gate is in use for all of these products. */
  async isOpen(products: readonly string[]): Promise<boolean> {
    const stock = await this.stock()
    return stock !== null && products.every((product) => stock.has(product))
  }

  /**
   * Extends the gate's life by GATE_TTL_MS. The counters expire first, which fences the gate. Intents never expire:
   * each was promised to a buyer.
   */
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

  /**
   * Takes the gate out of use and deletes its data, except the intents. Redis frees the data of a million orders in a
   * thread of its own.
   */
  async fence(): Promise<Rebuild> {
    const { stock, unrecorded, unpaid, ...others } = this.#key
    const fence = this.#runtime.uuid()
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

/** The calls in their order, cut wherever the next call has other terms. */
export function byTerms<C extends { readonly terms: Terms }>(calls: readonly C[]): C[][] {
  const groups: C[][] = []
  let last: Terms | undefined
  for (const call of calls) {
    if (last && areSame(last, call.terms)) groups.at(-1)?.push(call)
    else groups.push([call])
    last = call.terms
  }
  return groups
}

/** Demand is the same for all calls of a moment. The limits by product come from one sale, as the variants do. */
const areSame = (a: Terms, b: Terms) => a.holdMs === b.holdMs && a.limit === b.limit && a.variants === b.variants

/** How many units others may buy before a visitor with so many failed orders. Without demand nobody else waits. */
function unitsAhead(demand: readonly number[], failed: number): number {
  if (failed === 0 || demand.length === 0) return 0
  return assertExists(demand[Math.min(failed, demand.length) - 1], 'The last demand counts for more failed orders too.')
}

/** True if the seats of the reservation are still to be chosen. */
const isOpen = ({ choice, cart }: CheckoutReservation) => choice !== undefined && cart === undefined

/** The fast gates of this process, one per sale. */
export class Gates {
  readonly #redis: Store
  readonly #replicas: Replicas
  readonly #gates: PerSale<Gate>
  readonly #runtime: Runtime

  constructor(redis: Store, memory: SaleMemory, runtime = machine) {
    this.#redis = redis
    this.#runtime = runtime
    this.#gates = memory.map('gates')
    this.#replicas = new Replicas(redis, runtime)
  }

  of(saleId: string): Gate {
    return this.#gates.getOrAdd(saleId, () => new Gate(this.#redis, saleId, this.#runtime, this.#replicas))
  }
}
