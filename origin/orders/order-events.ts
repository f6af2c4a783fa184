/**
 * An order's changes as server-sent events (WHATWG HTML, section 9.2). The first is how the order began, with the id 0;
 * every status it comes to is a row in order_events, whose sequence number is the event's id: after a break the browser
 * says which it saw last (Last-Event-ID), and what it missed is replayed. One listening connection per process wakes the
 * streams, and those that are awake at the same time are read for in one statement, however many watch.
 */
import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Logger } from 'pino'
import type { Order } from '../../shared/api/public.ts'
import { isSettled } from '../../shared/order-status.ts'
import { problem } from '../../shared/problem.ts'
import { sendProblem } from '../http/request.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OrderView } from '../ledger/orders.ts'
import { Batcher } from '../lib/batcher.ts'
import { Signal } from '../lib/signal.ts'

/** Streams open at once in one process; more are told to poll. */
const MAX_STREAMS = 20_000
/** .. and of one order: a buyer has a few tabs, and is to leave room for the others. */
const MAX_STREAMS_OF_ORDER = 10
/** A comment so often keeps proxies from closing a quiet stream; a look at the ledger catches a lost wake-up. */
const HEARTBEAT_MS = 10_000
/** An order that is still being recorded is looked for so often: nobody is told when a reservation is written. */
const UNRECORDED_MS = 500
/** A stream ends after so long, and the browser comes again: nobody is watched for ever. */
const MAX_STREAM_MS = 15 * 60_000
/** How soon the browser comes back after a break, jittered so that a restart is not followed by everyone at once. */
const RETRY_MS = 1_000
const READ = { size: 500, queue: MAX_STREAMS }
/** Events of one order read at once; an order has five in its life. */
const MAX_EVENTS = 50
/** Before the first event. */
const NOTHING = -1

interface Event {
  readonly seq: number
  readonly status: string
  readonly at: Date
}

interface News {
  readonly events: readonly Event[]
  /** The order as it is now; undefined while it is not recorded. */
  readonly order: OrderView | undefined
}

export class OrderEvents {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #maxStreams: number
  readonly #streams = new Map<string, Set<() => void>>()
  #open = 0
  readonly #openOf = new Map<string, number>()
  #stop: (() => Promise<unknown>) | undefined
  #stopped = false

  constructor(sql: Sql, log: Logger, maxStreams = MAX_STREAMS) {
    this.#sql = sql
    this.#log = log
    this.#maxStreams = maxStreams
  }

  /** Listens for changes; postgres.js listens again by itself after the connection was lost. */
  async start(): Promise<void> {
    const { unlisten } = await this.#sql.listen(
      'order_changed',
      (id) => this.notify(id),
      () => this.#wakeAll(),
    )
    this.#stop = unlisten
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wakeAll()
    await this.#stop?.().catch((error) =>
      this.#log.debug({ error: String(error) }, 'listening had ended already'),
    )
  }

  notify(order: string): void {
    for (const wake of this.#streams.get(order) ?? []) wake()
  }

  #wakeAll(): void {
    for (const streams of this.#streams.values()) for (const wake of streams) wake()
  }

  /** Streams the events of an order, each with the order as it is now, as `show` shows it. */
  async stream(c: Context, order: string, show: (order: OrderView) => Order): Promise<Response> {
    if (this.#open >= this.#maxStreams || (this.#openOf.get(order) ?? 0) >= MAX_STREAMS_OF_ORDER) {
      return sendProblem(
        problem('try-again', {
          detail: 'Too many are watching. Ask for the order instead.',
          retry_after_seconds: 5,
        }),
      )
    }
    // Counted before the first await: of those who come at the same moment each finds the others.
    this.#count(order, 1)
    let follows = false
    try {
      const seen = /^\d{1,15}$/.exec(c.req.header('last-event-id') ?? '')
      const after = seen ? Number(seen[0]) : NOTHING
      const first = await this.#reads.add({ order, last: after }).catch(() => undefined)
      // By this answer a browser knows that there is nothing to come back for.
      if (first?.order && isSettled(first.order.status) && first.events.length === 0) return c.body(null, 204)
      c.header('x-accel-buffering', 'no')
      // Hono answers HEAD by GET without its body: nobody would read this one, and its stream would wait for ever.
      if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
      follows = true
      return streamSSE(c, async (stream) => {
        const signal = new Signal()
        const streams = this.#streams.get(order) ?? new Set()
        this.#streams.set(order, streams.add(signal.notify))
        stream.onAbort(signal.notify)
        try {
          await this.#follow(stream, signal, order, after, show)
        } finally {
          this.#count(order, -1)
          streams.delete(signal.notify)
          if (streams.size === 0) this.#streams.delete(order)
        }
      })
    } finally {
      if (!follows) this.#count(order, -1)
    }
  }

  #count(order: string, more: 1 | -1): void {
    this.#open += more
    const open = (this.#openOf.get(order) ?? 0) + more
    if (open > 0) this.#openOf.set(order, open)
    else this.#openOf.delete(order)
  }

  async #follow(
    stream: SSEStreamingApi,
    signal: Signal,
    order: string,
    after: number,
    show: (order: OrderView) => Order,
  ): Promise<void> {
    const until = performance.now() + MAX_STREAM_MS
    const over = () => stream.aborted || this.#stopped || performance.now() >= until
    let last = after
    await stream.write(`retry: ${Math.round(RETRY_MS * (1 + Math.random()))}\n\n`)
    while (!over()) {
      // While the ledger is away the stream stays, and goes on where it was when the ledger is back.
      const news = await this.#reads.add({ order, last }).catch(() => undefined)
      for (const { seq, status, at } of news?.events ?? []) {
        last = seq
        const now = news?.order ? show(news.order) : undefined
        const data = JSON.stringify({ ...now, order_id: order, status, at: at.toISOString() })
        await stream.writeSSE({ id: String(seq), event: 'order', data })
      }
      // The order itself is asked: the last event may have been seen before a break.
      if (news?.order && isSettled(news.order.status)) return
      if (over()) return
      const notified = await signal.wait(news && !news.order ? UNRECORDED_MS : HEARTBEAT_MS)
      if (!notified && !over()) await stream.write(': still here\n\n')
    }
  }

  readonly #reads = new Batcher<{ order: string; last: number }, News>(READ, async (asked) => {
    const rows = await this.#sql<(OrderView & { events: { seq: number; status: string; at: string }[] })[]>`
      select o.*, extract(epoch from o.reserved_until - clock_timestamp())::float8 * 1000 as left_ms,
        (select coalesce(json_agg(json_build_object('seq', e.seq, 'status', e.status, 'at', e.at) order by e.seq), '[]')
         from (select 0 as seq, case when o.reserved_until > o.created_at then 'reserved' else 'cancelled' end as status,
                 o.created_at as at where o.order_id is not null and a.last < 0
               union all
               (select seq, status, at from order_events
                where order_id = a.id and seq > a.last order by seq limit ${MAX_EVENTS})) e) as events
      from unnest(${asked.map((a) => a.order)}::uuid[], ${asked.map((a) => a.last)}::bigint[])
        with ordinality as a(id, last, i)
      left join orders o on o.order_id = a.id
      order by a.i`
    return rows.map(({ events, ...order }) => ({
      events: events.map((e) => ({ ...e, at: new Date(e.at) })),
      order: order.order_id ? order : undefined,
    }))
  })
}
