/**
 * The crowd: every visitor is a real HTTP client that plays the sale as a person with a browser would.
 *
 *     page ─▶ join ─▶ page ─▶ wait ─▶ claim the turn ─▶ page ─▶ checkout ─▶ pay ─▶ look at the order until it is settled
 *                               └──────────── told sold out ─▶ the final page
 *
 * Waiting is done as the page's script does it (edge/client/room.ts): the visitor reads the public schedule now and then
 * (`pollAfterMs` says when), works out its own place, and comes to a Worker only when its turn has come. Those reads are
 * counted for each visitor, but one copy serves them all, as a CDN's would; every other request is really sent, for each
 * visitor alone. The script shows by itself that it is over; the final page is what people load once more to be sure.
 *
 * Open loop: what a visitor does next is timed before it is known how busy anything is, and a latency is counted from
 * the moment for which the request was meant, through any queue on our own side. So a slow server cannot make its own
 * figures look better by slowing down those who measure it.
 */

import { calledAtMs, isDrawn, placeOf, pollAfterMs } from '../shared/schedule.ts'
import { orderIn, type PlaceTold, placeIn, problemType } from './answers.ts'
import { hammerWhileWaiting, rejoin, rushCheckout } from './bots.ts'
import { Cdn } from './cdn.ts'
import { DrawTable } from './draw-table.ts'
import { Histogram } from './histogram.ts'
import { type Answer, HttpClient, headerOf, requestText } from './http.ts'
import type { BotEvidence, End } from './verdict.ts'
import { PLAN, STEP, type Visitors } from './visitors.ts'
import { Wheel } from './wheel.ts'

export interface CrowdOptions {
  readonly edge: string
  readonly sale: string
  /** Milliseconds a person takes, on average, from one click to the next. */
  readonly thinkMs: number
  readonly connections: number
  /** False where the page itself comes from somewhere else. */
  readonly pages: boolean
  readonly random: () => number
}

/** The requests a visitor makes, as they are counted and timed. `final` is the page that says it is over. */
export const KINDS = ['page', 'join', 'claim', 'status', 'checkout', 'payment', 'order', 'final'] as const
export type Kind = (typeof KINDS)[number]

const TICK_MS = 1
/** As edge/client/room.ts: the longest between two reads, and how often the page looks at the clock in between. */
const READ_MAX_MS = 30_000
const CLOCK_EVERY_MS = 500
/** Tries at one step before a visitor gives up; a person would have long before. */
const MAX_TRIES = 60
/** A first retry comes after about so long, twice as long each time, up to the second. */
const RETRY_MS = 200
const RETRY_MAX_MS = 8_000
/** An unpaid order is asked for after so long, then less and less often. */
const SETTLE_MS = 400
const SETTLE_MAX_MS = 4_000
/** When it is over for all at once, browsers show it themselves, and load the final page no more than so many a second. */
const FINALS_PER_SECOND = 1_000
const FINAL_SPREAD_MAX_MS = 20_000
/** Different complaints remembered. */
const MAX_COMPLAINTS = 100

export interface Counts {
  arrived: number
  joined: number
  admitted: number
  /** Visitors whose first checkout call was sent: what the rate is about. */
  shopping: number
  reserved: number
  /** Of those, how many are paying at this moment. */
  paying: number
}

export class Crowd {
  readonly counts: Counts = { arrived: 0, joined: 0, admitted: 0, shopping: 0, reserved: 0, paying: 0 }
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
  readonly requests: Record<Kind, number>
  readonly latency: Record<Kind, Histogram>
  /** From the call that pays to the answer that it is paid (or not). */
  readonly settled = new Histogram()
  /** The latencies since the last sample, for the live view and the charts. */
  readonly recent = { join: new Histogram(), checkout: new Histogram() }
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
  readonly cdn: Cdn
  readonly client: HttpClient
  readonly visitors: Visitors
  readonly options: CrowdOptions
  readonly #wheel: Wheel
  /** 1 while a visitor's next wake is no read of the schedule. */
  readonly #looksAtClock: Uint8Array
  readonly #finalSpreadMs: number
  readonly #texts: { readonly page: string; readonly final: string; readonly join: string }
  #draw: DrawTable | null = null
  #timer: NodeJS.Timeout | undefined
  #done: (() => void) | undefined

