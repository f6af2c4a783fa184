/**
 * An order's changes as server-sent events (WHATWG HTML, section 9.2). Every status an order comes to is a row in
 * order_events, whose sequence number is the event's id: after a break the browser says which it saw last
 * (Last-Event-ID), and what it missed is replayed. One listening connection per process wakes the streams.
 */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { Logger } from 'pino'
import type { Order } from '../shared/api.ts'
import { problem } from '../shared/problem.ts'
import type { Sql } from './ledger/ledger.ts'
import { sendProblem } from './routes/rim.ts'

/** Streams open at once in one process; more are told to poll. */
const MAX_STREAMS = 20_000
/** A comment so often keeps proxies from closing a quiet stream; a look at the ledger catches a lost wake-up. */
const HEARTBEAT_MS = 10_000
/** A stream ends after so long, and the browser comes again: nobody is watched for ever. */
const MAX_STREAM_MS = 15 * 60_000
const FINAL = new Set(['fulfilled', 'expired', 'cancelled'])

export class OrderEvents {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #wake = new Map<string, Set<() => void>>()
  #open = 0
  #stop: (() => Promise<unknown>) | undefined
  #stopped = false

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql
    this.#log = log
  }

  /** Listens for changes; postgres.js listens again by itself after the connection was lost. */
  async start(): Promise<void> {
    const wakeAll = () => {
      for (const streams of this.#wake.values()) for (const wake of streams) wake()
    }
    const { unlisten } = await this.#sql.listen('order_changed', (id) => this.notify(id), wakeAll)
    this.#stop = unlisten
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const streams of this.#wake.values()) for (const wake of streams) wake()
    await this.#stop?.().catch((error) =>
      this.#log.debug({ error: String(error) }, 'listening had ended already'),
    )
  }

  notify(order: string): void {
    for (const wake of this.#wake.get(order) ?? []) wake()
  }

  /** Streams the events of an order; `read` gives the order as it is now. */
  stream(c: Context, order: string, read: () => Promise<Order | undefined>): Response {
    if (this.#open >= MAX_STREAMS) {
      return sendProblem(
        problem('try-again', {
          detail: 'Too many are watching. Ask for the order instead.',
          retry_after_seconds: 5,
        }),
      )
    }
    const asked = Number(c.req.header('last-event-id'))
    let last = Number.isSafeInteger(asked) && asked > 0 ? asked : 0
    return streamSSE(c, async (stream) => {
      this.#open++
      let wake = () => {}
      const woken = () => wake()
      const streams = this.#wake.get(order) ?? new Set()
      this.#wake.set(order, streams.add(woken))
      let gone = false
      stream.onAbort(() => {
        gone = true
        wake()
      })
      try {
        const until = performance.now() + MAX_STREAM_MS
        while (!gone && !this.#stopped && performance.now() < until) {
          const events = await this.#sql<{ seq: number; status: string; at: Date }[]>`
            select seq, status, at from order_events where order_id = ${order} and seq > ${last} order by seq limit 50`
          const now = events.length > 0 ? await read() : undefined
          for (const event of events) {
            last = event.seq
            const data = { ...now, order_id: order, status: event.status, at: event.at.toISOString() }
            await stream.writeSSE({ id: String(event.seq), event: 'order', data: JSON.stringify(data) })
          }
          if (events.some((e) => FINAL.has(e.status))) return
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, HEARTBEAT_MS)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
          if (!gone) await stream.write(': still here\n\n')
        }
      } finally {
        this.#open--
        streams.delete(woken)
        if (streams.size === 0) this.#wake.delete(order)
      }
    })
  }
}
