/**
 * A sale for the whole internet, on a virtual clock: millions of visitors, hundreds of data centres, thousands of
 * isolates, and between them the real modules that decide: the leases and their demand, the controller, the bulletin, the
 * schedule, the places and when to ask again. What is modelled is only what surrounds them: who comes when and where,
 * how long a call takes, how people buy. A few thousand visitors stand for all when it comes to waiting; joins are
 * counted one by one, because there it matters how they fall on isolates.
 */
import {
  ANNOUNCE_MS,
  announce,
  FRESH_MS,
  inEffect,
  latest,
  MIRROR_MS,
  type Timeline,
} from '../edge/bulletin.ts'
import { LOOK_EVERY_MS, type Memory, NOTHING_SEEN, nextSchedule, observe } from '../edge/controller.ts'
import { Block, Demand, ISOLATE_LEASE_MS, LEASE_MS, type Lease } from '../edge/lease.ts'
import type { SaleState } from '../shared/api.ts'
import { positionOf } from '../shared/draw.ts'
import { placeOf, pollAfterMs, type Schedule, serving } from '../shared/schedule.ts'
import { seeded } from '../test/random.ts'
import { arrivalTimes, leadMs, type Shape } from './arrivals.ts'
import { Wheel } from './wheel.ts'

export interface Scenario {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  /** The busiest second of the rush at the opening, in times the mean second. */
  readonly stampede: number
  readonly dataCentres: number
  readonly shards: number
  /** Requests a second that one isolate is given before another is started. */
  readonly isolatePerSecond: number
  /** Share of visitors who are looked up and recorded, because they are signed in or bring a cookie. */
  readonly known: number
  readonly holdSeconds: number
  readonly abandon: number
  readonly declines: number
  /** From a data centre to an object and back, and for a cache to fetch a document. */
  readonly tripMs: number
  readonly seed: number
}

/** What the platform can take, per object and second (see FACTS: 1,000 from memory, 500 where each writes). */
export const LIMITS = { objectCalls: 1_000, objectWrites: 500 } as const

export interface Outcome {
  readonly seconds: number
  /** From the opening until everything was sold, and until the last was told. */
  readonly soldOutAfterSeconds: number | null
  readonly requests: {
    page: number
    join: number
    claim: number
    checkout: number
    order: number
    final: number
  }
  /** Reads of the public schedule, and how many of them a cache had to fetch. */
  readonly scheduleReads: number
  readonly scheduleMisses: number
  readonly isolates: number
  /** Calls of objects in all, and the busiest second of the coordinator, of the busiest shard, of shard writes. */
  readonly objectCalls: number
  readonly peaks: {
    readonly workerRequests: number
    readonly coordinatorCalls: number
    readonly shardCalls: number
    readonly shardWrites: number
    readonly originCalls: number
  }
  readonly rowsWritten: number
  /** Numbers leased and never given to anyone, over numbers given. */
  readonly gaps: number
  readonly sold: number
}

const TICK_MS = 50
/** Visitors who really wait, for all the others; a hundred thousand would only say the same more slowly. */
const SAMPLE = 20_000
/** Nothing is watched for longer than this after the opening. */
const MAX_SECONDS = 3_600
/** How long a buyer takes to the checkout, and a payment to be through. */
const BROWSE_MS = 1_000
const PAY_MS = 3_000
const FINAL_SPREAD_MS = 10_000
/** Looks at an order until it is settled. */
const ORDER_LOOKS = 3
/** The world's data centres are not equally busy: the n-th has about 1/n^0.6 of the first one's traffic. */
const SKEW = 0.6

