/**
 * The crowd: every visitor is a real HTTP client. visit.ts has the steps of a visit; here is what visitors share: the
 * clock that wakes them, connections, retries, and the draw as the public can compute it.
 *
 * Every request is really sent, except reads of the schedule, of which one copy serves all, as a CDN's does.
 *
 * Open loop: a visitor's next step is timed regardless of how busy anything is, and latency counts from the moment the
 * request was meant for until it is served, through queues on our side and through retries. So a slow server cannot
 * improve its figures by slowing down, or turning away, those who measure it.
 */
import { isDrawn } from '../../shared/schedule.ts'
import { DrawTable } from '../invariants/draw-table.ts'
import type { End } from '../invariants/evidence.ts'
import { type Answer, HttpClient, headerOf, requestText } from '../lib/http.ts'
import { type PlaceResponse, problemType } from '../lib/responses.ts'
import { ScheduleCopy } from './schedule-copy.ts'
import { type Kind, Tally } from './tally.ts'
import { Wheel } from './timer-wheel.ts'
import { PLAN, STEP, type Visitors } from './visitors.ts'

export interface CrowdOptions {
  readonly edge: string
  readonly sale: string
  /** Milliseconds from one click to the next, on average. */
  readonly thinkMs: number
  /** The share of calls that are hung up almost at once. */
  readonly hangUps: number
  readonly random: () => number
}

const TICK_MS = 1
const CONNECTIONS = 256
/** Tries of one step before a visitor gives up; a person would long before. */
const MAX_TRIES = 60
/** After an error that no waiting mends. */
const MAX_ERRORS = 5
const RETRY_MS = 200
const RETRY_MAX_MS = 8_000
const RETRY_AFTER_MAX_MS = 60_000
/** How often an unsettled order is looked at: less and less. */
const SETTLE_MS = 400
const SETTLE_MAX_MS = 4_000
const HANG_UP_MS = 60

const NOT_SERVED = Symbol('not served')
/** Full responses, although they say "not yet": units in carts, not open. */
const isServed = (status: number) => status === 409 || status === 425
const inLine = (step: number | undefined) => (step === STEP.wait || step === STEP.claim ? 1 : 0)

export class Crowd {
  readonly tally = new Tally()
  readonly schedule: ScheduleCopy
  readonly client: HttpClient
  readonly visitors: Visitors
  readonly options: CrowdOptions
  /** Requests that are the same for everyone. */
  readonly texts: { readonly page: string; readonly join: string }
  readonly #hasty: HttpClient
  readonly #wheel: Wheel
  #draw: DrawTable | null = null
  #timer: NodeJS.Timeout | undefined
  #done: (() => void) | undefined

  /** `visit` takes a visitor's next step, meant for `dueMs`. */
  constructor(
    visitors: Visitors,
    options: CrowdOptions,
    visit: (crowd: Crowd, visitor: number, dueMs: number) => void,
  ) {
    const { edge: url, sale } = options
    this.visitors = visitors
    this.options = options
    this.client = new HttpClient({ url, connections: CONNECTIONS })
    this.#hasty = new HttpClient({ url, connections: CONNECTIONS, timeoutMs: HANG_UP_MS })
    this.schedule = new ScheduleCopy(this.client, sale)
    const { host } = this.client
    this.texts = {
      page: requestText('GET', `/sales/${sale}`, host, ['accept: text/html']),
      join: requestText('POST', `/sales/${sale}/queue`, host, ['accept: application/json']),
    }
    this.#wheel = new Wheel(visitors.size, performance.now(), (visitor, dueMs) => visit(this, visitor, dueMs))
    for (const [visitor, ms] of visitors.arrivalMs.entries()) this.#wheel.at(visitor, Math.max(1, ms))
  }

