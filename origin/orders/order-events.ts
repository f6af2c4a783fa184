/**
 * An order's changes as server-sent events (WHATWG HTML, section 9.2). The event id is the sequence number in events;
 * the first event has id 0. After a break the browser sends the last id that it saw (Last-Event-ID) and gets what it missed.
 * One listening connection per process wakes the streams, and one statement reads for all that are awake.
 */
import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Logger } from 'pino'
import type { Order } from '../../shared/api/public.ts'
import { isSettled } from '../../shared/order-status.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { listenToOrders, type OrderUpdate, type OrderView, readOrderEvents } from '../ledger/order-statements.ts'
import { Batcher } from '../lib/batcher.ts'
import { Signal } from '../lib/signal.ts'

/** Open streams in one process; more clients get a "try again" and poll. */
const MAX_STREAMS = 20_000
/** Open streams of one order. A buyer has a few tabs, and must leave room for others. */
const MAX_STREAMS_OF_ORDER = 10
/** Interval of comments that keep proxies from closing a quiet stream, and of reads in case a notification was lost. */
const HEARTBEAT_MS = 10_000
/** Interval of reads while an order is not recorded: the insert of a reservation sends no notification. */
const UNRECORDED_MS = 500
/** After this long a stream ends, and the browser reconnects. */
const MAX_STREAM_MS = 15 * 60_000
/** The browser's reconnection delay, jittered so that not all reconnect at once after a restart. */
const RETRY_MS = 1_000
const READ = { size: 500, queue: MAX_STREAMS }
/** The position in the log before the first event. */
const NO_EVENT = -1

export class OrderEvents {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #maxStreams: number
  /** Open streams by order. */
  readonly #streams = new Map<string, Set<Signal>>()
  #open = 0
  #stop: (() => Promise<unknown>) | undefined
  #stopped = false

  constructor(sql: Sql, log: Logger, maxStreams = MAX_STREAMS) {
    this.#sql = sql
    this.#log = log
    this.#maxStreams = maxStreams
  }

  /** Listens for changes. The driver listens again by itself after a lost connection. */
  async start(): Promise<void> {
    const { unlisten } = await listenToOrders(
      this.#sql,
      (orderId) => this.notify(orderId),
      () => this.#wakeAll(),
    )
    this.#stop = unlisten
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wakeAll()
    await this.#stop?.().catch((error) => this.#log.debug({ error: String(error) }, 'listener already ended'))
  }

  notify(orderId: string): void {
    for (const signal of this.#streams.get(orderId) ?? []) signal.notify()
  }

  #wakeAll(): void {
    for (const orderId of this.#streams.keys()) this.notify(orderId)
  }

  readonly #reads = new Batcher<{ order: string; last: number }, OrderUpdate>(READ, (reads) =>
    readOrderEvents(this.#sql, reads),
  )

  /** Streams the events of an order, each with the order as `show` formats it. */
  async stream(c: Context, orderId: string, show: (order: OrderView) => Order): Promise<Response> {
    const signals = this.#streams.get(orderId) ?? new Set()
    if (this.#open >= this.#maxStreams || signals.size >= MAX_STREAMS_OF_ORDER)
      throw new ProblemError(
        problem('try-again', {
          detail: 'Too many are watching. Ask for the order instead.',
          retry_after_seconds: 5,
        }),
      )
    // Counted before the first await, so that simultaneous requests see each other.
    const signal = new Signal()
    this.#streams.set(orderId, signals.add(signal))
    this.#open++
    const close = () => {
      this.#open--
      signals.delete(signal)
      if (signals.size === 0) this.#streams.delete(orderId)
    }
    let isStreaming = false
    try {
      const after = Number(/^\d{1,15}$/.exec(c.req.header('last-event-id') ?? '')?.[0] ?? NO_EVENT)
      const first = await this.#reads.add({ order: orderId, last: after }).catch(() => undefined)
      // A 204 makes the browser stop reconnecting.
      if (first?.order && isSettled(first.order.status) && first.events.length === 0) return c.body(null, 204)
      c.header('x-accel-buffering', 'no')
      // Hono serves HEAD with the GET handler and drops the body: a stream that nobody reads would wait forever.
      if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
      isStreaming = true
      return streamSSE(c, async (stream) => {
        stream.onAbort(signal.notify)
        await this.#follow(stream, signal, orderId, first, after, show).finally(close)
      })
    } finally {
      if (!isStreaming) close()
    }
  }

  async #follow(
    stream: SSEStreamingApi,
    signal: Signal,
    orderId: string,
    first: OrderUpdate | undefined,
    after: number,
    show: (order: OrderView) => Order,
  ): Promise<void> {
    const until = performance.now() + MAX_STREAM_MS
    const isOver = () => stream.aborted || this.#stopped || performance.now() >= until
    let last = after
    // What is there at once goes out in one piece: each piece costs every proxy on the way as much as a whole one.
    let text = `retry: ${Math.round(RETRY_MS * (1 + Math.random()))}\n\n`
    for (let update = first; ; ) {
      const events = update?.events ?? []
      const order = update?.order && show(update.order)
      for (const [i, { seq, status, at }] of events.entries()) {
        last = seq
        // The reason and the payment are those of the order's present state, so earlier states are sent without them.
        const now = i === events.length - 1 ? {} : { reason: undefined, payment: undefined }
        const data = JSON.stringify({ ...order, ...now, order_id: orderId, status, at: new Date(at).toISOString() })
        text += `id: ${seq}\nevent: order\ndata: ${data}\n\n`
      }
      if (text !== '') await stream.write(text)
      text = ''
      // The order's status decides, since the last event may have been sent before the client reconnected.
      if (update?.order && isSettled(update.order.status)) return
      if (isOver()) return
      const notified = await signal.wait(update && !update.order ? UNRECORDED_MS : HEARTBEAT_MS)
      if (isOver()) return
      if (!notified) text = ': still here\n\n'
      // While the ledger is away the stream stays open, and continues when the ledger is back.
      update = await this.#reads.add({ order: orderId, last }).catch(() => undefined)
    }
  }
}