export function play(s: Scenario): Outcome {
  const random = seeded(s.seed)
  const spreadMs = s.spreadSeconds * 1000
  // On the grid of ticks, so that what ends does so at one of them.
  const beginMs = -Math.ceil(leadMs(s.arrivals, spreadMs) / 1000) * 1000
  const arrivals = rush(arrivalTimes(s.arrivals, SAMPLE, spreadMs, random), s, random)
  const each = s.visitors / SAMPLE
  const edge = new Edge(s, peakPerSecond(arrivals, each), random)
  const shop = new Shop(s)
  const room = new Room(s, shop)
  const requests = { page: 0, join: 0, claim: 0, checkout: 0, order: 0, final: 0 }
  const workers = new PerSecond()
  const origin = new PerSecond()
  const reads = new PerSecond()
  const numbers = new Float64Array(SAMPLE)
  /** Remembered, since they never change once they are drawn. */
  const positions = new Float64Array(SAMPLE)
  let told = 0
  let nowMs = beginMs
  const count = (kind: keyof typeof requests, many: number) => {
    requests[kind] += many
    workers.add(nowMs, many)
  }
  const read = (visitor: number) => {
    reads.add(nowMs, each)
    // A copy in a cache is up to a second old.
    const schedule = inEffect(room.timeline, nowMs - random() * 1_000)
    const place = placeOf(schedule, numbers[visitor] ?? 1, nowMs, (draw, number) => {
      positions[visitor] ||= positionOf(draw, number)
      return positions[visitor] ?? number
    })
    if (place.status === 'sold_out' || place.status === 'ended') {
      told++
      // A page that is over for all is loaded anew by all, within some seconds of each other.
      requests.final += each
      workers.add(nowMs + random() * FINAL_SPREAD_MS, each)
    } else if (place.status === 'ready' || place.status === 'missed_turn') told++
    else wheel.at(visitor, clock(nowMs + pollAfterMs(place, random())))
  }
  // The wheel's clock begins at 1.
  const clock = (ms: number) => ms - beginMs + 1
  const wheel = new Wheel(SAMPLE, 0, read)
  let next = 0
  let called = 0
  for (; nowMs < MAX_SECONDS * 1000; nowMs += TICK_MS) {
    const from = next
    while (next < SAMPLE && (arrivals[next] ?? 0) < nowMs + TICK_MS) next++
    const over = room.isOver(nowMs)
    const coming = (next - from) * each
    count('page', coming)
    count('join', coming)
    if (over) told += next - from
    else {
      edge.join(coming, nowMs, room)
      for (let visitor = from; visitor < next; visitor++) {
        // Where this one stands among those of the moment.
        numbers[visitor] = Math.max(1, Math.floor(room.highest - random() * Math.max(0, coming - 1)))
        wheel.at(visitor, clock(nowMs + 1_000 + random() * 500))
      }
    }
    edge.listen(nowMs, workers, room)
    room.turn(nowMs)
    const reached = Math.min(room.highest, serving(inEffect(room.timeline, nowMs), nowMs))
    const people = Math.max(0, (reached - called) / (1 + edge.gaps))
    called = Math.max(called, reached)
    count('claim', people)
    const { checkouts, payments } = shop.turn(nowMs, people)
    count('checkout', checkouts)
    count('order', payments * (1 + ORDER_LOOKS))
    origin.add(nowMs, checkouts + payments * (1 + ORDER_LOOKS))
    wheel.run(clock(nowMs))
    if (next === SAMPLE && told === SAMPLE) break
  }
  const misses = missesOf(reads, s)
  return {
    seconds: (nowMs - beginMs) / 1000,
    soldOutAfterSeconds: shop.soldOutAtMs === null ? null : shop.soldOutAtMs / 1000,
    requests,
    scheduleReads: reads.total,
    scheduleMisses: misses,
    isolates: edge.isolates,
    objectCalls: edge.shardCalls.total + room.calls.total,
    peaks: {
      workerRequests: workers.peak,
      coordinatorCalls: room.calls.peak,
      shardCalls: edge.shardCalls.peak / s.shards,
      shardWrites: edge.writes.peak / s.shards,
      originCalls: origin.peak,
    },
    rowsWritten: edge.writes.total + room.writes.total,
    gaps: edge.gaps,
    sold: shop.sold,
  }
}

/** Makes the second after the opening as busy as the stampede says, by calling in those who would have come later. */
function rush(
  times: Float64Array,
  { stampede, spreadSeconds }: Scenario,
  random: () => number,
): Float64Array {
  const wanted = Math.min(times.length, Math.floor((times.length / spreadSeconds) * stampede))
  let there = times.filter((ms) => ms >= 0 && ms < 1_000).length
  for (let i = times.length - 1; i >= 0 && there < wanted; i--) {
    if ((times[i] ?? 0) < 1_000) break
    times[i] = random() * 1_000
    there++
  }
  return times.sort()
}

