/**
 * Traces of the origin. A call that the edge has drawn brings its span in `traceparent`; what is done for it is
 * recorded as spans below, also in a batch with others, and in the worker that charges its order. Mails and webhooks
 * belong to no call; a share of them is drawn here. Nothing else is recorded. Spans wait in a bounded queue and are
 * exported in batches: one that finds it full is dropped and counted, and no call ever waits for the collector.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Counter } from 'prom-client'
import {
  type Attributes,
  childOf,
  exportOf,
  KIND,
  newTrace,
  readTraceparent,
  type Span,
  TRACEPARENT_HEADER,
  type TraceContext,
  traceparentOf,
} from '../../shared/trace.ts'
import type { TraceSettings } from '../../shared/trace-settings.ts'
import { jsonClient } from './http/json-client.ts'
import { asBatchOf, requestId } from './http/request-id.ts'
import { shouldLog } from './loop.ts'

/** Limits of a BatchSpanProcessor, as OpenTelemetry has them by default, but for the pause: it has 5 seconds. */
const MAX_QUEUED = 2_048
const MAX_BATCH = 512
const PAUSE_MS = 1_000
/** Shorter than theirs, since a process that stops waits for it twice. */
const EXPORT_TIMEOUT_MS = 2_000

/** A span whose work is being done, and who records what is done below it. */
interface Scope {
  readonly tracer: Tracer
  readonly context: TraceContext
}

/** The traced calls for which work is done: several of a batch, mostly none. */
const current = new AsyncLocalStorage<readonly Scope[] | undefined>()
const NONE: readonly Scope[] = []

/** What a call belongs to, to go on with it later by `inScopes`. */
export const scopes = (): readonly Scope[] => current.getStore() ?? NONE

/** Does the work for these traced calls alone, whoever started it. */
export const inScopes = <T>(of: readonly Scope[], work: () => T): T =>
  of.length === 0 && current.getStore() === undefined ? work() : current.run(of.length === 0 ? undefined : of, work)

/** The header for a call to another server; none unless it is made for a call that is traced. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const [first] = scopes()
  return first ? { [TRACEPARENT_HEADER]: traceparentOf(first.context) } : {}
}

/** The span that work queued now belongs to; undefined for a call that is not traced. */
export const traceparentNow = (): string | undefined => traceHeaders()[TRACEPARENT_HEADER]

/** Does the work, a call of another server, within a span of each traced call that it is done for. */
export function traced<T>(name: string, work: () => Promise<T>, attributes: Attributes = {}): Promise<T> {
  const parents = current.getStore()
  return parents === undefined ? work() : recordBelow(parents, work, { name, kind: KIND.client, attributes })
}

const nowMs = () => performance.timeOrigin + performance.now()

type About = Pick<Span, 'name' | 'kind' | 'attributes'>
/** A span that is being recorded; the root of a trace has no parent. */
interface Recorded extends Scope {
  readonly parentSpanId?: string
}

function recordBelow<T>(parents: readonly Scope[], work: () => Promise<T>, about: About): Promise<T> {
  const below = ({ tracer, context }: Scope): Recorded => {
    const { spanId: parentSpanId } = context
    return { tracer, context: childOf(context, randomBytes), parentSpanId }
  }
  return record(parents.map(below), work, about)
}

/** `failed` says of a result that it is an error, beside what is thrown. */
async function record<T>(
  spans: readonly Recorded[],
  work: () => Promise<T>,
  about: About,
  failed: (result: T) => boolean = () => false,
): Promise<T> {
  const startMs = nowMs()
  let isError = true
  try {
    const result = await current.run(spans, work)
    isError = failed(result)
    return result
  } finally {
    const endMs = nowMs()
    for (const { tracer, context, parentSpanId } of spans)
      tracer.add({ ...context, ...(parentSpanId && { parentSpanId }), ...about, startMs, endMs, isError })
  }
}

interface TracerDeps {
  readonly settings: TraceSettings
  readonly metrics: { readonly traceSpans: Pick<Counter<'outcome'>, 'inc'> }
  readonly log: Logger
}

