/** The model's input and output. */
import type { Shape } from '../rehearsal/arrivals.ts'

export interface Scenario {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  /** The busiest second of the rush at the opening, as a multiple of the mean second. */
  readonly stampede: number
  readonly dataCentres: number
  readonly shards: number
  /** Requests a second before another isolate starts. */
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

/** An object's calls a second from memory, and where each writes; a ticket shard writes many visitors at once. */
export const LIMITS = { objectCalls: 1_000, objectWrites: 500 } as const

export interface Outcome {
  /** Until everyone knew that it was over. */
  readonly seconds: number
  /** From the opening. */
  readonly soldOutAfterSeconds: number | null
  readonly requests: Record<'page' | 'join' | 'admission' | 'checkout' | 'order' | 'final', number>
  /** Reads of the public schedule, and how many of them a cache had to fetch. */
  readonly scheduleReads: number
  readonly scheduleMisses: number
  readonly isolates: number
  readonly objectCalls: number
  /** Of the busiest second; of the busiest shard. */
  readonly peaks: Record<
    'workerRequests' | 'coordinatorCalls' | 'shardCalls' | 'shardWrites' | 'originCalls',
    number
  >
  readonly rowsWritten: number
  /** Numbers leased and never issued, per number issued. */
  readonly gaps: number
  readonly sold: number
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
