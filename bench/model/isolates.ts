/** The edge of the model: isolates in many data centres, and the ticket shards they lease numbers from. */

import { Block, Demand, ISOLATE_LEASE_MS, LEASE_MS, type Lease } from '../../edge/queue/lease.ts'
import { FRESH_MS, MIRROR_MS } from '../../edge/queue/timeline.ts'
import type { Room } from './room.ts'
import { PerSecond, type Scenario, TRIP_MS } from './scenario.ts'

/** The n-th data centre has about 1/n^0.6 of the first one's traffic. */
const SKEW = 0.6
/** Requests a second before another isolate starts. */
const ISOLATE_PER_SECOND = 500

interface Isolate {
  readonly share: number
  readonly demand: Demand
  block: Block | null
  /** The shard of the block. */
  from: number
  /** Until then a request is fetching a block, and others ask for single numbers. */
  askingUntilMs: number
}

export class Edge {
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
      const here = Math.max(1, Math.ceil((peak * share) / ISOLATE_PER_SECOND))
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

  /** Numbers for those who come in this tick. */
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
      isolate.askingUntilMs = nowMs + TRIP_MS
      isolate.from = this.#anyShard()
      const lease = this.#take(isolate.from, isolate.demand.forecast(), nowMs, room)
      isolate.block = lease ? new Block(lease, nowMs, nowMs) : null
      isolate.block?.take(nowMs)
    }
  }

  /** The unused range of a block goes back to its shard. */
  #giveBack(isolate: Isolate, nowMs: number): void {
    const unused = isolate.block?.giveBack()
    isolate.block = null
    if (!unused) return
    this.shardCalls.add(nowMs, 1)
    this.#shards[isolate.from]?.block?.takeBack(unused)
  }

  /** One number by a call of its own. */
  #takeOne(nowMs: number, room: Room, written: boolean): void {
    if (written) this.writes.add(nowMs, 1)
    this.#take(this.#anyShard(), 1, nowMs, room)
  }

  /** One call to a shard, for a lease. */
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

  /** Whole people; a fraction counts by chance. */
  #whole(exact: number): number {
    return Math.floor(exact) + (this.#random() < exact % 1 ? 1 : 0)
  }

  #anyShard(): number {
    return Math.floor(this.#random() * this.#shards.length)
  }

  /** Counts once a second how often isolates that serve anyone, and shards, refresh their copy. */
  listen(nowMs: number, workers: PerSecond, room: Room): void {
    if (nowMs % 1_000 !== 0) return
    const served = workers.at(nowMs - 1_000)
    let refreshes = 0
    // Each data centre's cache fetches the schedule once a second.
    for (const { share } of this.#isolates) refreshes += Math.min(1_000 / FRESH_MS, 1 + served * share)
    this.shardCalls.add(nowMs, refreshes)
    room.calls.add(nowMs, Math.min(refreshes, (this.#shards.length * 1_000) / MIRROR_MS))
  }
}

/** Each data centre's share of the traffic. */
export function sharesOf(dataCentres: number): number[] {
  const weights = Array.from({ length: dataCentres }, (_, i) => 1 / (i + 1) ** SKEW)
  const all = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / all)
}
