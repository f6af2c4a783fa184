/** What a rehearsal counts while it runs: how far visitors have come, their requests, and how long these took. */
import { type Attempts, ENDS, type End } from '../../invariants/evidence.ts'
import { Histogram } from '../../lib/histogram.ts'
import type { Answer } from '../../lib/http.ts'
import type { Visitor } from './visitors.ts'

/**
 * The requests that are counted and timed. `front` is of what is the same for all there, `search` of free text. `bank` is a buyer's
 * answer at the page of theirs, `final` the page of a sale that is over. A `stream` of an order's changes takes until it begins.
 */
export const KINDS = [
  ...(['front', 'search', 'feed', 'page', 'challenge', 'join', 'admission', 'status'] as const),
  ...(['checkout', 'payment', 'bank', 'order', 'stream', 'final'] as const),
] as const
export type Kind = (typeof KINDS)[number]

/** From the turn to the receipt. The bank is not ours. */
const AFTER_TURN: ReadonlySet<Kind> = new Set(['admission', 'checkout', 'payment', 'order', 'stream'])
/** What a page needs of a Worker between its turn and its receipt, where the payment goes through. */
export const LEAST_AFTER_TURN = 4

const MAX_COMPLAINTS = 100

export class Tally {
  readonly counts = {
    arrived: 0,
    joined: 0,
    /** In the queue now. */
    waiting: 0,
    admitted: 0,
    /** Sent their first checkout: what the rate is about. */
    shopping: 0,
    reserved: 0,
    /** Paying now. */
    paying: 0,
  }
  readonly ends = Object.fromEntries(ENDS.map((end) => [end, 0])) as Record<End, number>
  readonly requests = perKind(() => 0)
  /** Of those who bought by a browser: what they sent from their turn on. */
  readonly afterTurn = { buyers: 0, requests: 0, least: 0 }
  /** By the crowd's scripts; one real read a second serves all of them. */
  scheduleReads = 0
  readonly latency = perKind(() => new Histogram())
  /** From the call that pays to the response that shows it settled. */
  readonly settled = new Histogram()
  /** Latencies since the last sample. */
  readonly recent = { join: new Histogram(), checkout: new Histogram() }
  /** Failures and problem responses by kind and status. */
  readonly refusals = new Map<string, number>()
  /** Why visitors were not served. */
  readonly complaints = new Map<string, number>()
  /** Moments of first checkout calls, in order. */
  readonly shoppingMs: number[] = []
  /** Numbers issued that nobody here holds any more, or holds as a second one. */
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
  /** Responses of 500 and above that are no honest 503. */
  bareErrors = 0
  /** Checkouts and payments in flight. */
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
    // The bank is not ours.
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
