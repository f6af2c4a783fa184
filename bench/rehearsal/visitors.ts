/**
 * What a rehearsal remembers of each visitor: columns of numbers, a few dozen bytes a head, so that half a million of
 * them fit anywhere. Only their tokens are text.
 */
import { ENDS, type End, type Method } from '../verdict/story.ts'

/** What a visitor will do, decided before they come, so that a seed plays the same crowd again. Bits of `plan`. */
export const PLAN = {
  /** Their card is declined; their payment provider never answers; they walk away from their cart. */
  decline: 1,
  timeout: 2,
  abandon: 4,
  /** They never come when they are called. */
  noShow: 8,
  /** Their client has no script: it asks the Worker for its status, as often as it is told to. */
  poller: 16,
  /** They have been here before, and bring their cookie. */
  known: 32,
  bot: 64,
} as const

/** What a visitor is about to do, or waits for. */
export const STEP = {
  arrive: 0,
  join: 1,
  wait: 2,
  claim: 3,
  checkout: 4,
  pay: 5,
  settle: 6,
  leave: 7,
  gone: 8,
} as const

export interface Shares {
  readonly declines: number
  readonly timeouts: number
  readonly abandon: number
  readonly noShows: number
  readonly pollers: number
  readonly known: number
  readonly bots: number
}

/** What a client was told about its order. */
export interface OrderTold {
  readonly order: string
  /** The last status the client saw. */
  status: string
  /** True once they have seen it as more than `processing`. */
  reserved: boolean
  /** When they first meant to pay, when the call was sent that was accepted, and since when it is waited for. */
  payMeantMs: number | null
  paidSentMs: number | null
  payingSinceMs: number | null
}

export class Visitors {
  readonly size: number
  readonly plan: Uint8Array
  readonly step: Uint8Array
  /** Index into ENDS, plus one; 0 while they are here. */
  readonly end: Uint8Array
  /** NaN until they have one. */
  readonly number: Float64Array
  /** In the drawn order; 0 until it is worked out. */
  readonly position: Float64Array
  readonly intendedMs: Float64Array
  readonly joinSentMs: Float64Array
  readonly joinAnsweredMs: Float64Array
  /** 0 for those who were never admitted; and until when it holds, on the server's clock. */
  readonly admittedMs: Float64Array
  readonly admissionEndsMs: Float64Array
  readonly servingTold: Float64Array
  /** What became of the request under way; starts anew with every step. */
  readonly attempts: Uint8Array
  /** For when a step that is tried again was meant at first; 0 otherwise. */
  readonly meantMs: Float64Array
  /** When the checkout was sent that may have made their order; 0 before, and once it was refused. */
  readonly reserveSentMs: Float64Array
  /** When they were told that it is sold out, 0 if not; and as what it was over, for those who load the final page. */
  readonly soldOutToldMs: Float64Array
  readonly toldOver: Uint8Array
  /** 1 while their next wake is no read of the schedule. */
  readonly looksAtClock: Uint8Array
  /** Requests of their own that reached a Worker; and reads of the public schedule, of which one copy serves all. */
  readonly workerRequests: Uint16Array
  readonly cdnReads: Uint16Array
  /** The queue token, later the admission token; '' before and afterwards. */
  readonly token: string[]
  readonly orders = new Map<number, OrderTold>()
  /** Numbers given out that nobody here has any more, or has as their second. */
  readonly otherNumbers: number[] = []
  ended = 0

  constructor(arrivalsMs: Float64Array, shares: Shares, random: () => number) {
    const size = arrivalsMs.length
    this.size = size
    this.plan = new Uint8Array(size)
    this.step = new Uint8Array(size)
    this.end = new Uint8Array(size)
    this.number = new Float64Array(size).fill(Number.NaN)
    this.position = new Float64Array(size)
    this.intendedMs = arrivalsMs
    this.joinSentMs = new Float64Array(size)
    this.joinAnsweredMs = new Float64Array(size)
    this.admittedMs = new Float64Array(size)
    this.admissionEndsMs = new Float64Array(size)
    this.servingTold = new Float64Array(size)
    this.attempts = new Uint8Array(size)
    this.meantMs = new Float64Array(size)
    this.reserveSentMs = new Float64Array(size)
    this.soldOutToldMs = new Float64Array(size)
    this.toldOver = new Uint8Array(size)
    this.looksAtClock = new Uint8Array(size)
    this.workerRequests = new Uint16Array(size)
    this.cdnReads = new Uint16Array(size)
    this.token = new Array<string>(size).fill('')
    for (let visitor = 0; visitor < size; visitor++) this.plan[visitor] = planOf(shares, random)
  }

  has(visitor: number, bit: number): boolean {
    return ((this.plan[visitor] ?? 0) & bit) !== 0
  }

  endOf(visitor: number): End | null {
    return ENDS[(this.end[visitor] ?? 0) - 1] ?? null
  }

  /** The first time they are told that it is over counts for when, and the last one for what it was. */
  tellOver(visitor: number, as: 'sold_out' | 'ended', atMs: number): void {
    this.toldOver[visitor] = ENDS.indexOf(as) + 1
    if (as === 'sold_out') this.soldOutToldMs[visitor] ||= atMs
  }

  toldOverAs(visitor: number): End {
    return ENDS[(this.toldOver[visitor] ?? 0) - 1] ?? 'failed'
  }

  /** What they pay with, if they come to it. */
  methodOf(visitor: number): Method | null {
    if (this.has(visitor, PLAN.noShow | PLAN.abandon)) return null
    if (this.has(visitor, PLAN.decline)) return 'pm_declined'
    return this.has(visitor, PLAN.timeout) ? 'pm_timeout' : 'pm_ok'
  }

  /** The first end holds. False if they had one already. */
  finish(visitor: number, end: End): boolean {
    if (this.end[visitor] !== 0) return false
    this.end[visitor] = ENDS.indexOf(end) + 1
    this.step[visitor] = STEP.gone
    this.token[visitor] = ''
    this.ended++
    return true
  }
}

function planOf(shares: Shares, random: () => number): number {
  let plan = 0
  // One throw for what excludes each other, one for each of the rest.
  const mood = random()
  if (mood < shares.abandon) plan |= PLAN.abandon
  else if (mood < shares.abandon + shares.declines) plan |= PLAN.decline
  else if (mood < shares.abandon + shares.declines + shares.timeouts) plan |= PLAN.timeout
  const kind = random()
  if (kind < shares.bots) plan |= PLAN.bot
  else if (kind < shares.bots + shares.pollers) plan |= PLAN.poller
  else if (kind < shares.bots + shares.pollers + shares.noShows) plan |= PLAN.noShow
  if (random() < shares.known) plan |= PLAN.known
  return plan
}
