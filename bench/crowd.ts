/**
 * The crowd: real HTTP clients that play a sale as people and their browsers would. Each visitor joins, waits without
 * asking (the page works its place out from the public schedule, which is read here once for all, as a CDN would serve
 * it), comes when the turn has come, checks out, pays or does not, and is told how it ended.
 *
 * Arrivals are open-loop: a visitor's time is counted from the moment they meant to come, however busy the crowd's own
 * machine is, so that a slow server cannot make its own figures look better.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import * as v from 'valibot'
import { Order, QueueAnswer } from '../shared/api.ts'
import { positionOf } from '../shared/draw.ts'
import { isDrawn, Schedule, serving } from '../shared/schedule.ts'
import { Histogram } from './histogram.ts'
import type { End, Story } from './verdict.ts'

export interface CrowdOptions {
  readonly edge: string
  readonly sale: string
  /** Milliseconds after the opening at which each visitor comes, in order. */
  readonly arrivals: Float64Array
  /** When the sale opens, on performance.now()'s clock. */
  readonly opensAtMs: number
  readonly random: () => number
  /** Shares of those who get a unit. */
  readonly declines: number
  readonly timeouts: number
  readonly abandon: number
  /** One in ten calls for everything several times at once. */
  readonly bots: boolean
  /** Nobody waits beyond this, on performance.now()'s clock. */
  readonly untilMs: number
}

/** Connections held open to the edge; a crowd of browsers would have more, and each would be idle. */
const CONNECTIONS = 256
/** Arrivals that are late are sent as fast as this many at once. */
const MAX_JOINING = 512
const SCHEDULE_EVERY_MS = 500
const TICK_MS = 10
/** The document's clock is read with a margin, so that nobody knocks a moment too early. */
const KNOCK_AFTER_MS = 30
const CALL_TIMEOUT_MS = 20_000
const MAX_ATTEMPTS = 60

export interface Counts {
  arrived: number
  queued: number
  admitted: number
  reserved: number
  bought: number
  declined: number
  abandoned: number
  soldOut: number
  failed: number
  /** Requests by kind, the schedule's as a browser each would have read it. */
  requests: { join: number; status: number; checkout: number; order: number; schedule: number }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: unknown
}

export class Crowd {
  readonly counts: Counts = {
    arrived: 0,
    queued: 0,
    admitted: 0,
    reserved: 0,
    bought: 0,
    declined: 0,
    abandoned: 0,
    soldOut: 0,
    failed: 0,
    requests: { join: 0, status: 0, checkout: 0, order: 0, schedule: 0 },
  }
  readonly latency = {
    join: new Histogram(),
    status: new Histogram(),
    checkout: new Histogram(),
    payment: new Histogram(),
  }
  /** Why visitors failed, for the report: the first of each kind. */
  readonly complaints = new Map<string, number>()
  readonly stories: Story[]
  schedule: Schedule | undefined

  readonly #options: CrowdOptions
  readonly #pool: Pool
  readonly #size: number
  readonly #tokens: (string | null)[]
  readonly #numbers: Float64Array
  readonly #joinedAtMs: Float64Array
  #clockMs = 0

