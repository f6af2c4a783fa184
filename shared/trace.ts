/**
 * Traces as both halves write them: W3C Trace Context on the way between them, and spans as the OpenTelemetry protocol
 * has them in JSON (OTLP/HTTP 1.x), which is sent to `/v1/traces` of a collector. A span of ours never names a visitor.
 */

/** The header of a call that is traced. The edge sends it with calls that it has chosen alone. */
export const TRACEPARENT_HEADER = 'traceparent'

/** A span in a trace, as 16 and as 8 bytes in hexadecimal. */
export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
}

/** The kinds of spans that we have, by their numbers in OTLP. */
export const KIND = { server: 2, client: 3, consumer: 5 } as const

export type Attributes = Readonly<Record<string, string | number>>

export interface Span extends TraceContext {
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: (typeof KIND)[keyof typeof KIND]
  /** Milliseconds since the epoch, with a fraction where the clock has one. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly isError: boolean
  /** The trace of a caller who is a stranger: it is named, and decides about nothing. */
  readonly link?: TraceContext | null
}

/** Version, trace, parent and flags. A later version may have more fields (W3C Trace Context, 3.2.4). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/** The caller's span in a header; null if there is none in the right form. */
export function readTraceparent(text: string | null | undefined): TraceContext | null {
  const [, version, traceId, spanId, more] = TRACEPARENT.exec(text ?? '') ?? []
  return traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)
    ? null
    : { traceId, spanId }
}

/** The header for a call within a span of a trace that is recorded. */
export const traceparentOf = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`

/** Random bytes of the machine, so many. */
export type RandomBytes = (count: number) => Uint8Array

function randomHex(count: number, random: RandomBytes): string {
  let text = ''
  for (const byte of random(count)) text += byte.toString(16).padStart(2, '0')
  return text
}

export const newTrace = (random: RandomBytes): TraceContext => ({
  traceId: randomHex(16, random),
  spanId: randomHex(8, random),
})

/** A span below another one. */
export const childOf = ({ traceId }: TraceContext, random: RandomBytes): TraceContext => ({
  traceId,
  spanId: randomHex(8, random),
})

/** The name of these spans' scope, which says who wrote them. */
const SCOPE = 'flash-sale'
const STATUS_ERROR = 2

/** Nanoseconds since the epoch are more than a number holds exactly, so that JSON has them as text. */
const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1000)) * 1000n)

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }))

/** The body of an export: an ExportTraceServiceRequest. */
export function exportOf(service: string, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [
          {
            scope: { name: SCOPE },
            spans: spans.map(({ startMs, endMs, attributes, isError, link, ...span }) => ({
              ...span,
              startTimeUnixNano: nanoseconds(startMs),
              endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
              attributes: attributesOf(attributes),
              ...(link && { links: [link] }),
              ...(isError && { status: { code: STATUS_ERROR } }),
            })),
          },
        ],
      },
    ],
  }
}
