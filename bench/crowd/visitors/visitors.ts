/** The visitors of a rehearsal: their plans, and the data stored about them. */

import type { Order } from '../../../shared/api/public.ts'
import type { End, Method } from '../../invariants/evidence.ts'
import type { Refusal } from '../../lib/responses.ts'

/**
 * The plans of visitors. They are decided before the visitors come, so that a seed repeats the same crowd, and are
 * stored as bits of `plan`.
 */
export const PLAN = {
  /** The visitor's first card is declined. */
  decline: 1,
  timeout: 2,
  abandon: 4,
  /** The visitor never comes when called. */
  noShow: 8,
  /** The visitor's client has no script, and polls the status. */
  poller: 16,
  /** The visitor has been here before, and sends a cookie. */
  known: 32,
  bot: 64,
  flaky: 128,
  webhookTwice: 256,
  giveBack: 512,
  /** The visitor wants two units. */
  pair: 1024,
  /** The visitor names the payment method at the checkout. */
  payAtOnce: 2048,
  /** The declined card lacks funds. */
  insufficient: 4096,
  /** The bank asks its customer, who approves unless the next bits say that they decline or never return. */
  bank: 8192,
  bankFails: 16_384,
  bankLeft: 32_768,
  /**
   * After a decline the visitor pays with another card, or tries the same one until the last attempt. The others
   * leave.
   */
  otherCard: 65_536,
  sameCard: 131_072,
  /** The visitor comes by the shop front, searches there, and has the sale's posts read while waiting. */
  front: 262_144,
} as const

/** The visitor's next step, or what they wait for. */
export type Step =
  | 'front'
  | 'arrive'
  | 'prove'
  | 'join'
  | 'wait'
  | 'claim'
  | 'checkout'
  | 'pay'
  | 'authenticate'
  | 'giveBack'
  | 'settle'
  | 'leave'
  | 'gone'

/** The shares of visitors by plan. The first seven exclude each other, and so do bots, pollers and noShows. */
export const NOBODY = {
  abandon: 0,
  declines: 0,
  banks: 0,
  timeouts: 0,
  flaky: 0,
  webhookTwice: 0,
  giveBack: 0,
  bots: 0,
  pollers: 0,
  noShows: 0,
  known: 0,
  pairs: 0,
  payAtOnce: 0,
  front: 0,
}
type Shares = Readonly<typeof NOBODY>

/** A client's knowledge of its order. */
export interface OrderSeen {
  readonly order: string
  /** The cookie that a page set for it; null for a program. */
  readonly token: string | null
  /** Each status seen, in order. */
  readonly statuses: string[]
  /** The order's lines of a hall, as first shown with its seats; null before that, or if it only has units. */
  lines: Order['lines'] | null
  /** True once it was more than `processing`. */
  reserved: boolean
  /** The number of payment attempts that were left, as last shown, and of declines that were seen. */
  attemptsLeft: number
  declines: number
  /** The bank's page to which the visitor was redirected. */
  bank: string | null
  /**
   * The time of the first intention to pay with this method, the time at which the accepted call was sent, and the
   * time since which they wait for it.
   */
  payMeantMs: number | null
  paidSentMs: number | null
  payingSinceMs: number | null
}

/** The data stored about one visitor. Times are those of performance.now(), 0 until they happen. */
export class Visitor {
  readonly id: number
  readonly arrivalMs: number
  plan: number
  step: Step
  end: End | null = null
  number: number | null = null
  /** The position in the drawn order; null until calculated. */
  position: number | null = null
  joinSentMs = 0
  joinAnsweredMs = 0
  admittedMs = 0
  /** The time on the server's clock. */
  admissionEndsMs = 0
  /** The `now_serving` of the response that admitted them; null if that was a page. */
  admittedAtServing: number | null = null
  /** The number of requests since their turn came. */
  afterTurn = 0
  /** The number of failed attempts of the current step. */
  attempts = 0
  /** The number of failed attempts that repetition cannot correct. */
  errors = 0
  /** True while the last response said that others come first, because orders of theirs failed. */
  isBehindOthers = false
  /** The time at which a repeated step was first due. */
  meantMs = 0
  /** The time at which the checkout was sent that may have made their order; 0 again once it was refused. */
  reserveSentMs = 0
  soldOutSeenMs = 0
  /** The end that the final page will confirm. */
  overAs: End = 'failed'
  /** True while their next wake only checks the clock. */
  looksAtClock = false
  /** The queue token, later the admission token; empty before and afterwards. */
  token = ''
  order: OrderSeen | null = null
  /** The solved proof of work for the join, if the sale requires one. */
  proof: string | null = null
  /** True once a limit refused one of their calls. */
  refusedByLimit = false
  /** The number of reads of the newest posts, and the time of the next one. */
  feedReads = 0
  feedAtMs = 0
  /** The visitor's wishes, if there is more to choose than a number. */
  wishes: Wishes | null = null

