/**
 * Server-sent events (WHATWG HTML, section 9.2), written to the response itself: a web stream between costs as much as
 * all else about it. A process has a limited number of open streams, and each of them ends after a while.
 */
import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { problem } from '../../../shared/problem.ts'
import { refuse } from './request.ts'

/** The last header tells nginx not to buffer the stream. */
const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
/** After this long a stream ends, and the browser reconnects, which also notices an expired session. */
const MAX_STREAM_MS = 10 * 60_000
/** The browser's reconnection delay, jittered so that not all reconnect at once after a restart. */
const RETRY_MS = 1_000
/** Interval of the comment that keeps proxies from closing a quiet stream. */
export const HEARTBEAT_MS = 10_000
export const HEARTBEAT = ': still here\n\n'

/** The open streams of one kind in this process. */
export class EventStreams {
  readonly #max: number
  readonly #onChange: (open: number) => void
  readonly #detail: string
  #open = 0

  /** `onChange` gets the number of open ones; `instead` tells a client that is refused what it can do. */
  constructor(max: number, onChange: (open: number) => void, instead = '') {
    this.#max = max
    this.#onChange = onChange
    this.#detail = `Too many are watching.${instead && ` ${instead}`}`
  }

  /**
   * Counts a stream until `leave`. It is called before the first await, so that simultaneous requests see each other.
   */
  enter(): void {
    if (this.#open >= this.#max) this.refuse()
    this.#onChange(++this.#open)
  }

  leave(): void {
    this.#onChange(--this.#open)
  }

  refuse(): never {
    return refuse(problem('try-again', { detail: this.#detail, retry_after_seconds: 5 }))
  }
}

/** The response to write the stream to; null if the client gets the headers alone (`withoutStream`). */
export function responseOf(c: Context): ServerResponse | null {
  const { outgoing } = Object(c.env) as Partial<HttpBindings>
  // Hono serves HEAD with the GET handler and drops the body: a stream that nobody reads would wait forever.
  return c.req.method === 'HEAD' || !outgoing ? null : (outgoing as ServerResponse)
}

export const withoutStream = (c: Context): Response => c.body(null, 200, HEADERS)

/**
 * Sends the headers. The first text goes out with the first events, and the stream ends at `untilMs`, some earlier than
 * others.
 */
export function beginStream(response: ServerResponse): { readonly first: string; readonly untilMs: number } {
  response.writeHead(200, HEADERS)
  const first = `retry: ${Math.round(RETRY_MS * (1 + Math.random()))}\n\n`
  return { first, untilMs: performance.now() + MAX_STREAM_MS * (0.75 + Math.random() / 4) }
}
