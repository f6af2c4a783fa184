/** The visitors of a rehearsal: what each will do, and what it remembers of them. */
import type { Order } from '../../../shared/api/public.ts'
import type { End, Method } from '../../invariants/evidence.ts'
import type { Wishes } from './wishes.ts'

/** What visitors will do, decided before they come, so that a seed repeats the same crowd. Bits of `plan`. */
export const PLAN = {
  /** The first card is declined. */
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
  /** The declined card is one without enough money. */
  insufficient: 4096,
  /** The bank asks its customer, who approves: unless it says no then, or they never come back from there. */
  bank: 8192,
  bankFails: 16_384,
  bankLeft: 32_768,
  /** After a decline: pays with another card, or tries the same one until the last attempt. The others leave. */
  otherCard: 65_536,
  sameCard: 131_072,
  /** Comes by the shop front, searches there, and has the sale's posts read while waiting. */
  front: 262_144,
} as const

/** What a visitor is about to do, or waits for. */
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

/** Shares of visitors by what they do. The first seven exclude each other, and so do bots, pollers and noShows. */
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

/** What a client knows of its order. */
export interface OrderSeen {
  readonly order: string
  /** The cookie that a page gave for it; null for a program. */
  readonly token: string | null
  /** Each status seen, in order. */
  readonly statuses: string[]
  /** What it has of a hall, as first shown with its seats; null before, or where it only has units. */
  lines: Order['lines'] | null
  /** True once it was more than `processing`. */
  reserved: boolean
  /** Attempts to pay that were left, as last shown, and how many declines were seen. */
  attemptsLeft: number
  declines: number
  /** The page of the bank that the visitor was sent to. */
  bank: string | null
  /** When the visitor first meant to pay with this method, when the accepted call was sent, and since when they wait for it. */
  payMeantMs: number | null
  paidSentMs: number | null
  payingSinceMs: number | null
}

/** What a rehearsal remembers of one visitor. Moments are of performance.now(), 0 until they happen. */
export class Visitor {
  readonly id: number
  readonly arrivalMs: number
  plan: number
  step: Step
  end: End | null = null
  number: number | null = null
  /** In the drawn order; null until computed. */
  position: number | null = null
  joinSentMs = 0
  joinAnsweredMs = 0
  admittedMs = 0
  /** On the server's clock. */
  admissionEndsMs = 0
  /** `now_serving` of the response that admitted them; null where that was a page. */
  admittedAtServing: number | null = null
  /** Requests since their turn came. */
  afterTurn = 0
  /** Failed tries of the current step. */
  attempts = 0
  /** Those of them that no repetition may help. */
  errors = 0
  /** True while they were told last that others come first, since orders of theirs came to nothing. */
  isBehindOthers = false
  /** When a step that is retried was meant at first. */
  meantMs = 0
  /** When the checkout was sent that may have made their order; 0 again once it was refused. */
  reserveSentMs = 0
  soldOutSeenMs = 0
  /** The end that the final page will confirm. */
  overAs: End = 'failed'
  /** True while their next wake only looks at the clock. */
  looksAtClock = false
  /** The queue token, later the admission token; '' before and afterwards. */
  token = ''
  order: OrderSeen | null = null
  /** The solved proof of work to join with, where the sale asks for one. */
  proof: string | null = null
  /** True once a limit turned one of their calls away. */
  refusedByLimit = false
  /** Reads of the newest posts, and when the next one is due. */
  feedReads = 0
  feedAtMs = 0
  /** Where there is more to choose than how many. */
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

  /** With a page and its script; the others are programs. */
  inBrowser(): boolean {
    return !this.has(PLAN.poller | PLAN.bot)
  }

  /** Buys by the page's forms; where there is much to choose, by a script. */
  byForms(): boolean {
    return this.inBrowser() && !this.wishes
  }

  /** The first "sold out" counts for the moment, the last response for the end. */
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
  /** One of several that exclude each other. */
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
  // A bot wants the limit at once, so that its other keys have nothing left to get.
  const pairs = s.pairs > 0 && kind === PLAN.bot ? 1 : s.pairs
  const front = one([s.front, PLAN.front])
  return buys | kind | one([s.known, PLAN.known]) | one([pairs, PLAN.pair]) | one([s.payAtOnce, PLAN.payAtOnce]) | front
}
