/**
 * The crowd, in which every visitor is a real HTTP client. visit.ts has the steps of a visit; this file has what
 * visitors share: the clock that wakes them, connections, retries, and the draw as the public can calculate it.
 *
 * Every request is really sent, except reads of the schedule, of which one copy serves all visitors, as in a CDN.
 *
 * The load is an open loop: a visitor's next step has its time however busy the system is, and latency counts from
 * the moment at which a request was due until it was served, including local queues and retries. So a slow server
 * cannot improve its figures by slowing down or turning away the visitors who measure it.
 */
import type { VisitorKey } from '../../edge/http/visitor-secret.ts'
import { isDrawn } from '../../shared/schedule.ts'
import { DrawTable } from '../invariants/draw-table.ts'
import type { End } from '../invariants/evidence.ts'
import { listen } from '../lib/event-stream.ts'
import { type Answer, HttpClient, headerOf } from '../lib/http.ts'
import { type OrderAnswer, problemType } from '../lib/responses.ts'
import { type RequestOptions, Requests } from './requests.ts'
import { ScheduleCopy } from './schedule-copy.ts'
import { type Kind, Tally } from './tally.ts'
import { Wheel } from './timer-wheel.ts'
import type { Prover } from './visitors/prover.ts'
import type { Step, Visitor } from './visitors/visitors.ts'

interface CrowdOptions extends RequestOptions {
  /** The address for public content, which may have a cache in front. */
  readonly edge: string
  /** The address for a visitor's own requests, which Cloudflare passes to a Worker at no cost to this machine. */
  readonly worker: string
  /** The average time in milliseconds from one click to the next. */
  readonly thinkMs: number
  /** The share of calls that are aborted almost at once. */
  readonly hangUps: number
  /** How long a turn may be claimed. */
  readonly claimSeconds: number
  /** Solves proofs of work; null if the sale requires none. */
  readonly prover: Prover | null
  /**
   * Signs the cookies of returning visitors; null for a running system, which would take them for those of an old
   * version.
   */
  readonly visitorKey: VisitorKey | null
  /** Called when a visitor has seen their order of so many units confirmed. */
  readonly onBought: (order: string, units: number) => void
}

const TICK_MS = 1
/**
 * The number of connections of each pool, so that few requests wait for one. If one waits, its latency counts from
 * its intended time.
 */
const CONNECTIONS = 512
/**
 * Each browser has its own connections, so that a turn never waits for another visitor's join. Here visitors share
 * some: requests of the same kind, which take about the same time, share a pool.
 */
const POOL_OF: Readonly<Record<Exclude<Kind, 'bank' | 'stream'>, 'pages' | 'joins' | 'turns' | 'shop'>> = {
  front: 'pages',
  search: 'pages',
  feed: 'pages',
  page: 'pages',
  final: 'pages',
  challenge: 'joins',
  join: 'joins',
  admission: 'turns',
  status: 'turns',
  checkout: 'shop',
  payment: 'shop',
  order: 'shop',
}
/** True for requests that belong to one visitor. */
export const isOwn = (kind: Exclude<Kind, 'bank'>) => kind === 'stream' || POOL_OF[kind] !== 'pages'
/** The number of attempts of one step before a visitor gives up; a person would do so long before. */
const MAX_TRIES = 60
/** The number of attempts after an error that waiting does not correct. */
const MAX_ERRORS = 5
const RETRY_MS = 200
const RETRY_MAX_MS = 8_000
const RETRY_AFTER_MAX_MS = 60_000
/** An order in progress is polled at this interval, which grows. */
const SETTLE_MS = 400
const SETTLE_MAX_MS = 4_000
const HANG_UP_MS = 60
/**
 * The value is the same as in edge/client/order-watch.ts: several changes may arrive at once, and the last one
 * counts.
 */
const SEVERAL_MS = 80

const NOT_SERVED = Symbol('not served')
/** Statuses that are complete responses although they say "not yet": units in carts, not open. */
const isServed = (status: number) => status === 409 || status === 425
/** A refused purchase counts too, whose page shows the problem next to the form. */
const isLimit = (answer: Answer) =>
  answer.status === 429 && (problemType(answer) === '/problems/too-many-requests' || answer.body.includes('id="turn"'))
/**
 * True if the visitor has an unpaid order and others want the units. The response has a time to retry; without one
 * the refusal is final.
 */
const isBehindOthers = (answer: Answer) =>
  answer.status === 429 && headerOf(answer, 'retry-after') !== '' && problemType(answer) === '/problems/too-many-orders'
const isQueued = (step: Step) => (step === 'wait' || step === 'claim' ? 1 : 0)