function peakPerSecond(arrivals: Float64Array, each: number): number {
  let [peak, from] = [0, 0]
  for (let to = 0; to < arrivals.length; to++) {
    while ((arrivals[to] ?? 0) - (arrivals[from] ?? 0) >= 1_000) from++
    peak = Math.max(peak, to - from + 1)
  }
  return peak * each
}

/** Figures by the second: in all, and in the busiest one. */
class PerSecond {
  readonly #seconds = new Map<number, number>()
  total = 0
  add(atMs: number, many: number): void {
    const second = Math.floor(atMs / 1000)
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + many)
    this.total += many
  }
  at(atMs: number): number {
    return this.#seconds.get(Math.floor(atMs / 1000)) ?? 0
  }
  get peak(): number {
    return Math.max(0, ...this.#seconds.values())
  }
  get values(): Iterable<number> {
    return this.#seconds.values()
  }
}

/** Each cache fetches once a second, and for everyone who asks while it fetches: misses are not collapsed. */
function missesOf(reads: PerSecond, { dataCentres, tripMs }: Scenario): number {
  const shares = sharesOf(dataCentres)
  let misses = 0
  for (const perSecond of reads.values) {
    for (const share of shares) {
      const here = perSecond * share
      misses += Math.min(here, 1 + (here * tripMs) / 1000)
    }
  }
  return misses
}

function sharesOf(dataCentres: number): number[] {
  const weights = Array.from({ length: dataCentres }, (_, i) => 1 / (i + 1) ** SKEW)
  const all = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / all)
}

// -- The edge: isolates, shards ------------------------------------------------------------------------------------------

interface Isolate {
  readonly share: number
  readonly demand: Demand
  block: Block | null
  /** The shard it came from. */
  from: number
  /** Until then another request is bringing a block; meanwhile each asks for its own number. */
  askingUntilMs: number
}

class Edge {
  readonly shardCalls = new PerSecond()
  readonly writes = new PerSecond()
  readonly #isolates: Isolate[] = []
  readonly #shards: { block: Block | null; readonly demand: Demand }[]
  readonly #s: Scenario
  readonly #random: () => number
  #given = 0
  #highest = 0

