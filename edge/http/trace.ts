/**
 * Traces of calls that reach the origin, and of joins. Each call is drawn by chance alone: a buyer who sends a
 * `traceparent` cannot have their calls recorded, and their trace is a link of ours. The origin records what the edge
 * has drawn. Spans leave after the response. A collector that is slow or gone costs spans, never a call.
 */
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
import type { Call, Trace } from './call.ts'
import type { Config } from './config.ts'

/** Exports that an isolate has in progress, each of one call. Spans beyond them are dropped. */
const MAX_EXPORTS = 8
const EXPORT_TIMEOUT_MS = 5_000

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))

/** Null for a call that is not drawn. */
export function drawTrace({ headers }: Request, config: Config): Trace | null {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || Math.random() >= config.OTEL_TRACES_SAMPLER_ARG) return null
  return { context: newTrace(random), link: readTraceparent(headers.get(TRACEPARENT_HEADER)), spans: [] }
}

/** What a span says of the result; undefined: the work has thrown. */
type Describe<T> = (result: T | undefined) => Pick<Span, 'attributes' | 'isError'>

/** Does the work within a span of its own where the call is traced; the work gets the context of that span. */
export async function traced<T>(
  name: string,
  work: (own?: TraceContext) => Promise<T>,
  describe: Describe<T>,
  { trace }: Pick<Call, 'trace'>,
): Promise<T> {
  if (!trace) return work()
  const own = childOf(trace.context, random)
  const startMs = Date.now()
  let result: T | undefined
  try {
    result = await work(own)
    return result
  } finally {
    const { spanId: parentSpanId } = trace.context
    const times = { startMs, endMs: Date.now() }
    trace.spans.push({ ...own, parentSpanId, name, kind: KIND.client, ...times, ...describe(result) })
  }
}

/** Calls the origin, within a span of its own where the call is traced. */
export function tracedFetch(
  url: string,
  init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  call: Pick<Call, 'trace'>,
): Promise<Response> {
  const work = (own?: TraceContext) =>
    fetch(url, own ? { ...init, headers: { ...init.headers, [TRACEPARENT_HEADER]: traceparentOf(own) } } : init)
  const describe: Describe<Response> = (response) => ({
    attributes: { 'http.request.method': init.method ?? 'GET', ...statusOf(response?.status) },
    isError: response === undefined || response.status >= 500,
  })
  return traced('call origin', work, describe, call)
}

const statusOf = (status: number | undefined): Attributes =>
  status === undefined ? {} : { 'http.response.status_code': status }

let exports = 0
let dropped = 0

/** Sends the spans of a call that has any but its own, after its response. */
export function endTrace({ trace, request, requestId, config, nowMs, ctx }: Call, { status }: Response): void {
  if (!trace || trace.spans.length === 0) return
  if (exports >= MAX_EXPORTS) {
    dropped += trace.spans.length + 1
    return
  }
  const { method, url } = request
  const root: Span = {
    ...trace.context,
    name: method,
    kind: KIND.server,
    startMs: nowMs,
    endMs: Date.now(),
    attributes: {
      'http.request.method': method,
      'url.path': new URL(url).pathname,
      'request.id': requestId,
      ...statusOf(status),
    },
    isError: status >= 500,
    link: trace.link,
  }
  ctx.waitUntil(send([root, ...trace.spans], config))
}

async function send(spans: readonly Span[], config: Config): Promise<void> {
  exports++
  try {
    const response = await fetch(`${config.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`, {
      method: 'POST',
      headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS, 'content-type': 'application/json' },
      body: JSON.stringify(exportOf(config.OTEL_SERVICE_NAME, spans)),
      signal: AbortSignal.timeout(EXPORT_TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`status ${response.status}`)
    if (dropped > 0) console.warn(JSON.stringify({ msg: 'spans dropped', spans: dropped }))
    dropped = 0
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'spans not exported', spans: spans.length, why: String(error) }))
  } finally {
    exports--
  }
}