  constructor(options: CrowdOptions) {
    this.#options = options
    this.#size = options.arrivals.length
    this.#pool = new Pool(options.edge, {
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: CALL_TIMEOUT_MS,
      bodyTimeout: CALL_TIMEOUT_MS,
    })
    this.#tokens = new Array(this.#size).fill(null)
    this.#numbers = new Float64Array(this.#size)
    this.#joinedAtMs = new Float64Array(this.#size)
    this.stories = Array.from({ length: this.#size }, () => UNTOLD)
  }

  /** The public schedule, read once before anyone comes: its commitment is what the draw is held to. */
  async readSchedule(): Promise<Schedule> {
    const asked = performance.now()
    const { body } = await this.#call('GET', `/sales/${this.#options.sale}/schedule`)
    const schedule = v.parse(Schedule, body)
    this.#clockMs = schedule.server_time_ms - (asked + performance.now()) / 2
    this.schedule = schedule
    return schedule
  }

  /** Plays until everyone has had an answer. */
  async play(): Promise<void> {
    const reading = new AbortController()
    const reader = this.#keepReading(reading.signal)
    const joining = this.#joinAll()
    const serving = this.#serveAll(joining)
    try {
      await Promise.all([joining, serving])
    } finally {
      reading.abort()
      await reader
      await this.#pool.close().catch(() => {})
    }
  }

  #now(): number {
    return performance.now() + this.#clockMs
  }

  async #keepReading(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.readSchedule().catch(() => {})
      await sleep(SCHEDULE_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #joinAll(): Promise<void> {
    const { arrivals, opensAtMs, bots, untilMs } = this.#options
    let joining = 0
    const done: Promise<void>[] = []
    let free = Promise.withResolvers<void>()
    for (let visitor = 0; visitor < this.#size; visitor++) {
      const intended = opensAtMs + (arrivals[visitor] ?? 0)
      const early = intended - performance.now()
      if (early > 1) await sleep(early)
      if (performance.now() > untilMs) return this.#abandonFrom(visitor)
      if (joining >= MAX_JOINING) {
        free = Promise.withResolvers<void>()
        await free.promise
      }
      joining++
      this.counts.arrived++
      const calls = bots && visitor % 10 === 0 ? 5 : 1
      const join = this.#join(visitor, intended, calls).finally(() => {
        joining--
        free.resolve()
      })
      done.push(join)
      // Only those under way need to be remembered.
      if (done.length >= 4 * MAX_JOINING) await Promise.all(done.splice(0, 2 * MAX_JOINING))
    }
    await Promise.all(done)
  }

  #abandonFrom(visitor: number): void {
    for (let left = visitor; left < this.#size; left++) this.#end(left, 'gave_up')
  }

  async #join(visitor: number, intendedMs: number, calls: number): Promise<void> {
    const path = `/sales/${this.#options.sale}/queue`
    for (let attempt = 1; ; attempt++) {
      const sentMs = performance.now()
      const extra = Array.from({ length: calls - 1 }, () =>
        this.#call('GET', `/sales/${this.#options.sale}/schedule`).catch(() => {}),
      )
      const answer = await this.#call('POST', path).catch((error) => this.#complain('join', error))
      this.counts.requests.join++
      await Promise.all(extra)
      if (answer && (answer.status === 201 || answer.status === 200)) {
        const answeredMs = performance.now()
        const told = v.parse(QueueAnswer, answer.body)
        this.latency.join.add(answeredMs - intendedMs)
        this.#numbers[visitor] = told.number
        this.#tokens[visitor] = told.queue_token ?? null
        this.#joinedAtMs[visitor] = answeredMs
        this.stories[visitor] = {
          ...UNTOLD,
          number: told.number,
          joinSentMs: sentMs,
          joinAnsweredMs: answeredMs,
        }
        this.counts.queued++
        this.#waiting.push(visitor)
        return
      }
      if (answer?.status === 410) return this.#tellOver(visitor, sentMs, answer)
      if (attempt >= MAX_ATTEMPTS || performance.now() > this.#options.untilMs)
        return this.#end(visitor, 'failed')
      await this.#retryAfter(answer, attempt)
    }
  }

  /** Came when it was over: told so instead of a number, which is an honest end too. */
  #tellOver(visitor: number, sentMs: number, answer: Answer): void {
    this.stories[visitor] = {
      ...UNTOLD,
      number: -1 - visitor,
      joinSentMs: sentMs,
      joinAnsweredMs: performance.now(),
    }
    const type = (answer.body as { type?: string }).type
    this.#end(visitor, type === '/problems/sold-out' ? 'sold_out' : 'ended')
  }

  /** Joined and not called yet, in no order; sorted by position once there are positions. */
  #waiting: number[] = []

  async #serveAll(joining: Promise<void>): Promise<void> {
    let everyoneCame = false
    void joining.then(() => {
      everyoneCame = true
    })
    let line: { visitor: number; position: number }[] = []
    const under = new Set<Promise<void>>()
    const begin = (work: Promise<void>) => {
      under.add(work)
      void work.finally(() => under.delete(work))
    }
    while (performance.now() < this.#options.untilMs) {
      const schedule = this.schedule
      if (schedule && isDrawn(schedule)) {
        if (this.#waiting.length > 0) {
          const draw = {
            seed: schedule.draw_seed,
            size: schedule.pre_queue_size,
            beacon: schedule.draw_beacon,
          }
          const came = this.#waiting.map((visitor) => ({
            visitor,
            position: positionOf(draw, this.#numbers[visitor] ?? 0),
          }))
          this.#waiting = []
          line = line.concat(came).sort((a, b) => b.position - a.position)
        }
        const over = schedule.phase === 'sold_out' || schedule.phase === 'ended'
        const served = serving(schedule, this.#now() - KNOCK_AFTER_MS)
        let knocking = 0
        for (let next = line.at(-1); next && (over || next.position <= served); next = line.at(-1)) {
          line.pop()
          begin(this.#turn(next.visitor))
          // What comes at once for all (the end) is spread a little, as jitter spreads it among browsers.
          if (++knocking >= MAX_JOINING) break
        }
        if (under.size > 4 * MAX_JOINING) await Promise.race(under)
      }
      if (everyoneCame && line.length === 0 && this.#waiting.length === 0 && under.size === 0) return
      await sleep(TICK_MS)
    }
    for (const { visitor } of line) this.#end(visitor, 'gave_up')
    await Promise.race([Promise.allSettled(under), sleep(CALL_TIMEOUT_MS)])
  }

  /** The turn has come, or the sale is over: knock, and take what comes. */
  async #turn(visitor: number): Promise<void> {
    const path = `/sales/${this.#options.sale}/queue/status`
    // As its page would have: the document about every fifteen seconds of the wait.
    this.counts.requests.schedule +=
      1 + Math.floor((performance.now() - (this.#joinedAtMs[visitor] ?? 0)) / 15_000)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (performance.now() > this.#options.untilMs) return this.#end(visitor, 'gave_up')
      const sentMs = performance.now()
      const answer = await this.#call('GET', path, this.#tokens[visitor]).catch((error) =>
        this.#complain('status', error),
      )
      this.counts.requests.status++
      if (answer?.status === 200) {
        this.latency.status.add(performance.now() - sentMs)
        const told = v.parse(QueueAnswer, answer.body)
        if (told.status === 'sold_out') return this.#end(visitor, 'sold_out')
        if (told.status === 'ended') return this.#end(visitor, 'ended')
        if (told.status === 'missed_turn') return this.#end(visitor, 'missed_turn')
        if (told.status === 'ready' && told.admission_token) {
          this.counts.admitted++
          this.#amend(visitor, { admittedAtServing: told.now_serving })
          return this.#buy(visitor, told.admission_token)
        }
        await sleep(Math.min(told.poll_after_ms, 5_000))
        continue
      }
      await this.#retryAfter(answer, attempt)
    }
    this.#end(visitor, 'failed')
  }

  async #buy(visitor: number, admission: string): Promise<void> {
    const { sale, declines, timeouts, abandon, random, untilMs } = this.#options
    const key = `${sale}-${visitor}`
    for (let attempt = 1; performance.now() < untilMs; attempt++) {
      const sentMs = performance.now()
      const answer = await this.#call('POST', `/sales/${sale}/checkout`, admission, {}, key).catch((error) =>
        this.#complain('checkout', error),
      )
      this.counts.requests.checkout++
      if (answer && answer.status < 500) this.latency.checkout.add(performance.now() - sentMs)
      if (answer && (answer.status === 200 || answer.status === 201 || answer.status === 202)) {
        const order = v.parse(Order, answer.body)
        if (answer.status !== 202) this.#amend(visitor, { order: order.order_id })
        const settled =
          answer.status === 202
            ? await this.#until(order.order_id, admission, (s) => s !== 'processing')
            : order.status
        if (settled !== 'reserved') return this.#end(visitor, settled === undefined ? 'gave_up' : 'sold_out')
        this.#amend(visitor, { order: order.order_id })
        this.counts.reserved++
        const mood = random()
        if (mood < abandon) return this.#end(visitor, 'abandoned')
        const method =
          mood < abandon + declines
            ? 'pm_declined'
            : mood < abandon + declines + timeouts
              ? 'pm_flaky'
              : 'pm_ok'
        return this.#pay(visitor, order.order_id, admission, method)
      }
      if (answer?.status === 410) {
        return this.#end(
          visitor,
          (answer.body as { type?: string }).type === '/problems/ended' ? 'ended' : 'sold_out',
        )
      }
      if (
        answer &&
        answer.status !== 409 &&
        answer.status !== 503 &&
        answer.status !== 429 &&
        answer.status !== 425
      ) {
        this.#complain('checkout', new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`))
        return this.#end(visitor, 'failed')
      }
      if (answer?.status === 429) return this.#turn(visitor)
      await this.#retryAfter(answer, attempt)
    }
    this.#end(visitor, 'gave_up')
  }

  async #pay(visitor: number, order: string, admission: string, payment_method: string): Promise<void> {
    const sentMs = performance.now()
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const answer = await this.#call('POST', `/orders/${order}/payment`, admission, {
        payment_method,
      }).catch((error) => this.#complain('payment', error))
      this.counts.requests.order++
      if (answer && answer.status < 500) break
      await this.#retryAfter(answer, attempt)
    }
    const end = await this.#until(
      order,
      admission,
      (s) => s !== 'paying' && s !== 'reserved' && s !== 'processing',
    )
    this.latency.payment.add(performance.now() - sentMs)
    if (end === 'confirmed' || end === 'fulfilled') return this.#end(visitor, 'bought')
    this.#end(
      visitor,
      end === undefined ? 'gave_up' : payment_method === 'pm_declined' ? 'declined' : 'abandoned',
    )
  }

  /** Asks for an order until its status is right; undefined when that took too long. */
  async #until(
    order: string,
    admission: string,
    right: (status: string) => boolean,
  ): Promise<string | undefined> {
    for (
      let pauseMs = 300;
      performance.now() < this.#options.untilMs;
      pauseMs = Math.min(2_000, pauseMs * 1.3)
    ) {
      await sleep(pauseMs)
      const answer = await this.#call('GET', `/orders/${order}`, admission).catch((error) =>
        this.#complain('order', error),
      )
      this.counts.requests.order++
      const status = answer?.status === 200 ? v.parse(Order, answer.body).status : undefined
      if (status && right(status)) return status
    }
    return undefined
  }

  async #retryAfter(answer: Answer | undefined, attempt: number): Promise<void> {
    const asked = Number(answer?.headers['retry-after'] ?? 0) * 1000
    await sleep(
      Math.min(10_000, Math.max(asked, 100 * 2 ** Math.min(attempt, 5))) *
        (0.75 + this.#options.random() / 2),
    )
  }

  #amend(visitor: number, changes: Partial<Story>): void {
    this.stories[visitor] = { ...(this.stories[visitor] ?? UNTOLD), ...changes }
  }

  #end(visitor: number, end: End): void {
    this.#amend(visitor, { end })
    this.#tokens[visitor] = null
    if (end === 'bought') this.counts.bought++
    else if (end === 'declined') this.counts.declined++
    else if (end === 'abandoned') this.counts.abandoned++
    else if (end === 'sold_out' || end === 'ended') this.counts.soldOut++
    else this.counts.failed++
  }

  #complain(what: string, error: Error): undefined {
    const complaint = `${what}: ${error.message}`.slice(0, 300)
    if (this.complaints.size < 100 || this.complaints.has(complaint)) {
      this.complaints.set(complaint, (this.complaints.get(complaint) ?? 0) + 1)
    }
    return undefined
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    token?: string | null,
    body?: object,
    key?: string,
  ): Promise<Answer> {
    const {
      statusCode,
      headers,
      body: stream,
    } = await this.#pool.request({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key ? { 'idempotency-key': key } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await stream.text()
    return {
      status: statusCode,
      headers,
      body: /[/+]json/.test(String(headers['content-type'])) ? JSON.parse(text) : text,
    }
  }
}

const UNTOLD: Story = {
  number: null,
  joinSentMs: 0,
  joinAnsweredMs: 0,
  admittedAtServing: null,
  order: null,
  end: 'failed',
}
