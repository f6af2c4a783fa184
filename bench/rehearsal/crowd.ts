/**
 * The crowd: every visitor is a real HTTP client. What each of them does is in visit.ts; here is what they share: the
 * clock that wakes them, the connections, the retries, and what they can know of the draw.
 *
 * Reads of the schedule are counted for each visitor, but one copy serves them all, as that in a Worker's memory does;
 * every other request is really sent, for each visitor alone.
 *
 * Open loop: what a visitor does next is timed before it is known how busy anything is, and a latency is counted from
 * the moment for which the request was meant, through any queue on our own side, until it is served: one that is tried
 * again is still waited for. So a slow server cannot make its own figures look better by slowing down those who measure
 * it, nor by turning them away.
 */

import { isDrawn } from '../../shared/schedule.ts'
import { type PlaceTold, problemType } from '../lib/answers.ts'
import { type Answer, HttpClient, headerOf, requestText } from '../lib/http.ts'
import { DrawTable } from '../verdict/draw-table.ts'
import type { End } from '../verdict/story.ts'
import { Cdn } from './cdn.ts'
import { type Kind, Tally } from './tally.ts'
import { Wheel } from './timer-wheel.ts'
import { visit } from './visit.ts'
import { STEP, type Visitors } from './visitors.ts'

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

const TICK_MS = 1
/** Tries at one step before a visitor gives up; a person would have long before. */
const MAX_TRIES = 60
/** A first retry comes after about so long, twice as long each time, up to the second. */
const RETRY_MS = 200
const RETRY_MAX_MS = 8_000
/** An unpaid order is asked for after so long, then less and less often. */
const SETTLE_MS = 400
const SETTLE_MAX_MS = 4_000

/** What became of an answer, if the same step is to be tried again. */
const NOT_SERVED = Symbol('not served')
/** Answers in their own right, which say why there is no more to be had yet: units in carts, not open. */
const isAnswer = (status: number) => status === 409 || status === 425

export class Crowd {
  readonly tally = new Tally()
  readonly cdn: Cdn
  readonly client: HttpClient
  readonly visitors: Visitors
  readonly options: CrowdOptions
  readonly #wheel: Wheel
  /** Requests that are the same for everyone. */
  readonly texts: { readonly page: string; readonly join: string }
  #draw: DrawTable | null = null
  #timer: NodeJS.Timeout | undefined
  #done: (() => void) | undefined

  constructor(visitors: Visitors, options: CrowdOptions) {
    this.visitors = visitors
    this.options = options
    this.client = new HttpClient({ url: options.edge, connections: options.connections })
    this.cdn = new Cdn(this.client, options.sale)
    const { host } = this.client
    const path = `/sales/${options.sale}`
    this.texts = {
      page: requestText('GET', path, host, ['accept: text/html']),
      join: requestText('POST', `${path}/queue`, host, ['accept: application/json']),
    }
    this.#wheel = new Wheel(visitors.size, performance.now(), (visitor, dueMs) => visit(this, visitor, dueMs))
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
      if (this.visitors.end[visitor] === 0) this.finish(visitor, 'gave_up')
    this.#done?.()
  }

  // -- For the steps of a visit ------------------------------------------------------------------------------------

  /** Sends a request that was meant for `intendedMs`, on behalf of a visitor who is still there when it is answered. */
  send(
    visitor: number,
    kind: Kind,
    text: string,
    intendedMs: number,
    answered: (answer: Answer, meantMs: number) => unknown,
  ): void {
    const { visitors, tally } = this
    tally.requests[kind]++
    visitors.workerRequests[visitor] = (visitors.workerRequests[visitor] ?? 0) + 1
    const meantMs = visitors.meantMs[visitor] || intendedMs
    visitors.meantMs[visitor] = 0
    this.client.send(text, (answer) => {
      // Whoever had given up when the answer came is not brought back by it.
      if (visitors.end[visitor] !== 0) return
      tally.refused(kind, answer)
      const triesAgain =
        answered(answer, meantMs) === NOT_SERVED && visitors.end[visitor] === 0 && !isAnswer(answer.status)
      if (triesAgain) visitors.meantMs[visitor] = meantMs
      else tally.latency[kind].add(answer.answeredMs - meantMs)
    })
  }

  /** Not served: tries the same step again a while later, as often as anyone would. */
  again(visitor: number, kind: Kind, answer: Answer): unknown {
    const { visitors } = this
    const { status } = answer
    const tries = (visitors.attempts[visitor] ?? 0) + 1
    const waits = isAnswer(status) || status === 503 || status === 0
    if (!waits || status === 0)
      this.tally.complain(`${kind}: ${status || answer.failure} ${status ? problemType(answer) : ''}`.trim())
    if (tries > MAX_TRIES || (!waits && tries > 5)) {
      this.finish(visitor, 'failed')
      return NOT_SERVED
    }
    visitors.attempts[visitor] = tries
    const askedMs = Number(headerOf(answer, 'retry-after')) * 1000 || 0
    const backoffMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10))
    const waitMs = (askedMs > 0 ? Math.min(askedMs, 60_000) : backoffMs) * (0.9 + this.options.random() * 0.2)
    this.at(visitor, answer.answeredMs + waitMs)
    return NOT_SERVED
  }

  /** Wakes a visitor at a moment. */
  at(visitor: number, atMs: number): void {
    this.#wheel.at(visitor, atMs)
  }

  go(visitor: number, step: number): void {
    const { visitors, tally } = this
    if (visitors.step[visitor] === step) return
    tally.counts.waiting += waits(step) - waits(visitors.step[visitor])
    visitors.step[visitor] = step
    visitors.attempts[visitor] = 0
  }

  finish(visitor: number, end: End) {
    const { visitors, tally } = this
    const step = visitors.step[visitor]
    if (!visitors.finish(visitor, end)) return
    tally.counts.waiting -= waits(step)
    tally.ends[end]++
    if (visitors.ended === visitors.size) this.stop()
  }

  /** Milliseconds a person takes; some are quick, a few slow. */
  think(): number {
    const { thinkMs, random } = this.options
    return Math.min(5 * thinkMs, -Math.log(1 - random()) * thinkMs)
  }

  settleAfter(visitor: number): number {
    const tries = this.visitors.attempts[visitor] ?? 0
    if (tries < MAX_TRIES - 1) this.visitors.attempts[visitor] = tries + 1
    return Math.min(SETTLE_MAX_MS, SETTLE_MS * 1.5 ** tries) * (0.75 + this.options.random() / 2)
  }

  // -- Evidence ----------------------------------------------------------------------------------------------------

  /** A visitor's position, once it is drawn; remembered, since it never changes. */
  positionOf(visitor: number): number {
    const known = this.visitors.position[visitor]
    if (known) return known
    const draw = this.draw()
    if (!draw) return Number.POSITIVE_INFINITY
    const position = draw.positionOf(this.visitors.number[visitor] ?? Number.NaN)
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
  checkPosition(visitor: number, told: PlaceTold): void {
    if (told.status !== 'waiting' || told.position_in_queue === null || !this.draw()) return
    this.tally.positions.told++
    if (told.position_in_queue + told.now_serving !== this.positionOf(visitor)) this.tally.positions.wrong++
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

const waits = (step: number | undefined) => (step === STEP.wait || step === STEP.claim ? 1 : 0)