export class Tracer {
  readonly #deps: TracerDeps
  readonly #send: ((body: object) => Promise<{ readonly status: number }>) | undefined
  #waiting: Span[] = []
  #timer: NodeJS.Timeout | undefined
  #exporting: Promise<void> | undefined
  #failures = 0

  constructor(deps: TracerDeps) {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = deps.settings
    this.#deps = deps
    if (endpoint === undefined) return
    const { origin, pathname } = new URL(`${endpoint}/v1/traces`)
    const send = jsonClient({ url: origin, timeoutMs: EXPORT_TIMEOUT_MS, connections: 1 })
    this.#send = (body) => send(pathname, { body, headers })
  }

  /** Serves a request, within a span if a trusted caller traces it. */
  serve(
    next: RequestListener,
    isTrusted: (request: IncomingMessage) => boolean,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { [TRACEPARENT_HEADER]: sent } = request.headers
    const caller = this.#send && sent !== undefined && isTrusted(request) ? readTraceparent(String(sent)) : null
    if (!caller) {
      next(request, response)
      return
    }
    const context = childOf(caller, randomBytes)
    const startMs = nowMs()
    const id = requestId()
    response.once('close', () => {
      const { method = '', url = '/' } = request
      const { statusCode } = response
      const attributes = {
        'http.request.method': method,
        'url.path': url.split('?')[0] ?? url,
        'http.response.status_code': statusCode,
        ...(id !== undefined && { 'request.id': id }),
      }
      const times = { startMs, endMs: nowMs() }
      const { spanId: parentSpanId } = caller
      const isError = statusCode >= 500
      this.add({ ...context, parentSpanId, name: method, kind: KIND.server, ...times, attributes, isError })
    })
    current.run([{ tracer: this, context }], next, request, response)
  }

  /** Goes on with the trace that a job has noted, within a span. */
  readonly resume = <T>(noted: string | undefined, name: string, work: () => Promise<T>): Promise<T> => {
    const context = this.#send ? readTraceparent(noted) : null
    const about = { name, kind: KIND.consumer, attributes: {} }
    return context ? recordBelow([{ tracer: this, context }], work, about) : work()
  }

  /** Does the work of a job that belongs to no call. A share of such jobs is drawn, and each of these is a trace. */
  readonly draw = <T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    failed?: (result: T) => boolean,
  ): Promise<T> => {
    if (!this.#send || Math.random() >= this.#deps.settings.OTEL_TRACES_SAMPLER_ARG) return work()
    const root = { tracer: this, context: newTrace(randomBytes) }
    return record([root], work, { name, kind: KIND.consumer, attributes }, failed)
  }

  add(span: Span): void {
    if (this.#waiting.length >= MAX_QUEUED) {
      this.#deps.metrics.traceSpans.inc({ outcome: 'dropped' })
      return
    }
    this.#waiting.push(span)
    // The timer is no work of the call that sets it.
    const later = () => setTimeout(() => this.#flush(), PAUSE_MS).unref()
    this.#timer ??= asBatchOf([], () => inScopes(NONE, later))
  }

  #flush(): void {
    this.#timer = undefined
    this.#exporting ??= this.#exportAll().finally(() => {
      this.#exporting = undefined
    })
  }

  async #exportAll(): Promise<void> {
    const { settings, metrics, log } = this.#deps
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH)
      const error = await this.#export(exportOf(settings.OTEL_SERVICE_NAME, batch))
      metrics.traceSpans.inc({ outcome: error === null ? 'exported' : 'failed' }, batch.length)
      this.#failures = error === null ? 0 : this.#failures + 1
      if (error === null) continue
      if (shouldLog(this.#failures))
        log.warn({ spans: batch.length, failures: this.#failures, error }, 'spans not exported')
      // The others wait for the next span, or for the end.
      return
    }
  }

  /** Null, or what went wrong. What fails is not sent again: the next spans have their turn. */
  async #export(body: object): Promise<string | null> {
    try {
      const { status } = (await this.#send?.(body)) ?? { status: 0 }
      return status >= 200 && status < 300 ? null : `status ${status}`
    } catch (error) {
      return String(error)
    }
  }

  /** Exports what waits, at most until an export has failed. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#exporting
    this.#flush()
    await this.#exporting
  }
}