  constructor(visitors: Visitors, options: CrowdOptions) {
    this.visitors = visitors
    this.options = options
    this.client = new HttpClient({ url: options.edge, connections: options.connections })
    this.cdn = new Cdn(this.client, options.sale)
    this.requests = perKind(() => 0)
    this.#looksAtClock = new Uint8Array(visitors.size)
    this.#finalSpreadMs = Math.min(FINAL_SPREAD_MAX_MS, (visitors.size / FINALS_PER_SECOND) * 1000)
    this.latency = perKind(() => new Histogram())
    const { host } = this.client
    const path = `/sales/${options.sale}`
    this.#texts = {
      page: requestText('GET', path, host, ['accept: text/html']),
      final: requestText('GET', path, host, ['accept: text/html']),
      join: requestText('POST', `${path}/queue`, host, ['accept: application/json']),
    }
    this.#wheel = new Wheel(visitors.size, performance.now(), (visitor, dueMs) => this.#wake(visitor, dueMs))
    for (let visitor = 0; visitor < visitors.size; visitor++)
      this.#wheel.at(visitor, Math.max(1, visitors.intendedMs[visitor] ?? 1))
  }

  /** Plays until everyone has come to an end, or it is stopped. */
  play(): Promise<void> {
    this.cdn.start()
    const tick = () => {
      this.#wheel.run(performance.now())
      this.#timer = setTimeout(tick, TICK_MS)
    }
    tick()
    return new Promise((resolve) => {
      this.#done = resolve
      if (this.visitors.ended === this.visitors.size) this.stop()
    })
  }

  /** Ends it here: those who are still there have given up. */
  stop(): void {
    clearTimeout(this.#timer)
    this.cdn.stop()
    for (let visitor = 0; visitor < this.visitors.size; visitor++)
      if (this.visitors.end[visitor] === 0) this.#finish(visitor, 'gave_up')
    this.#done?.()
  }

  // -- One visitor after the other ---------------------------------------------------------------------------------

  #wake(visitor: number, dueMs: number) {
    switch (this.visitors.step[visitor]) {
      case STEP.arrive:
        return this.#loadPage(visitor, dueMs)
      case STEP.join:
        return this.#join(visitor, dueMs)
      case STEP.wait:
        return this.visitors.has(visitor, PLAN.poller | PLAN.bot)
          ? this.#askStatus(visitor, dueMs, 'status')
          : this.#readSchedule(visitor, dueMs)
      case STEP.claim:
        return this.#askStatus(visitor, dueMs, 'claim')
      case STEP.checkout:
        return this.#checkout(visitor, dueMs)
      case STEP.pay:
        return this.#pay(visitor, dueMs)
      case STEP.settle:
        return this.#askOrder(visitor, dueMs)
      case STEP.leave:
        return this.#loadFinalPage(visitor, dueMs)
    }
  }

  #loadPage(visitor: number, intendedMs: number) {
    this.counts.arrived++
    if (!this.options.pages) {
      this.#go(visitor, STEP.join)
      return this.#join(visitor, intendedMs)
    }
    this.#send(visitor, 'page', this.#texts.page, intendedMs, (answer) => {
      // A page that does not load is reloaded; one that does is shown, whatever the phase.
      if (answer.status !== 200) return this.#again(visitor, 'page', answer)
      this.#go(visitor, STEP.join)
      this.#join(visitor, answer.answeredMs)
    })
  }

  #join(visitor: number, intendedMs: number) {
    const text = this.visitors.has(visitor, PLAN.known)
      ? requestText('POST', `/sales/${this.options.sale}/queue`, this.client.host, [
          'accept: application/json',
          `cookie: visitor=${this.nameOf(visitor)}`,
        ])
      : this.#texts.join
    this.#send(visitor, 'join', text, intendedMs, (answer) => {
      if (answer.status === 410) return this.#toldOver(visitor, answer)
      const told = answer.status === 201 || answer.status === 200 ? placeIn(answer) : null
      if (!told?.queue_token) return this.#again(visitor, 'join', answer)
      const { visitors } = this
      this.recent.join.add(answer.answeredMs - intendedMs)
      visitors.joinSentMs[visitor] = answer.sentMs
      visitors.joinAnsweredMs[visitor] = answer.answeredMs
      visitors.number[visitor] = told.number
      visitors.token[visitor] = told.queue_token
      this.counts.joined++
      this.#go(visitor, STEP.wait)
      if (visitors.has(visitor, PLAN.bot)) {
        rejoin(this, visitor, answer)
        hammerWhileWaiting(this, visitor)
      }
      // A plain form's join is answered with the page again; who has no browser takes the answer as it is.
      if (!this.#inBrowser(visitor)) return this.#place(visitor, told, answer)
      this.#checkPosition(visitor, told)
      this.#showPage(visitor, answer.answeredMs, (shownMs) => this.#readSchedule(visitor, shownMs))
    })
  }

  /** The admission has run out while all units were in carts: the turn has passed, and there is a new place at the end. */
  #joinAgain(visitor: number, answer: Answer) {
    const { visitors } = this
    visitors.admittedMs[visitor] = 0
    visitors.servingTold[visitor] = 0
    visitors.position[visitor] = 0
    this.counts.joined--
    this.#go(visitor, STEP.join)
    this.#wheel.at(visitor, answer.answeredMs + this.#think())
  }

  #inBrowser(visitor: number): boolean {
    return this.options.pages && !this.visitors.has(visitor, PLAN.poller | PLAN.bot)
  }

  /** The page with the visitor's own place on it. Whatever becomes of it, the visitor goes on. */
  #showPage(visitor: number, intendedMs: number, then: (shownMs: number) => void) {
    const { sale } = this.options
    const text = requestText('GET', `/sales/${sale}`, this.client.host, [
      'accept: text/html',
      `cookie: queue-${sale}=${this.visitors.token[visitor]}`,
    ])
    this.#send(visitor, 'page', text, intendedMs, (answer) => {
      if (answer.status !== 200) this.complain(`page: ${answer.status || answer.failure}`)
      then(answer.answeredMs)
    })
  }

  /**
   * As the page's script does, from the public document alone: it reads it when `pollAfterMs` says so, and knocks when
   * the line as it knows it has come to its place.
   */
  #readSchedule(visitor: number, dueMs: number) {
    const { visitors, cdn, options } = this
    // Between two reads it only looks at the clock.
    if (this.#looksAtClock[visitor] === 0) visitors.cdnReads[visitor] = (visitors.cdnReads[visitor] ?? 0) + 1
    this.#looksAtClock[visitor] = 0
    const schedule = cdn.copy
    const nowMs = performance.now()
    const serverMs = cdn.serverMs(nowMs)
    const place = placeOf(schedule, visitors.number[visitor] ?? 0, serverMs, () => this.#positionOf(visitor))
    switch (place.status) {
      case 'ready':
        if (visitors.has(visitor, PLAN.noShow)) return this.#finish(visitor, 'no_show')
        this.#go(visitor, STEP.claim)
        return this.#askStatus(visitor, dueMs, 'claim')
      case 'sold_out':
      case 'ended':
        return this.#over(visitor)
      case 'missed_turn':
        return this.#finish(visitor, visitors.has(visitor, PLAN.noShow) ? 'no_show' : 'missed_turn')
    }
    const readInMs = Math.min(READ_MAX_MS, pollAfterMs(place, options.random()))
    const calledInMs =
      place.status === 'waiting' && place.position !== null
        ? calledAtMs(schedule, place.position) - serverMs + options.random() * CLOCK_EVERY_MS
        : Number.POSITIVE_INFINITY
    if (calledInMs < readInMs) this.#looksAtClock[visitor] = 1
    this.#wheel.at(visitor, nowMs + Math.min(readInMs, calledInMs))
  }

  #askStatus(visitor: number, intendedMs: number, kind: 'claim' | 'status') {
    const token = this.visitors.token[visitor] ?? ''
    const text = requestText('GET', `/sales/${this.options.sale}/queue/status`, this.client.host, [
      'accept: application/json',
      `authorization: Bearer ${token}`,
    ])
    this.#send(visitor, kind, text, intendedMs, (answer) => {
      const told = answer.status === 200 ? placeIn(answer) : null
      if (!told) return this.#again(visitor, kind, answer)
      if (told.number !== this.visitors.number[visitor]) this.complain(`${kind}: another number was told`)
      this.#go(visitor, kind === 'claim' ? STEP.claim : STEP.wait)
      this.#place(visitor, told, answer)
    })
  }

  /** What a join or a status answer leads to. */
  #place(visitor: number, told: PlaceTold, answer: Answer) {
    const { visitors } = this
    this.#checkPosition(visitor, told)
    switch (told.status) {
      case 'ready':
        if (visitors.has(visitor, PLAN.noShow)) return this.#finish(visitor, 'no_show')
        if (!told.admission_token) return this.#again(visitor, 'claim', answer)
        visitors.admittedMs[visitor] = answer.answeredMs
        visitors.servingTold[visitor] = told.now_serving
        this.counts.admitted++
        this.#go(visitor, STEP.checkout)
        if (!this.#inBrowser(visitor)) this.#wheel.at(visitor, answer.answeredMs + this.#think())
        else
          this.#showPage(visitor, answer.answeredMs, (shownMs) =>
            this.#wheel.at(visitor, shownMs + this.#think()),
          )
        visitors.token[visitor] = told.admission_token
        return
      case 'sold_out':
      case 'ended':
        return this.#over(visitor)
      case 'missed_turn':
        return this.#finish(visitor, visitors.has(visitor, PLAN.noShow) ? 'no_show' : 'missed_turn')
      default:
        this.#wheel.at(visitor, answer.answeredMs + Math.max(100, told.poll_after_ms))
    }
  }

  #checkout(visitor: number, intendedMs: number) {
    const { visitors } = this
    if (visitors.attempts[visitor] === 0) {
      this.counts.shopping++
      this.shoppingMs.push(intendedMs)
    }
    if (visitors.has(visitor, PLAN.bot) && visitors.attempts[visitor] === 0) rushCheckout(this, visitor)
    const text = this.checkoutText(visitor, this.keyOf(visitor))
    this.#send(visitor, 'checkout', text, intendedMs, (answer) => {
      const { status } = answer
      if (status === 410) return this.#toldOver(visitor, answer)
      const order = status === 200 || status === 201 || status === 202 ? orderIn(answer) : null
      if (!order) {
        return this.#again(visitor, 'checkout', answer)
      }
      this.recent.checkout.add(answer.answeredMs - intendedMs)
      visitors.orders.set(visitor, { order: order.order_id, status: order.status })
      this.#go(visitor, STEP.settle)
      this.#onOrder(visitor, order.status, answer.answeredMs)
    })
  }

  #pay(visitor: number, intendedMs: number) {
    const method = this.visitors.has(visitor, PLAN.decline)
      ? 'pm_declined'
      : this.visitors.has(visitor, PLAN.timeout)
        ? 'pm_timeout'
        : 'pm_ok'
    const order = this.visitors.orders.get(visitor)?.order ?? ''
    const text = requestText(
      'POST',
      `/orders/${order}/payment`,
      this.client.host,
      ['accept: application/json', `authorization: Bearer ${this.visitors.token[visitor]}`],
      JSON.stringify({ payment_method: method }),
    )
    this.#send(visitor, 'payment', text, intendedMs, (answer) => {
      const told = answer.status >= 200 && answer.status < 300 ? orderIn(answer) : null
      // A conflict means that something has happened to the order meanwhile: look what.
      if (!told && answer.status !== 409) return this.#again(visitor, 'payment', answer)
      if (this.#payingSinceMs.get(visitor) === undefined) {
        this.#payingSinceMs.set(visitor, intendedMs)
        this.counts.paying++
      }
      this.#go(visitor, STEP.settle)
      this.#wheel.at(visitor, answer.answeredMs + this.#settleAfter(visitor))
    })
  }

  readonly #payingSinceMs = new Map<number, number>()

  #askOrder(visitor: number, intendedMs: number) {
    const order = this.visitors.orders.get(visitor)?.order ?? ''
    const text = requestText('GET', `/orders/${order}`, this.client.host, [
      'accept: application/json',
      `authorization: Bearer ${this.visitors.token[visitor]}`,
    ])
    this.#send(visitor, 'order', text, intendedMs, (answer) => {
      const told = answer.status === 200 ? orderIn(answer) : null
      if (!told) return this.#again(visitor, 'order', answer)
      this.#onOrder(visitor, told.status, answer.answeredMs)
    })
  }

  /** What the buyer does when they see their order in this state. */
  #onOrder(visitor: number, status: string, nowMs: number) {
    const { visitors } = this
    const told = visitors.orders.get(visitor)
    const first = told !== undefined && !this.#reserved.has(visitor) && status !== 'processing'
    if (told) told.status = status
    if (first && status !== 'cancelled') {
      this.#reserved.add(visitor)
      this.counts.reserved++
    }
    switch (status) {
      case 'reserved':
        if (visitors.has(visitor, PLAN.abandon)) return this.#finish(visitor, 'abandoned')
        if (this.#payingSinceMs.get(visitor) === undefined) {
          this.#go(visitor, STEP.pay)
          this.#wheel.at(visitor, nowMs + this.#think())
          return
        }
        break
      case 'confirmed':
      case 'fulfilled':
        return this.#settle(visitor, 'bought', nowMs)
      case 'cancelled': {
        const end = visitors.has(visitor, PLAN.decline)
          ? 'declined'
          : visitors.has(visitor, PLAN.timeout)
            ? 'payment_timeout'
            : // Promised as `processing`, and not to be had when it was recorded: told so, as for everyone else.
              first
              ? 'sold_out'
              : 'failed'
        return this.#settle(visitor, end, nowMs)
      }
      case 'expired':
        return this.#settle(visitor, 'expired', nowMs)
    }
    this.#wheel.at(visitor, nowMs + this.#settleAfter(visitor))
  }

  readonly #reserved = new Set<number>()

  #settle(visitor: number, end: End, nowMs: number) {
    const sinceMs = this.#payingSinceMs.get(visitor)
    if (sinceMs !== undefined) {
      this.settled.add(nowMs - sinceMs)
      this.counts.paying--
    }
    this.#finish(visitor, end)
  }

  /** Told `410` by a join or a checkout. */
  #toldOver(visitor: number, answer: Answer) {
    const type = problemType(answer)
    if (type === '/problems/sold-out') this.#finish(visitor, 'sold_out')
    else if (type === '/problems/ended') this.#finish(visitor, 'ended')
    else {
      this.complain(`410 ${type}`)
      this.#finish(visitor, 'failed')
    }
  }

  /** Told by the schedule or the status that it is over: the browser shows it, and loads the final page. */
  #over(visitor: number) {
    this.#go(visitor, STEP.leave)
    this.#wheel.at(visitor, performance.now() + this.options.random() * this.#finalSpreadMs)
  }

  #loadFinalPage(visitor: number, intendedMs: number) {
    this.#send(visitor, 'final', this.#texts.final, intendedMs, (answer) => {
      if (answer.status !== 200) return this.#again(visitor, 'final', answer)
      // The contract: a page that is final may be kept by others, and sets no cookie. Any other is live again.
      const final =
        /^public\b/.test(headerOf(answer, 'cache-control')) && headerOf(answer, 'set-cookie') === ''
      if (final) return this.#finish(visitor, this.cdn.copy.phase === 'ended' ? 'ended' : 'sold_out')
      this.#go(visitor, STEP.wait)
      this.#wheel.at(visitor, answer.answeredMs + 1_000 * (0.5 + this.options.random()))
    })
  }

  // -- What all steps share ----------------------------------------------------------------------------------------

  #send(
    visitor: number,
    kind: Kind,
    text: string,
    intendedMs: number,
    answered: (answer: Answer) => void,
  ): void {
    this.requests[kind]++
    this.visitors.workerRequests[visitor] = (this.visitors.workerRequests[visitor] ?? 0) + 1
    this.client.send(text, (answer) => {
      // Whoever had given up when the answer came is not brought back by it.
      if (this.visitors.end[visitor] !== 0) return
      if (answer.status > 0) this.latency[kind].add(answer.answeredMs - intendedMs)
      answered(answer)
    })
  }

  /** Not served: tries the same step again a while later, as often as anyone would. */
  #again(visitor: number, kind: Kind, answer: Answer) {
    const { visitors } = this
    const { status } = answer
    if (kind === 'checkout' && status === 429) return this.#joinAgain(visitor, answer)
    const tries = (visitors.attempts[visitor] ?? 0) + 1
    const waits = status === 409 || status === 503 || status === 425 || status === 0
    if (!waits || status === 0)
      this.complain(`${kind}: ${status || answer.failure} ${status ? problemType(answer) : ''}`.trim())
    if (tries > MAX_TRIES || (!waits && tries > 5)) return this.#finish(visitor, 'failed')
    visitors.attempts[visitor] = tries
    const askedMs = Number(headerOf(answer, 'retry-after')) * 1000 || 0
    const backoffMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10))
    const waitMs = (askedMs > 0 ? Math.min(askedMs, 60_000) : backoffMs) * (0.9 + this.options.random() * 0.2)
    this.#wheel.at(visitor, answer.answeredMs + waitMs)
  }

  #go(visitor: number, step: number): void {
    if (this.visitors.step[visitor] === step) return
    this.visitors.step[visitor] = step
    this.visitors.attempts[visitor] = 0
  }

  #finish(visitor: number, end: End) {
    if (!this.visitors.finish(visitor, end)) return
    this.ends[end]++
    if (this.visitors.ended === this.visitors.size) this.stop()
  }

  /** Milliseconds a person takes; some are quick, a few slow. */
  #think(): number {
    const { thinkMs, random } = this.options
    return Math.min(5 * thinkMs, -Math.log(1 - random()) * thinkMs)
  }

  #settleAfter(visitor: number): number {
    const tries = this.visitors.attempts[visitor] ?? 0
    if (tries < MAX_TRIES - 1) this.visitors.attempts[visitor] = tries + 1
    return Math.min(SETTLE_MAX_MS, SETTLE_MS * 1.5 ** tries) * (0.75 + this.options.random() / 2)
  }

  // -- Evidence ----------------------------------------------------------------------------------------------------

  /** A visitor's position, once it is drawn; remembered, since it never changes. */
  #positionOf(visitor: number): number {
    const known = this.visitors.position[visitor]
    if (known) return known
    const draw = this.draw()
    if (!draw) return Number.POSITIVE_INFINITY
    const position = draw.positionOf(this.visitors.number[visitor] ?? 0)
    this.visitors.position[visitor] = position
    return position
  }

  /** The draw as the public document has it; null before it is made. */
  draw(): DrawTable | null {
    const { copy } = this.cdn
    if (!this.#draw && isDrawn(copy))
      this.#draw = new DrawTable({
        seed: copy.draw_seed,
        size: copy.pre_queue_size,
        beacon: copy.draw_beacon,
      })
    return this.#draw
  }

  /** Where the server says a visitor stands against where they stand. */
  #checkPosition(visitor: number, told: PlaceTold): void {
    if (told.status !== 'waiting' || told.position_in_queue === null || !this.draw()) return
    this.positions.told++
    if (told.position_in_queue + told.now_serving !== this.#positionOf(visitor)) this.positions.wrong++
  }

  complain(what: string): void {
    if (this.complaints.size < MAX_COMPLAINTS || this.complaints.has(what))
      this.complaints.set(what, (this.complaints.get(what) ?? 0) + 1)
  }

  /** A visitor's name, where they bring one. */
  nameOf(visitor: number): string {
    return `${this.options.sale}-visitor-${visitor}`
  }

  keyOf(visitor: number): string {
    return `${this.options.sale}-${visitor}`
  }

  checkoutText(visitor: number, key: string, token = this.visitors.token[visitor]): string {
    return requestText(
      'POST',
      `/sales/${this.options.sale}/checkout`,
      this.client.host,
      ['accept: application/json', `authorization: Bearer ${token}`, `idempotency-key: ${key}`],
      '{"quantity":1}',
    )
  }
}

function perKind<T>(make: () => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make()])) as Record<Kind, T>
}
