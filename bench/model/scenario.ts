/** What the model is asked, and what it answers. */
import type { Shape } from '../rehearsal/arrivals.ts'

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

/**
 * What an object of the platform can take in a second: 1,000 calls from memory, 500 where each writes. A ticket shard
 * writes many visitors at once, so the second is on the safe side.
 */
export const LIMITS = { objectCalls: 1_000, objectWrites: 500 } as const

export interface Outcome {
  readonly seconds: number
  /** From the opening until everything was sold, and until the last was told. */
  readonly soldOutAfterSeconds: number | null
  readonly requests: {
    page: number
    join: number
    admission: number
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