export class Crowd {
  readonly tally = new Tally()
  readonly schedule: ScheduleCopy
  readonly visitors: readonly Visitor[]
  ended = 0
  /** Ends what visitors by the client wait for. */
  readonly ending = new AbortController()
  readonly options: CrowdOptions
  /** The first step: a join, or the proof of work before it if the sale requires one. */
  readonly entry: Step
  readonly requests: Requests
  /** The request for the sale's page, which is the same for everyone. */
  readonly pageText: string
  readonly #pools: Readonly<Record<(typeof POOL_OF)[keyof typeof POOL_OF], HttpClient>>
  readonly #hasty: HttpClient
  /** The functions that end the open streams of orders' changes. */
  readonly #streams = new Set<() => void>()
  /** The client of the payment provider's bank, which is created for the first buyer. */
  #bank: HttpClient | undefined
  readonly #wheel: Wheel
  #draw: DrawTable | null = null
  #timer: NodeJS.Timeout | undefined
  #done: (() => void) | undefined

  /** `visit` runs a visitor's next step, which was due at `dueMs`. */
  constructor(
    visitors: readonly Visitor[],
    options: CrowdOptions,
    visit: (crowd: Crowd, visitor: Visitor, dueMs: number) => void,
  ) {
    const { edge, worker, sale } = options
    this.visitors = visitors
    this.options = options
    this.entry = options.prover ? 'prove' : 'join'
    const pool = (url: string) => new HttpClient({ url, connections: CONNECTIONS })
    this.#pools = { pages: pool(edge), joins: pool(worker), turns: pool(worker), shop: pool(worker) }
    this.#hasty = new HttpClient({ url: worker, connections: CONNECTIONS, timeoutMs: HANG_UP_MS })
    this.schedule = new ScheduleCopy(this.#pools.pages, sale)
    this.requests = new Requests(this.#pools.pages.host, options, this.schedule)
    this.pageText = this.requests.ofSale('GET', '', ['accept: text/html'])
    this.#wheel = new Wheel(visitors.length, performance.now(), (id, dueMs) => {
      const visitor = visitors[id]
      if (visitor) visit(this, visitor, dueMs)
    })
    for (const { id, arrivalMs } of visitors) this.#wheel.at(id, Math.max(1, arrivalMs))
  }

  /** Runs until every visitor has finished, or until it is stopped. */
  play(): Promise<void> {
    this.schedule.start()
    const tick = () => {
      this.#wheel.run(performance.now())
      this.#timer = setTimeout(tick, TICK_MS)
    }
    tick()
    return new Promise((resolve) => {
      this.#done = resolve
      if (this.ended === this.visitors.length) this.stop()
    })
  }

