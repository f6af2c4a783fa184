/** The counts of a rehearsal while it runs: the progress of visitors, their requests, and the latency of these. */
import { type Attempts, ENDS, type End } from '../invariants/evidence.ts'
import { Histogram } from '../lib/histogram.ts'
import type { Answer } from '../lib/http.ts'
import type { Visitor } from './visitors/visitors.ts'

/**
 * The kinds of requests that are counted and timed. `front` is public content, `search` a search of free text. `bank`
 * is a buyer's form on the page of the bank, `final` the page of a sale that is over. The latency of a `stream` ends
 * when it begins.
 */
export const KINDS = [
  ...(['front', 'search', 'feed', 'page', 'challenge', 'join', 'admission', 'status'] as const),
  ...(['checkout', 'payment', 'bank', 'order', 'stream', 'final'] as const),
] as const
export type Kind = (typeof KINDS)[number]

/** The requests from the turn to the receipt. The bank is not part of the system. */
const AFTER_TURN: ReadonlySet<Kind> = new Set(['admission', 'checkout', 'payment', 'order', 'stream'])
/** The minimum number of Worker requests of a page between its turn and its receipt if the payment succeeds. */
export const LEAST_AFTER_TURN = 4

const MAX_COMPLAINTS = 100

export class Tally {
  readonly counts = {
    arrived: 0,
    joined: 0,
    /** The number of visitors in the queue now. */
    waiting: 0,
    admitted: 0,
    /** The number of visitors who sent their first checkout, which the rate limits. */
    shopping: 0,
    reserved: 0,
    /** The number of visitors who are paying now. */
    paying: 0,
  }
  readonly ends = Object.fromEntries(ENDS.map((end) => [end, 0])) as Record<End, number>
  readonly requests = perKind(() => 0)
  /** The requests from the turn on of visitors who bought with a browser. */
  readonly afterTurn = { buyers: 0, requests: 0, least: 0 }
  /** The reads of the crowd's scripts; one real read a second serves all of them. */
  scheduleReads = 0
  readonly latency = perKind(() => new Histogram())
  /** The time from the call that pays to the response that shows the payment as settled. */
  readonly settled = new Histogram()
  /** The latencies since the last sample. */
  readonly recent = { join: new Histogram(), checkout: new Histogram() }
  /** The failures and problem responses by kind and status. */
  readonly refusals = new Map<string, number>()
  /** The reasons why visitors were not served. */
  readonly complaints = new Map<string, number>()
  /** The times of first checkout calls, in order. */
  readonly shoppingMs: number[] = []
  /** Issued numbers that no visitor holds any more, or holds as a second one. */
  readonly otherNumbers: number[] = []
  readonly positions = { seen: 0, wrong: 0 }
  readonly attempts: Attempts = {
    rejoins: 0,
    otherNumbers: 0,
    intrusions: 0,
    letIn: 0,
    repeats: 0,
    secondOrders: 0,
  }
  /** The number of responses of 500 and above that are not a 503 with a time to retry. */
  bareErrors = 0
  /** The number of checkouts and payments in progress. */
  inFlight = 0

  /** Counts a visitor's request. */
  requested(kind: Kind, visitor: Visitor): void {
    this.requests[kind]++
    if (kind === 'join') visitor.afterTurn = 0
    else if (AFTER_TURN.has(kind)) visitor.afterTurn++
  }

  boughtByPage({ afterTurn }: Visitor): void {
    this.afterTurn.buyers++
    this.afterTurn.requests += afterTurn
    if (afterTurn <= LEAST_AFTER_TURN) this.afterTurn.least++
  }

  refused(kind: Kind, { status, failure }: Pick<Answer, 'status' | 'failure'>): void {
    if (status > 0 && status < 400) return
    // The bank is not part of the system.
    if (status >= 500 && status !== 503 && kind !== 'bank') this.bareErrors++
    const what = `${kind} ${status || failure}`
    this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1)
  }

  complain(what: string): void {
    if (this.complaints.size < MAX_COMPLAINTS || this.complaints.has(what))
      this.complaints.set(what, (this.complaints.get(what) ?? 0) + 1)
  }
}

function perKind<T>(make: () => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make()])) as Record<Kind, T>
}
