/** What a rehearsal remembers of each visitor: columns of numbers, a few dozen bytes a head, so that millions fit. */
import { ENDS, type End, type Method } from '../invariants/evidence.ts'

/** What visitors will do, decided before they come, so that a seed repeats the same crowd. Bits of `plan`. */
export const PLAN = {
  decline: 1,
  timeout: 2,
  abandon: 4,
  /** Never comes when called. */
  noShow: 8,
  /** Has a client without a script, which polls the status. */
  poller: 16,
  /** Has been here before, and brings a cookie. */
  known: 32,
  bot: 64,
  flaky: 128,
  webhookTwice: 256,
  giveBack: 512,
  /** Wants two units. */
  pair: 1024,
  /** Names the payment method at the checkout. */
  payAtOnce: 2048,
} as const

/** What a visitor is about to do, or waits for. */
export const STEP = {
  arrive: 0,
  join: 1,
  wait: 2,
  claim: 3,
  checkout: 4,
  pay: 5,
  giveBack: 6,
  settle: 7,
  leave: 8,
  gone: 9,
} as const

/** Shares of visitors by what they do. The first six exclude each other, and so do bots, pollers and noShows. */
export const NOBODY = {
  ...{ abandon: 0, declines: 0, timeouts: 0, flaky: 0, webhookTwice: 0, giveBack: 0 },
  ...{ bots: 0, pollers: 0, noShows: 0, known: 0, pairs: 0, payAtOnce: 0 },
}
export type Shares = Readonly<typeof NOBODY>

/** What a client knows of its order. */
export interface OrderSeen {
  readonly order: string
  /** Each status seen, in order. */
  readonly statuses: string[]
  /** True once it was more than `processing`. */
  reserved: boolean
  /** When the visitor first meant to pay, when the accepted call was sent, and since when they wait for it. */
  payMeantMs: number | null
  paidSentMs: number | null
  payingSinceMs: number | null
}

export class Visitors {
  readonly size: number
  readonly plan: Uint16Array
  readonly step: Uint8Array
  /** Index into ENDS, plus one; 0 while they are here. */
  readonly end: Uint8Array
  /** NaN until they have one. */
  readonly number: Float64Array
  /** In the drawn order; 0 until computed. */
  readonly position: Float64Array
  readonly arrivalMs: Float64Array
  readonly joinSentMs: Float64Array
  readonly joinAnsweredMs: Float64Array
  /** 0 unless admitted; `admissionEndsMs` is on the server's clock. */
  readonly admittedMs: Float64Array
  readonly admissionEndsMs: Float64Array
  readonly admittedAtServing: Float64Array
  /** Failed tries of the current step. */
  readonly attempts: Uint8Array
  /** When a step that is retried was meant at first; 0 otherwise. */
  readonly meantMs: Float64Array
  /** When the checkout was sent that may have made their order; 0 before, and once it was refused. */
  readonly reserveSentMs: Float64Array
  /** When they saw "sold out", 0 if not; and which end the final page will confirm. */
  readonly soldOutSeenMs: Float64Array
  readonly overAs: Uint8Array
  /** 1 while their next wake only looks at the clock. */
  readonly looksAtClock: Uint8Array
  /** Their own requests to a Worker, and their reads of the public schedule, of which one copy serves all. */
  readonly workerRequests: Uint16Array
  readonly scheduleReads: Uint16Array
  /** The queue token, later the admission token; '' before and afterwards. */
  readonly token: string[]
  readonly orders = new Map<number, OrderSeen>()
  /** Numbers issued that nobody here holds any more, or holds as a second one. */
  readonly otherNumbers: number[] = []
  ended = 0

  constructor(arrivalsMs: Float64Array, shares: Shares, random: () => number) {
    const size = arrivalsMs.length
    const times = () => new Float64Array(size)
    const small = () => new Uint8Array(size)
    this.size = size
    this.plan = new Uint16Array(size).map(() => planOf(shares, random))
    this.step = small()
    this.end = small()
    this.number = times().fill(Number.NaN)
    this.position = times()
    this.arrivalMs = arrivalsMs
    this.joinSentMs = times()
    this.joinAnsweredMs = times()
    this.admittedMs = times()
    this.admissionEndsMs = times()
    this.admittedAtServing = times()
    this.attempts = small()
    this.meantMs = times()
    this.reserveSentMs = times()
    this.soldOutSeenMs = times()
    this.overAs = small()
    this.looksAtClock = small()
    this.workerRequests = new Uint16Array(size)
    this.scheduleReads = new Uint16Array(size)
    this.token = new Array<string>(size).fill('')
  }

  has(visitor: number, bit: number): boolean {
    return ((this.plan[visitor] ?? 0) & bit) !== 0
  }

  endOf(visitor: number): End | null {
    return ENDS[(this.end[visitor] ?? 0) - 1] ?? null
  }

  /** The first "sold out" counts for the moment, the last response for the end. */
  sawOver(visitor: number, as: 'sold_out' | 'ended', atMs: number): void {
    this.overAs[visitor] = ENDS.indexOf(as) + 1
    if (as === 'sold_out') this.soldOutSeenMs[visitor] ||= atMs
  }

  finalEnd(visitor: number): End {
    return ENDS[(this.overAs[visitor] ?? 0) - 1] ?? 'failed'
  }

  quantityOf(visitor: number): number {
    return this.has(visitor, PLAN.pair) ? 2 : 1
  }

  methodOf(visitor: number): Method | null {
    if (this.has(visitor, PLAN.noShow | PLAN.abandon | PLAN.giveBack)) return null
    if (this.has(visitor, PLAN.decline)) return 'pm_declined'
    if (this.has(visitor, PLAN.timeout)) return 'pm_timeout'
    if (this.has(visitor, PLAN.flaky)) return 'pm_flaky'
    return this.has(visitor, PLAN.webhookTwice) ? 'pm_webhook_twice' : 'pm_ok'
  }

  /** Only the first end counts; false if they had one. */
  finish(visitor: number, end: End): boolean {
    if (this.end[visitor] !== 0) return false
    this.end[visitor] = ENDS.indexOf(end) + 1
    this.step[visitor] = STEP.gone
    this.token[visitor] = ''
    this.ended++
    return true
  }
}

function planOf(s: Shares, random: () => number): number {
  /** One of several that exclude each other. */
  const one = (...choices: readonly (readonly [share: number, bit: number])[]) => {
    let left = random()
    for (const [share, bit] of choices) {
      if (left < share) return bit
      left -= share
    }
    return 0
  }
  const buys = one(
    [s.abandon, PLAN.abandon],
    [s.declines, PLAN.decline],
    [s.timeouts, PLAN.timeout],
    [s.flaky, PLAN.flaky],
    [s.webhookTwice, PLAN.webhookTwice],
    [s.giveBack, PLAN.giveBack],
  )
  const kind = one([s.bots, PLAN.bot], [s.pollers, PLAN.poller], [s.noShows, PLAN.noShow])
  // A bot wants the limit at once, so that its other keys have nothing left to get.
  const pairs = s.pairs > 0 && kind === PLAN.bot ? 1 : s.pairs
  return (
    buys | kind | one([s.known, PLAN.known]) | one([pairs, PLAN.pair]) | one([s.payAtOnce, PLAN.payAtOnce])
  )
}
