/** What a rehearsal counts while it is played: how far visitors have come, what they asked for, and how long it took. */
import { Histogram } from '../lib/histogram.ts'
import type { Answer } from '../lib/http.ts'
import type { BotEvidence, End } from '../verdict/story.ts'

/** The requests a visitor makes, as they are counted and timed. `final` is the page that says it is over. */
export const KINDS = ['page', 'join', 'admission', 'status', 'checkout', 'payment', 'order', 'final'] as const
export type Kind = (typeof KINDS)[number]

/** Different complaints remembered. */
const MAX_COMPLAINTS = 100

export interface Counts {
  arrived: number
  joined: number
  /** Of those, who has a place in line, and has neither been admitted nor told that it is over. */
  waiting: number
  admitted: number
  /** Visitors whose first checkout call was sent: what the rate is about. */
  shopping: number
  reserved: number
  /** Of those, how many are paying at this moment. */
  paying: number
}

export class Tally {
  readonly counts: Counts = {
    arrived: 0,
    joined: 0,
    waiting: 0,
    admitted: 0,
    shopping: 0,
    reserved: 0,
    paying: 0,
  }
  readonly ends: Record<End, number> = {
    bought: 0,
    declined: 0,
    payment_timeout: 0,
    abandoned: 0,
    expired: 0,
    no_show: 0,
    sold_out: 0,
    ended: 0,
    missed_turn: 0,
    gave_up: 0,
    failed: 0,
  }
  readonly requests = perKind(() => 0)
  readonly latency = perKind(() => new Histogram())
  /** From the call that pays to the answer that it is paid (or not). */
  readonly settled = new Histogram()
  /** The latencies since the last sample, for the live view and the charts. */
  readonly recent = { join: new Histogram(), checkout: new Histogram() }
  /** Answers that were none, or were problems: by kind of request and status, and how many. */
  readonly refusals = new Map<string, number>()
  /** Why visitors were not served, and how often. */
  readonly complaints = new Map<string, number>()
  /** Moments of first checkout calls, in order: what the rate is judged by. */
  readonly shoppingMs: number[] = []
  readonly positions = { told: 0, wrong: 0 }
  readonly bots: BotEvidence = {
    rejoins: 0,
    otherNumbers: 0,
    intrusions: 0,
    letIn: 0,
    rushes: 0,
    secondOrders: 0,
  }

  refused(kind: Kind, { status, failure }: Answer): void {
    if (status > 0 && status < 400) return
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