  constructor(s: Scenario, peak: number, random: () => number) {
    this.#s = s
    this.#random = random
    for (const share of sharesOf(s.dataCentres)) {
      const here = Math.max(1, Math.ceil((peak * share) / s.isolatePerSecond))
      for (let i = 0; i < here; i++)
        this.#isolates.push({
          share: share / here,
          demand: new Demand(ISOLATE_LEASE_MS),
          block: null,
          from: 0,
          askingUntilMs: 0,
        })
    }
    this.#shards = Array.from({ length: s.shards }, () => ({ block: null, demand: new Demand(LEASE_MS) }))
  }

  get isolates(): number {
    return this.#isolates.length
  }

  get gaps(): number {
    return this.#given === 0 ? 0 : Math.max(0, this.#highest - this.#given) / this.#given
  }

  /** Numbers for those who come in this tick, wherever they are. */
  join(coming: number, nowMs: number, room: Room): void {
    for (const isolate of this.#isolates) {
      const here = this.#whole(coming * isolate.share)
      if (here === 0) continue
      const known = this.#whole(here * this.#s.known)
      for (let k = 0; k < known; k++) this.#takeOne(nowMs, room, true)
      this.#anonymous(isolate, here - known, nowMs, room)
      this.#given += here
    }
    this.#highest = room.highest
  }

  #anonymous(isolate: Isolate, people: number, nowMs: number, room: Room): void {
    for (let left = people; left > 0; left--) {
      isolate.demand.add(1, nowMs)
      if (isolate.block?.take(nowMs)) continue
      this.#giveBack(isolate, nowMs)
      if (isolate.askingUntilMs > nowMs) {
        this.#takeOne(nowMs, room, false)
        continue
      }
      isolate.askingUntilMs = nowMs + this.#s.tripMs
      isolate.from = this.#anyShard()
      const lease = this.#take(isolate.from, isolate.demand.forecast(), nowMs, room)
      isolate.block = lease ? new Block(lease, nowMs, nowMs) : null
      isolate.block?.take(nowMs)
    }
  }

  /** What is left of a block when it ends goes back to its shard. */
  #giveBack(isolate: Isolate, nowMs: number): void {
    const rest = isolate.block?.giveBack()
    isolate.block = null
    if (!rest) return
    this.shardCalls.add(nowMs, 1)
    this.#shards[isolate.from]?.block?.takeBack(rest)
  }

  /** A number for one visitor, by a call of its own. */
  #takeOne(nowMs: number, room: Room, written: boolean): void {
    if (written) this.writes.add(nowMs, 1)
    this.#take(this.#anyShard(), 1, nowMs, room)
  }

  /** One call of a shard, for a lease of so many numbers. */
  #take(index: number, count: number, nowMs: number, room: Room): Lease | null {
    this.shardCalls.add(nowMs, 1)
    const shard = this.#shards[index]
    if (!shard) return null
    shard.demand.add(count, nowMs)
    const lease = shard.block?.sublease(count, nowMs)
    if (lease) return lease
    shard.block = room.lease(Math.max(count, shard.demand.forecast()), nowMs)
    return shard.block.sublease(count, nowMs)
  }

  /** Whole people, the rest by chance: a tick's worth at a small data centre is less than one. */
  #whole(exact: number): number {
    return Math.floor(exact) + (this.#random() < exact % 1 ? 1 : 0)
  }

  #anyShard(): number {
    return Math.floor(this.#random() * this.#shards.length)
  }

  /** Isolates that serve anyone keep their copy young, and shards keep theirs: once a second it is counted how often. */
  listen(nowMs: number, workers: PerSecond, room: Room): void {
    if (nowMs % 1_000 !== 0) return
    const served = workers.at(nowMs - 1_000)
    let looks = 0
    // Beside its visitors each data centre's cache comes for the schedule once a second.
    for (const { share } of this.#isolates) looks += Math.min(1_000 / FRESH_MS, 1 + served * share)
    this.shardCalls.add(nowMs, looks)
    room.calls.add(nowMs, Math.min(looks, (this.#shards.length * 1_000) / MIRROR_MS))
  }
}

// -- The coordinator, with the real controller ---------------------------------------------------------------------------

class Room {
  readonly calls = new PerSecond()
  readonly writes = new PerSecond()
  timeline: Timeline
  #next = 1
  #memory: Memory = { ...NOTHING_SEEN, reached_at_ms: Number.MIN_SAFE_INTEGER }
  #size: number | null = null
  #lookedAtMs = Number.NEGATIVE_INFINITY
  readonly #s: Scenario
  readonly #shop: Shop

  constructor(s: Scenario, shop: Shop) {
    this.#s = s
    this.#shop = shop
    this.timeline = [{ from_ms: Number.NEGATIVE_INFINITY, schedule: lobby(s) }]
  }

  get highest(): number {
    return this.#next - 1
  }

  lease(count: number, nowMs: number): Block {
    this.calls.add(nowMs, 1)
    this.writes.add(nowMs, 1)
    const first = this.#next
    this.#next += count
    return new Block({ first, count, lives_ms: LEASE_MS, lapses_in_ms: null }, nowMs, nowMs)
  }

  isOver(nowMs: number): boolean {
    return inEffect(this.timeline, nowMs).phase === 'sold_out'
  }

  /** Looks at the origin once a second, and announces what follows from it. */
  turn(nowMs: number): void {
    if (nowMs < 0 || nowMs - this.#lookedAtMs < LOOK_EVERY_MS) return
    this.#lookedAtMs = nowMs
    this.writes.add(nowMs, 1)
    this.#size ??= this.highest
    const state = stateOf(this.#s, this.#shop)
    const before = inEffect(this.timeline, nowMs)
    this.#memory = observe(
      this.#memory,
      { nowMs, state, schedule: before, highestNumber: this.highest },
      SETTINGS,
    )
    const previous = latest(this.timeline)
    const fromMs = Math.max(nowMs + ANNOUNCE_MS, Number.isFinite(previous.from_ms) ? previous.from_ms : 0)
    const schedule = nextSchedule(
      {
        nowMs,
        fromMs,
        previous: previous.schedule,
        state,
        memory: this.#memory,
        highestNumber: this.highest,
        preQueueOpensAtMs: Number.MIN_SAFE_INTEGER,
        opensAtMs: 0,
        draw: { size: this.#size, seed: SEED, beacon: null },
      },
      SETTINGS,
    )
    if (schedule !== previous.schedule)
      this.timeline = announce(this.timeline, { from_ms: fromMs, schedule }, nowMs)
  }
}

/** The Worker's defaults. */
const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 2, noShowBoost: 2 }
const SEED = '5e'.repeat(32)

function lobby(s: Scenario): Schedule {
  return {
    sale: 'model',
    version: 1,
    phase: 'pre_queue',
    anchor_at_ms: 0,
    anchor_position: 0,
    rate_per_second: s.rate,
    ceiling: 0,
    missed_through: 0,
    pre_queue_size: 0,
    draw_commitment: SEED,
    draw_seed: null,
    draw_beacon: null,
    pre_queue_opens_at: new Date(0).toISOString(),
    opens_at: new Date(0).toISOString(),
    ends_at: null,
    server_time_ms: 0,
  }
}

function stateOf(s: Scenario, shop: Shop): SaleState {
  const { available, held, sold } = shop
  return {
    sale: 'model',
    name: 'Model',
    phase: available > 0 ? 'open' : held > 0 ? 'all_in_carts' : 'sold_out',
    pre_queue_opens_at: null,
    pre_queue_opens_in_ms: -1,
    opens_at: new Date(0).toISOString(),
    opens_in_ms: -1,
    ends_at: null,
    ends_in_ms: null,
    hold_seconds: s.holdSeconds,
    limit_per_visitor: 1,
    products: [
      {
        product_id: 'unit',
        name: 'Unit',
        unit_price_minor: 1,
        currency: 'EUR',
        total: s.stock,
        available,
        held,
        sold,
      },
    ],
    admission: { rate_per_second: s.rate, max_inside: null },
    arrivals: Math.floor(shop.arrivals),
    hopeful: 0,
    health: 'ok',
  }
}

// -- The shop: people who come in, take a unit, and pay or do not --------------------------------------------------------

class Shop {
  available: number
  held = 0
  sold = 0
  arrivals = 0
  soldOutAtMs: number | null = null
  readonly #s: Scenario
  /** People on their way to the checkout, carts that come back, carts that are paid; by when. */
  readonly #coming: { atMs: number; people: number }[] = []
  readonly #ends = new Map<number, { paid: number; back: number }>()
  /** A whole unit at a time: what a tick brings in fractions is owed to the next. */
  #owed = 0

  constructor(s: Scenario) {
    this.#s = s
    this.available = s.stock
  }

  turn(nowMs: number, admitted: number): { checkouts: number; payments: number } {
    if (admitted > 0) this.#coming.push({ atMs: nowMs + BROWSE_MS, people: admitted })
    let checkouts = 0
    while ((this.#coming[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs)
      checkouts += this.#coming.shift()?.people ?? 0
    this.arrivals += checkouts
    this.#owed += checkouts
    const taken = Math.min(this.available, Math.floor(this.#owed))
    this.#owed -= Math.floor(this.#owed)
    const left = Math.round(taken * this.#s.abandon)
    const declined = Math.round(taken * this.#s.declines)
    const paid = taken - left - declined
    if (taken > 0) {
      this.available -= taken
      this.held += taken
      this.#ending(nowMs + PAY_MS, paid, declined)
      this.#ending(nowMs + this.#s.holdSeconds * 1000, 0, left)
    }
    const ending = this.#ends.get(nowMs)
    if (ending) {
      this.#ends.delete(nowMs)
      this.held -= ending.paid + ending.back
      this.sold += ending.paid
      this.available += ending.back
    }
    if (this.soldOutAtMs === null && this.sold === this.#s.stock) this.soldOutAtMs = nowMs
    return { checkouts, payments: paid + declined }
  }

  #ending(atMs: number, paid: number, back: number): void {
    const there = this.#ends.get(atMs) ?? { paid: 0, back: 0 }
    this.#ends.set(atMs, { paid: there.paid + paid, back: there.back + back })
  }
}
