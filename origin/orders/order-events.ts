/**
 * An order's changes as server-sent events (WHATWG HTML, section 9.2). The event id is the sequence number in events;
 * the first event has id 0. After a break the browser sends the last id that it saw (Last-Event-ID) and gets what it
 * missed. What other processes publish wakes the streams, and one statement reads for all that are awake. A change
 * that nobody published, or while Redis is away, is found in the ledger's log of events, which each process reads
 * once a second.
 */
import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { isSettled, statusOf } from '../../shared/api/order-status.ts'
import type { Order } from '../../shared/api/public.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Sql } from '../ledger/connection.ts'
import {
  changesAfter,
  endOfEvents,
  type LoggedChange,
  type OrderUpdate,
  type OrderView,
  readOrderEvents,
} from '../ledger/order-statements.ts'
import { Batcher } from '../lib/batcher.ts'
import {
  beginStream,
  EventStreams,
  HEARTBEAT,
  HEARTBEAT_MS,
  responseOf,
  withoutStream,
} from '../lib/http/event-stream.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { Signal } from '../lib/signal.ts'
import type { Sales } from '../sales/sales.ts'
import type { OrderChanges } from './order-changes.ts'
import { orderThen } from './order-json.ts'

/** Open streams in one process; more clients get a "try again" and poll. */
const MAX_STREAMS = 20_000
/** Open streams of one order. A buyer has a few tabs, and must leave room for others. */
const MAX_STREAMS_OF_ORDER = 10
/** The time between two reads of the log for unpublished events. */
const LOG_EVERY_MS = 1_000
/** The limit of events in one read. A read that reaches it is followed by the next at once. */
const LOG_PAGE = 5_000
/** Interval of reads while an order is not recorded, which is not published, and while the ledger does not answer. */
const UNRECORDED_MS = 500
const READ = { size: 500, queue: MAX_STREAMS }
/** The position in the log before the first event. */
const NO_EVENT = -1
/** In place of events that could not be read: those of the next read follow. */
const UNREAD: OrderUpdate = { events: [], order: undefined }

interface EventsDeps extends LoopDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'nowMs'>
  readonly changes: Pick<OrderChanges, 'onChange'>
  readonly metrics: LoopDeps['metrics'] & Pick<Metrics, 'orderUpdateSeconds' | 'streamListeners'>
}

interface Stream {
  readonly signal: Signal
  /** The latest event that was sent. */
  last: number
}

export class OrderEvents implements Actor {
  readonly #deps: EventsDeps
  readonly #open: EventStreams
  /** Open streams by order. */
  readonly #streams = new Map<string, Set<Stream>>()
  readonly #logReader: Actor
  /** How far the log was read. */
  #read: Omit<LoggedChange, 'order_id'> | undefined
  #stopListening: (() => void) | undefined
  #stopped = false

