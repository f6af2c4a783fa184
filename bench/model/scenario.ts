/** The model's input, and what its parts share. */
import type { Shape } from '../rehearsal/crowd/arrivals.ts'

export interface Scenario {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  /** The busiest second of the rush at the opening, as a multiple of the mean second. */
  readonly stampede: number
  readonly dataCentres: number
  /** In all of them together; null: as many as serve the busiest second. */
  readonly isolates: number | null
  readonly shards: number
  /** Share of visitors who are looked up and recorded, because they are signed in or bring a cookie. */
  readonly known: number
  readonly holdSeconds: number
  readonly seed: number
}

/** From a data centre to an object and back, and for a cache to fetch a document. */
export const TRIP_MS = 60

/** An object's calls a second from memory, and where each writes; a ticket shard writes many visitors at once. */
export const LIMITS = { objectCalls: 1_000, objectWrites: 500 } as const

/** Calls to each of some objects of one kind; the busiest object in its busiest second counts. */
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

/** Figures by the second. */
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
