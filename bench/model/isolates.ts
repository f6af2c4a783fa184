/**
 * The edge in the model: isolates in many data centres, and the objects from which they lease numbers and read
 * snapshots.
 */
import {
  Block,
  Demand,
  HUB_LEASE_MS,
  IsolateDemand,
  LEASE_MS,
  type Lease,
  type UnusedRange,
} from '../../edge/queue/numbers/lease.ts'
import { hubsOf, mirrorsOf } from '../../edge/queue/numbers/tree.ts'
import { FRESH_MS, MIRROR_MS } from '../../edge/queue/timeline.ts'
import { poisson } from '../../shared/lib/random.ts'
import { Loads, type PerSecond, type Scenario, TRIP_MS } from './scenario.ts'

/** The n-th data centre has about 1/n^0.6 of the first one's traffic. */
const SKEW = 0.6
/** The number of requests per second at which another isolate starts. */
const ISOLATE_PER_SECOND = 500
/**
 * An idle shard returns its unused numbers this long after its lease has ended; a busy one returns them with its next
 * request.
 */
const RETURN_MS = 75

/**
 * A source of leases: the room, or a hub. `isShared` means that another call of the same caller in this tick brings
 * these numbers too.
 */
interface Upstream {
  lease(count: number, forMs: number, unused: UnusedRange | null, nowMs: number, isShared: boolean): Lease
  takeBack(unused: UnusedRange, nowMs: number): void
}

/** A shard or a hub, which leases from another source and leases on. */
class Source implements Upstream {
  readonly #demand = new Demand(LEASE_MS)
  readonly #upstream: Upstream
  readonly #livesMs: number
  readonly #called: (nowMs: number) => void
  #block: Block | null = null
  #leasedAtMs = Number.NEGATIVE_INFINITY

  constructor(upstream: Upstream, livesMs: number, called: (nowMs: number) => void) {
    this.#upstream = upstream
    this.#livesMs = livesMs
    this.#called = called
  }

  lease(count: number, forMs: number, unused: UnusedRange | null, nowMs: number, isShared = false): Lease {
    if (!isShared) this.#called(nowMs)
    if (unused) this.#block?.takeBack(unused)
    const lease = this.#block?.sublease(count, forMs, nowMs) ?? this.#renew(count, nowMs).sublease(count, forMs, nowMs)
    if (!lease) throw new Error('a lease without a number')
    this.#demand.add(lease.count, nowMs)
    return lease
  }

  takeBack(unused: UnusedRange, nowMs: number): void {
    this.#called(nowMs)
    this.#block?.takeBack(unused)
  }

  #renew(count: number, nowMs: number): Block {
    // While a request is in progress all others wait, and the next one asks for all of them (ticket-shard.ts).
    const isShared = nowMs === this.#leasedAtMs
    let unused = this.#block?.giveBack() ?? null
    if (unused && nowMs - this.#leasedAtMs > this.#livesMs + RETURN_MS) {
      this.#upstream.takeBack(unused, nowMs)
      unused = null
    }
    this.#leasedAtMs = nowMs
    this.#block = new Block(
      this.#upstream.lease(Math.max(count, this.#demand.forecast(nowMs)), this.#livesMs, unused, nowMs, isShared),
      nowMs,
      nowMs,
    )
    return this.#block
  }
}

interface Isolate {
  readonly share: number
  readonly demand: IsolateDemand
  /** The shard of an isolate never changes. */
  readonly shard: Source
  block: Block | null
  /** A pending lease, and the visitors who wait for a number. */
  coming: { readonly lease: Lease; readonly atMs: number } | null
  waiting: number
}

export class Edge {
  readonly writes: Loads
  readonly shardCalls: Loads
  readonly hubCalls: Loads
  readonly mirrorCalls: Loads
  readonly #isolates: Isolate[] = []
  readonly #shards: readonly Source[]
  readonly #s: Scenario
  readonly #random: () => number
  readonly #room: Upstream & { readonly highest: number }
  #given = 0