  constructor(id: number, arrivalMs: number, plan: number) {
    this.id = id
    this.arrivalMs = arrivalMs
    this.plan = plan
    this.step = this.has(PLAN.front) ? 'front' : 'arrive'
  }

  has(bit: number): boolean {
    return (this.plan & bit) !== 0
  }

  /** True for a visitor with a page and its script; the others are programs. */
  inBrowser(): boolean {
    return !this.has(PLAN.poller | PLAN.bot)
  }

  /** True for a visitor who buys by the page's forms. If there is much to choose, a script buys. */
  byForms(): boolean {
    return this.inBrowser() && !this.wishes
  }

  /** The first "sold out" counts for the time, and the last response for the end. */
  sawOver(as: 'sold_out' | 'ended', atMs: number): void {
    this.overAs = as
    if (as === 'sold_out') this.soldOutSeenMs ||= atMs
  }

  quantity(): number {
    return this.wishes?.units ?? (this.has(PLAN.pair) ? 2 : 1)
  }

  method(): Method | null {
    if (this.has(PLAN.noShow | PLAN.abandon | PLAN.giveBack)) return null
    if (this.has(PLAN.decline)) return this.has(PLAN.insufficient) ? 'pm_insufficient_funds' : 'pm_declined'
    if (this.has(PLAN.bankFails)) return 'pm_3ds_fails'
    if (this.has(PLAN.bank)) return this.has(PLAN.bankLeft) ? 'pm_3ds_abandoned' : 'pm_3ds'
    if (this.has(PLAN.timeout)) return 'pm_timeout'
    if (this.has(PLAN.flaky)) return 'pm_flaky'
    return this.has(PLAN.webhookTwice) ? 'pm_webhook_twice' : 'pm_ok'
  }

  takesOtherCard(): void {
    this.plan &= ~(PLAN.decline | PLAN.bank | PLAN.bankFails)
  }
}

export const visitorsOf = (arrivalsMs: Float64Array, shares: Shares, random: () => number): Visitor[] =>
  Array.from(arrivalsMs, (ms, id) => new Visitor(id, ms, planOf(shares, random)))

function planOf(s: Shares, random: () => number): number {
  /** Chooses one of several plans that exclude each other. */
  const one = (...choices: readonly (readonly [share: number, bit: number])[]) => {
    let left = random()
    for (const [share, bit] of choices) {
      if (left < share) return bit
      left -= share
    }
    return 0
  }
  const declined = one(
    [0.3, PLAN.decline | PLAN.insufficient | PLAN.otherCard],
    [0.3, PLAN.decline | PLAN.otherCard],
    [0.2, PLAN.decline | PLAN.sameCard],
    [1, PLAN.decline],
  )
  const asked = one(
    [0.1, PLAN.bank | PLAN.bankFails | PLAN.otherCard],
    [0.1, PLAN.bank | PLAN.bankFails],
    [0.2, PLAN.bank | PLAN.bankLeft],
    [1, PLAN.bank],
  )
  const buys = one(
    [s.abandon, PLAN.abandon],
    [s.declines, declined],
    [s.banks, asked],
    [s.timeouts, PLAN.timeout],
    [s.flaky, PLAN.flaky],
    [s.webhookTwice, PLAN.webhookTwice],
    [s.giveBack, PLAN.giveBack],
  )
  const kind = one([s.bots, PLAN.bot], [s.pollers, PLAN.poller], [s.noShows, PLAN.noShow])
  // A bot requests as many units as the limit allows at once, so that its other keys can get nothing.
  const pairs = s.pairs > 0 && kind === PLAN.bot ? 1 : s.pairs
  const front = one([s.front, PLAN.front])
  return buys | kind | one([s.known, PLAN.known]) | one([pairs, PLAN.pair]) | one([s.payAtOnce, PLAN.payAtOnce]) | front
}

/** A visitor's reaction to a refusal: request something else, request the same again later, or leave. */
export type Reaction = 'ask' | 'wait' | 'leave'

export interface Wishes {
  /** The units of all lines of the current request. */
  readonly units: number
  /** The version grows with each request that differs from the one before, because each has its own key. */
  readonly version: number
  /** The time at which the current request was first sent; 0 before that. */
  askedMs: number
  /** The time at which the order was shown; 0 before that. */
  answeredMs: number
  /** The current request, which stays the same when it is repeated. */
  body(nowMs: number, random: () => number): object
  /** Handles a refusal. After `ask` the next request is a different one. */
  refused(refusal: Refusal, random: () => number): Reaction
  /** Handles the order that was made. */
  has(order: Partial<Pick<Order, 'lines' | 'total_minor'>>): void
}