  /** Visitors who are still there have given up. */
  stop(): void {
    clearTimeout(this.#timer)
    this.ending.abort()
    this.schedule.stop()
    this.#hasty.close()
    for (const visitor of this.visitors) this.finish(visitor, visitor.isBehindOthers ? 'others_first' : 'gave_up')
    this.#done?.()
  }

  /** Closes all connections after the last read of the schedule. */
  close(): void {
    for (const pool of Object.values(this.#pools)) pool.close()
    this.#bank?.close()
    for (const stop of this.#streams) stop()
  }

  /** Sends a request for which no visitor's step waits. */
  sendBeside(kind: Exclude<Kind, 'bank' | 'stream'>, text: string, answered: (answer: Answer) => void): void {
    this.tally.requests[kind]++
    this.#pools[POOL_OF[kind]].send(text, answered)
  }

  // -- For the steps of a visit ------------------------------------------------------------------------------------

  /** Sends a request that was due at `intendedMs`. The response is ignored if the visitor has left. */
  send(
    visitor: Visitor,
    kind: Exclude<Kind, 'stream'>,
    text: string,
    intendedMs: number,
    answered: (answer: Answer, meantMs: number) => unknown,
  ): void {
    const { tally, options } = this
    tally.requested(kind, visitor)
    const meantMs = visitor.meantMs || intendedMs
    visitor.meantMs = 0
    const inFlight = kind === 'checkout' || kind === 'payment' ? 1 : 0
    tally.inFlight += inFlight
    const isHasty = kind !== 'bank' && options.hangUps > 0 && options.random() < options.hangUps
    const client = isHasty ? this.#hasty : kind === 'bank' ? this.#bankOf(visitor) : this.#pools[POOL_OF[kind]]
    client.send(text, (answer) => {
      tally.inFlight -= inFlight
      if (visitor.end) return
      tally.refused(kind, answer)
      visitor.refusedByLimit ||= isLimit(answer)
      const triesAgain = answered(answer, meantMs) === NOT_SERVED && !visitor.end && !isServed(answer.status)
      if (triesAgain) visitor.meantMs = meantMs
      else tally.latency[kind].add(answer.answeredMs - meantMs)
    })
  }

  /**
   * Listens to a visitor's order until it differs from what they see, by `isNews`. `changed` gets null if the stream
   * ends before that.
   */
  listen(
    visitor: Visitor,
    isNews: (seen: OrderAnswer) => boolean,
    changed: (seen: OrderAnswer | null, atMs: number) => void,
  ): void {
    const { tally, options } = this
    tally.requested('stream', visitor)
    const sentMs = performance.now()
    let settling: NodeJS.Timeout | undefined
    const settle = (seen: OrderAnswer | null) => {
      stop()
      if (!visitor.end) changed(seen, performance.now())
    }
    const url = `${options.worker}/orders/${visitor.order?.order}/events`
    const [, cookie = ''] = this.requests.cookiesOf(visitor).split(': ')
    const identity = options.identityOf(visitor.id).headers.map((line) => line.split(/: */, 2))
    const ends = listen(
      url,
      { cookie, ...Object.fromEntries(identity) },
      {
        answered: (status) => {
          tally.latency.stream.add(performance.now() - sentMs)
          tally.refused('stream', { status, failure: 'no response' })
        },
        received: (data) => {
          const seen = JSON.parse(data) as OrderAnswer
          clearTimeout(settling)
          settling = isNews(seen) ? setTimeout(settle, SEVERAL_MS, seen) : undefined
        },
        ended: () => settling ?? settle(null),
      },
    )
    const stop = () => {
      clearTimeout(settling)
      ends()
      this.#streams.delete(stop)
    }
    this.#streams.add(stop)
  }

  #bankOf({ order }: Visitor): HttpClient {
    this.#bank ??= new HttpClient({ url: new URL(order?.bank ?? '').origin, connections: CONNECTIONS })
    return this.#bank
  }

  /** Repeats the same step later, within limits. */
  again(visitor: Visitor, kind: Kind, answer: Answer): unknown {
    const { tally, options } = this
    const { status } = answer
    const tries = visitor.attempts + 1
    visitor.isBehindOthers = isBehindOthers(answer)
    const mayHelp = isServed(status) || status === 503 || status === 0 || isLimit(answer) || visitor.isBehindOthers
    if (!mayHelp || status === 0)
      tally.complain(`${kind}: ${status || answer.failure} ${status ? problemType(answer) : ''}`.trim())
    // Errors are counted separately, because the many attempts during an outage are no reason to give up at the first
    // error.
    if (!mayHelp) visitor.errors++
    if (tries > MAX_TRIES || visitor.errors > MAX_ERRORS) {
      tally.complain(`${kind}: given up after ${tries} tries, the last ${status || answer.failure}`)
      // The last visitor who is there has nobody else in front.
      const isLast = this.ended === this.visitors.length - 1
      this.finish(visitor, visitor.isBehindOthers && !isLast ? 'others_first' : 'failed')
      return NOT_SERVED
    }
    visitor.attempts = tries
    const retryAfterMs = Number(headerOf(answer, 'retry-after')) * 1000 || 0
    const backoffMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10))
    const waitMs = retryAfterMs > 0 ? Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : backoffMs
    this.at(visitor, answer.answeredMs + waitMs * (0.9 + options.random() * 0.2))
    return NOT_SERVED
  }

  /** Wakes a visitor at a moment. */
  at(visitor: Visitor, atMs: number): void {
    this.#wheel.at(visitor.id, atMs)
  }

  go(visitor: Visitor, step: Step): void {
    if (visitor.step === step) return
    this.tally.counts.waiting += isQueued(step) - isQueued(visitor.step)
    visitor.step = step
    visitor.attempts = 0
    visitor.errors = 0
    visitor.isBehindOthers = false
  }

  /** The first end counts, and later ones are ignored. */
  finish(visitor: Visitor, end: End): void {
    if (visitor.end) return
    this.go(visitor, 'gone')
    visitor.end = end
    visitor.token = ''
    this.tally.ends[end]++
    if (end === 'bought' && visitor.byForms()) this.tally.boughtByPage(visitor)
    if (end === 'bought' && visitor.order) this.options.onBought(visitor.order.order, visitor.quantity())
    this.ended++
    if (this.ended === this.visitors.length) this.stop()
  }

  /** The time in milliseconds until a person's next click; some are quick, and a few are slow. */
  think(): number {
    const { thinkMs, random } = this.options
    return Math.min(5 * thinkMs, -Math.log(1 - random()) * thinkMs)
  }

  settleAfter(visitor: Visitor): number {
    const tries = visitor.attempts
    if (tries < MAX_TRIES - 1) visitor.attempts = tries + 1
    return Math.min(SETTLE_MAX_MS, SETTLE_MS * 1.5 ** tries) * (0.75 + this.options.random() / 2)
  }

  // -- The draw ----------------------------------------------------------------------------------------------------

  /** A visitor's position in the drawn order; infinite before the draw. */
  positionOf(visitor: Visitor): number {
    visitor.position ??= this.draw()?.positionOf(visitor.number ?? Number.NaN) ?? null
    return visitor.position ?? Number.POSITIVE_INFINITY
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

  /** Compares the position in a response with the draw; null means that the response has none. */
  checkPosition(visitor: Visitor, position: number | null): void {
    if (position === null || !this.draw()) return
    this.tally.positions.seen++
    if (position !== this.positionOf(visitor)) this.tally.positions.wrong++
  }
}