  constructor(s: Scenario, room: Upstream & { readonly highest: number }, peak: number, random: () => number) {
    this.#s = s
    this.#room = room
    this.#random = random
    const hubs = hubsOf(s.shards)
    this.writes = new Loads(s.shards)
    this.shardCalls = new Loads(s.shards)
    this.hubCalls = new Loads(hubs)
    this.mirrorCalls = hubs > 0 ? new Loads(mirrorsOf(s.shards)) : this.shardCalls
    const sources = (count: number, livesMs: number, calls: Loads, upstream: (index: number) => Upstream) =>
      Array.from({ length: count }, (_, i) => new Source(upstream(i), livesMs, (nowMs) => calls.add(i, nowMs)))
    const byHub = sources(hubs, HUB_LEASE_MS, this.hubCalls, () => room)
    this.#shards = sources(s.shards, LEASE_MS, this.shardCalls, (i) => byHub[i % hubs] ?? room)
    for (const share of sharesOf(s.dataCentres)) {
      const needed = s.isolates === null ? (peak * share) / ISOLATE_PER_SECOND : s.isolates * share
      const here = Math.max(1, s.isolates === null ? Math.ceil(needed) : Math.floor(needed))
      for (let i = 0; i < here; i++)
        this.#isolates.push({
          share: share / here,
          demand: new IsolateDemand(),
          shard: this.#anyShard().shard,
          block: null,
          coming: null,
          waiting: 0,
        })
    }
  }

  get isolates(): number {
    return this.#isolates.length
  }

  /** The number of the queue's objects, with its waiting room. */
  get objects(): number {
    const { shards } = this.#s
    return 1 + shards + (hubsOf(shards) > 0 ? hubsOf(shards) + mirrorsOf(shards) : 0)
  }

  get calls(): number {
    const { shardCalls, hubCalls, mirrorCalls } = this
    return shardCalls.total + hubCalls.total + (mirrorCalls === shardCalls ? 0 : mirrorCalls.total)
  }

  get gaps(): number {
    return this.#given === 0 ? 0 : Math.max(0, this.#room.highest - this.#given) / this.#given
  }

  /** Issues numbers to the visitors who come in this tick. */
  join(coming: number, nowMs: number): void {
    for (const isolate of this.#isolates) {
      const mean = coming * isolate.share
      const known = poisson(mean * this.#s.known, this.#random)
      for (let k = 0; k < known; k++) this.#record(nowMs)
      this.#given += known
      this.#serve(isolate, poisson(mean * (1 - this.#s.known), this.#random), nowMs)
    }
  }

  #record(nowMs: number): void {
    const { shard, index } = this.#anyShard()
    this.writes.add(index, nowMs)
    shard.lease(1, LEASE_MS, null, nowMs)
  }

  /** One request leases numbers for all who wait. */
  #serve(isolate: Isolate, people: number, nowMs: number): void {
    const { demand, shard } = isolate
    if (people > 0) demand.add(people, nowMs)
    isolate.waiting += people
    const { coming } = isolate
    if (coming && coming.atMs <= nowMs) {
      isolate.block = new Block(coming.lease, nowMs, nowMs)
      isolate.coming = null
    }
    for (; isolate.waiting > 0 && isolate.block?.take(nowMs); isolate.waiting--) this.#given++
    if (isolate.block?.left(nowMs) === 0) {
      const unused = isolate.block.giveBack()
      if (unused) shard.takeBack(unused, nowMs)
      isolate.block = null
    }
    if (isolate.waiting === 0 || isolate.coming) return
    const { count, for_ms } = demand.lease(isolate.waiting, TRIP_MS, nowMs)
    isolate.coming = { lease: shard.lease(count, for_ms, null, nowMs), atMs: nowMs + TRIP_MS }
  }

  #anyShard(): { shard: Source; index: number } {
    const index = Math.floor(this.#random() * this.#s.shards)
    const shard = this.#shards[index]
    if (!shard) throw new Error('no shards')
    return { shard, index }
  }

  /** Counts once a second how often active isolates, and mirrors, refresh their copy. */
  listen(nowMs: number, workers: PerSecond, roomCalls: Loads): void {
    if (nowMs % 1_000 !== 0) return
    const served = workers.at(nowMs - 1_000)
    // A copy already has an age when it arrives.
    const most = 1_000 / (FRESH_MS - MIRROR_MS / 2)
    const mirrors = mirrorsOf(this.#s.shards)
    let refreshes = 0
    // Each data centre's cache fetches the schedule once a second.
    for (const { share } of this.#isolates) refreshes += Math.min(most, 1 + served * share)
    for (let i = 0; i < mirrors; i++) {
      this.mirrorCalls.add(i, nowMs, refreshes / mirrors)
      roomCalls.add(0, nowMs, Math.min(refreshes / mirrors, 1_000 / MIRROR_MS))
    }
  }
}

/** The share of each data centre in the traffic. */
function sharesOf(dataCentres: number): number[] {
  const weights = Array.from({ length: dataCentres }, (_, i) => 1 / (i + 1) ** SKEW)
  const all = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / all)
}

/**
 * Workers Cache has an upper tier of a few data centres, which all others query before the Worker runs, once for all
 * concurrent requests. Their number is not public; this is an estimate.
 */
const UPPER_TIERS = 10

/** The number of spellings of Accept-Language in a large crowd, each of which is a separate variant. */
export const PAGE_VARIANTS = 300

/**
 * The number of Worker runs behind Workers Cache: at each upper tier one for each variant while a response is stored.
 */
export function runsOf(requests: PerSecond, keptSeconds: number, variants: number): number {
  let runs = UPPER_TIERS * variants
  for (const perSecond of requests.values)
    for (const share of sharesOf(UPPER_TIERS)) runs += Math.min(perSecond * share, variants / keptSeconds)
  return Math.min(runs, requests.total)
}

/** The misses of another CDN: each data centre fetches once a second, and again for every concurrent request. */
export function missesOf(reads: PerSecond, { dataCentres }: Scenario): number {
  const shares = sharesOf(dataCentres)
  let misses = 0
  for (const perSecond of reads.values) {
    for (const share of shares) {
      const here = perSecond * share
      misses += Math.min(here, 1 + (here * TRIP_MS) / 1000)
    }
  }
  return misses
}