  constructor(deps: EventsDeps, maxStreams = MAX_STREAMS) {
    this.#deps = deps
    this.#open = new EventStreams(
      maxStreams,
      (open) => deps.metrics.streamListeners.set({ stream: 'orders' }, open),
      'Ask for the order instead.',
    )
    this.#logReader = loop('order events', LOG_EVERY_MS, deps, () => this.#readLog())
  }

  start(): void {
    this.#stopListening = this.#deps.changes.onChange((orderIds) => {
      for (const orderId of orderIds) this.#wake(orderId)
    })
    this.#logReader.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening?.()
    for (const orderId of this.#streams.keys()) this.#wake(orderId)
    await this.#logReader.stop()
  }

  /** Wakes the streams of an order that have not sent the event yet. */
  #wake(orderId: string, seq = Number.POSITIVE_INFINITY): void {
    this.#streams.get(orderId)?.forEach(({ signal, last }) => {
      if (last < seq) signal.notify()
    })
  }

  async #readLog(): Promise<boolean> {
    const { sql } = this.#deps
    this.#read ??= await endOfEvents(sql)
    const changes = await changesAfter(sql, this.#read, LOG_PAGE)
    for (const { order_id, seq } of changes) if (order_id !== null) this.#wake(order_id, seq)
    this.#read = changes.at(-1) ?? this.#read
    return changes.length === LOG_PAGE
  }

  readonly #reads = new Batcher<{ order: string; last: number }, OrderUpdate>(READ, (reads) =>
    readOrderEvents(this.#deps.sql, reads),
  )

  /** Streams the events of an order, each with the order as `show` formats it. */
  async stream(c: Context, orderId: string, show: (order: OrderView) => Order): Promise<Response> {
    const streams = this.#streams.get(orderId) ?? new Set()
    if (streams.size >= MAX_STREAMS_OF_ORDER) this.#open.refuse()
    this.#open.enter()
    const heard = c.req.header('last-event-id')
    const last = heard !== undefined && /^\d{1,15}$/.test(heard) ? Number(heard) : NO_EVENT
    const own: Stream = { signal: new Signal(), last }
    this.#streams.set(orderId, streams.add(own))
    const close = () => {
      this.#open.leave()
      streams.delete(own)
      if (streams.size === 0) this.#streams.delete(orderId)
    }
    let isStreaming = false
    try {
      const first = await this.#reads.add({ order: orderId, last }).catch(() => undefined)
      // A 204 makes the browser stop reconnecting.
      if (first?.order && isSettled(first.order.status) && first.events.length === 0) return c.body(null, 204)
      const response = responseOf(c)
      if (!response) return withoutStream(c)
      isStreaming = true
      response.once('close', own.signal.notify)
      this.#follow(response, own, orderId, first, show)
        .catch((error) => this.#deps.log.error({ error: String(error) }, 'stream of an order failed'))
        .finally(() => {
          close()
          response.end()
        })
      return RESPONSE_ALREADY_SENT
    } finally {
      if (!isStreaming) close()
    }
  }

  async #follow(
    response: ServerResponse,
    own: Stream,
    orderId: string,
    first: OrderUpdate | undefined,
    show: (order: OrderView) => Order,
  ): Promise<void> {
    const { first: retry, untilMs } = beginStream(response)
    const isOver = () => response.closed || this.#stopped || performance.now() >= untilMs
    // What is there at once goes out in one piece: each piece costs every proxy on the way as much as a whole one.
    let text = retry
    for (let update = first; ; ) {
      const { events, order: row } = update ?? UNREAD
      if (row)
        for (const event of events)
          text += textOf(event, show(event === events.at(-1) ? row : orderThen(row, event, Date.parse(event.at))))
      own.last = events.at(-1)?.seq ?? own.last
      if (text !== '') response.write(text)
      text = ''
      if (update !== first) this.#observe(events)
      // The order's status decides, since the last event may have been sent before the client reconnected.
      if (update?.order && isSettled(update.order.status)) return
      if (isOver()) return
      const isChanged = await own.signal.wait(update?.order ? HEARTBEAT_MS : UNRECORDED_MS)
      if (isOver()) return
      if (!isChanged) text = HEARTBEAT
      // While the ledger is away the stream stays open, and continues when the ledger is back.
      if (isChanged || !update?.order)
        update = await this.#reads.add({ order: orderId, last: own.last }).catch(() => undefined)
      else update = { ...update, events: [] }
    }
  }

  #observe(events: OrderUpdate['events']): void {
    const { sales, metrics } = this.#deps
    const nowMs = sales.nowMs()
    for (const { at } of events) metrics.orderUpdateSeconds.observe(Math.max(0, nowMs - Date.parse(at)) / 1000)
  }
}

/** An event in the stream's format. */
const textOf = ({ seq, status, at }: OrderUpdate['events'][number], order: Order) => {
  const data = JSON.stringify({ ...order, status: statusOf(status), at: new Date(at).toISOString() })
  return `id: ${seq}\nevent: order\ndata: ${data}\n\n`
}
