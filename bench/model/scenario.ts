/** The input of the model, and the types that its parts share. */
import type { Shape } from '../crowd/visitors/arrivals.ts'

export interface Scenario {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  /** The rate in the busiest second of the rush at the opening, as a multiple of the mean. */
  readonly stampede: number
  readonly dataCentres: number
  /** The number of isolates in all data centres; null means as many as the busiest second needs. */
  readonly isolates: number | null
  readonly shards: number
  /** The share of visitors who are looked up and recorded, because they are signed in or send a cookie. */
  readonly known: number
  readonly holdSeconds: number
  readonly seed: number
}

/**
 * Three in ten visitors look at the page, which then reads the schedule as often as it says (`next_read_ms`). This
 * share is an assumption.
 */
export const LOOKING = 0.3

/** The time from a data centre to an object and back, or for a cache to fetch a document. */
export const TRIP_MS = 60

/**
 * The number of calls per second that an object serves from memory, and the number if each call writes. A ticket
 * shard writes many visitors at once.
 */
export const LIMITS = { objectCalls: 1_000, objectWrites: 500 } as const

/** Counts the calls to each of several objects of one kind. The busiest object in its busiest second counts. */
export class Loads {
  readonly #calls: Float64Array
  #second = Number.NEGATIVE_INFINITY
  total = 0
  peak = 0

  constructor(objects: number) {
    this.#calls = new Float64Array(objects)
  }

  add(index: number, atMs: number, many = 1): void {
    const second = Math.floor(atMs / 1000)
    if (second !== this.#second) this.#calls.fill(0)
    this.#second = second
    const calls = (this.#calls[index] ?? 0) + many
    this.#calls[index] = calls
    this.peak = Math.max(this.peak, calls)
    this.total += many
  }
}

/** Counts figures by the second. */
export class PerSecond {
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