  /** Runs until every visitor has finished, or it is stopped. */
  play(): Promise<void> {
    this.schedule.start()
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

  /** Whoever is still there has given up. */
  stop(): void {
    clearTimeout(this.#timer)
    this.schedule.stop()
    this.#hasty.close()
    for (let visitor = 0; visitor < this.visitors.size; visitor++)
      if (this.visitors.end[visitor] === 0) this.finish(visitor, 'gave_up')
    this.#done?.()
  }

  // -- For the steps of a visit ------------------------------------------------------------------------------------

  /** Sends a request that was meant for `intendedMs`, for a visitor who is still there when the response comes. */
  send(
    visitor: number,
    kind: Kind,
    text: string,
    intendedMs: number,
    answered: (answer: Answer, meantMs: number) => unknown,
  ): void {
    const { visitors, tally, options } = this
    this.count(visitor, kind)
    const meantMs = visitors.meantMs[visitor] || intendedMs
    visitors.meantMs[visitor] = 0
    const underWay = kind === 'checkout' || kind === 'payment' ? 1 : 0
    tally.underWay += underWay
    const client = options.hangUps > 0 && options.random() < options.hangUps ? this.#hasty : this.client
    client.send(text, (answer) => {
      tally.underWay -= underWay
      if (visitors.end[visitor] !== 0) return
      tally.refused(kind, answer)
      const triesAgain =
        answered(answer, meantMs) === NOT_SERVED && visitors.end[visitor] === 0 && !isServed(answer.status)
      if (triesAgain) visitors.meantMs[visitor] = meantMs
      else tally.latency[kind].add(answer.answeredMs - meantMs)
    })
  }

  count(visitor: number, kind: Kind): void {
    this.tally.requests[kind]++
    this.visitors.workerRequests[visitor] = (this.visitors.workerRequests[visitor] ?? 0) + 1
  }

  /** Retries the same step later, within bounds. */
  again(visitor: number, kind: Kind, answer: Answer): unknown {
    const { visitors, tally, options } = this
    const { status } = answer
    const tries = (visitors.attempts[visitor] ?? 0) + 1
    const mayHelp = isServed(status) || status === 503 || status === 0
    if (!mayHelp || status === 0)
      tally.complain(`${kind}: ${status || answer.failure} ${status ? problemType(answer) : ''}`.trim())
    if (tries > (mayHelp ? MAX_TRIES : MAX_ERRORS)) {
      this.finish(visitor, 'failed')
      return NOT_SERVED
    }
    visitors.attempts[visitor] = tries
    const retryAfterMs = Number(headerOf(answer, 'retry-after')) * 1000 || 0
    const backoffMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10))
    const waitMs = retryAfterMs > 0 ? Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : backoffMs
    this.at(visitor, answer.answeredMs + waitMs * (0.9 + options.random() * 0.2))
    return NOT_SERVED
  }

  /** Wakes a visitor at a moment. */
  at(visitor: number, atMs: number): void {
    this.#wheel.at(visitor, atMs)
  }

  go(visitor: number, step: number): void {
    const { visitors, tally } = this
    if (visitors.step[visitor] === step) return
    tally.counts.waiting += inLine(step) - inLine(visitors.step[visitor])
    visitors.step[visitor] = step
    visitors.attempts[visitor] = 0
  }

  finish(visitor: number, end: End) {
    const { visitors, tally } = this
    const step = visitors.step[visitor]
    if (!visitors.finish(visitor, end)) return
    tally.counts.waiting -= inLine(step)
    tally.ends[end]++
    if (visitors.ended === visitors.size) this.stop()
  }

  /** Milliseconds until a person's next click; some are quick, a few slow. */
  think(): number {
    const { thinkMs, random } = this.options
    return Math.min(5 * thinkMs, -Math.log(1 - random()) * thinkMs)
  }

  settleAfter(visitor: number): number {
    const tries = this.visitors.attempts[visitor] ?? 0
    if (tries < MAX_TRIES - 1) this.visitors.attempts[visitor] = tries + 1
    return Math.min(SETTLE_MAX_MS, SETTLE_MS * 1.5 ** tries) * (0.75 + this.options.random() / 2)
  }

  // -- The draw ----------------------------------------------------------------------------------------------------

  /** A visitor's position in the drawn order; infinite before the draw. */
  positionOf(visitor: number): number {
    const known = this.visitors.position[visitor]
    if (known) return known
    const draw = this.draw()
    if (!draw) return Number.POSITIVE_INFINITY
    const position = draw.positionOf(this.visitors.number[visitor] ?? Number.NaN)
    this.visitors.position[visitor] = position
    return position
  }

  /** The draw of the public schedule; null before it is made. */
  draw(): DrawTable | null {
    const { copy } = this.schedule
    if (!this.#draw && isDrawn(copy))
      this.#draw = new DrawTable({
        seed: copy.draw_seed,
        size: copy.pre_queue_size,
        beacon: copy.draw_beacon,
      })
    return this.#draw
  }

  checkPosition(visitor: number, place: PlaceResponse): void {
    if (place.status !== 'waiting' || place.position_in_queue === null || !this.draw()) return
    this.tally.positions.seen++
    if (place.position_in_queue + place.now_serving !== this.positionOf(visitor)) this.tally.positions.wrong++
  }

  // -- Requests ----------------------------------------------------------------------------------------------------

  /** The idempotency key; a retry for one unit instead of two is another request. */
  keyOf(visitor: number): string {
    return `${this.options.sale}-${visitor}${this.visitors.has(visitor, PLAN.pair) ? '-pair' : ''}`
  }

  checkoutText(visitor: number, key: string): string {
    const { visitors, options, client } = this
    const method = visitors.has(visitor, PLAN.payAtOnce) ? visitors.methodOf(visitor) : null
    return requestText(
      'POST',
      `/sales/${options.sale}/checkout`,
      client.host,
      [
        'accept: application/json',
        `authorization: Bearer ${visitors.token[visitor]}`,
        `idempotency-key: ${key}`,
      ],
      JSON.stringify({ quantity: visitors.quantityOf(visitor), payment_method: method ?? undefined }),
    )
  }

  /** A call about a visitor's order. */
  orderText(visitor: number, method: string, path = '', body?: object): string {
    return requestText(
      method,
      `/orders/${this.visitors.orders.get(visitor)?.order}${path}`,
      this.client.host,
      ['accept: application/json', `authorization: Bearer ${this.visitors.token[visitor]}`],
      body && JSON.stringify(body),
    )
  }
}
