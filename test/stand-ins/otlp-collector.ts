/**
 * A collector of OpenTelemetry that takes traces as JSON, and refuses what the OTLP specification does not allow
 * (opentelemetry-proto, trace.proto; "JSON Protobuf Encoding" of the protocol).
 */
import * as v from 'valibot'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'

const id = (bytes: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`)), v.regex(/[1-9a-f]/))
/** A fixed64 or an int64, which JSON has as text. */
const whole = v.pipe(v.string(), v.regex(/^-?\d{1,19}$/))
const Attributes = v.array(
  v.strictObject({
    key: v.pipe(v.string(), v.nonEmpty()),
    value: v.union([v.strictObject({ stringValue: v.string() }), v.strictObject({ intValue: whole })]),
  }),
)
const OtlpSpan = v.pipe(
  v.strictObject({
    traceId: id(16),
    spanId: id(8),
    parentSpanId: v.optional(id(8)),
    name: v.pipe(v.string(), v.nonEmpty()),
    kind: v.picklist([0, 1, 2, 3, 4, 5]),
    startTimeUnixNano: whole,
    endTimeUnixNano: whole,
    attributes: Attributes,
    links: v.optional(v.array(v.strictObject({ traceId: id(16), spanId: id(8) }))),
    status: v.optional(v.strictObject({ code: v.picklist([0, 1, 2]) })),
  }),
  v.check((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), 'ends before it starts'),
  // Twenty years from 2020 on, so that milliseconds or microseconds are none.
  v.check((span) => /^[12]\d{18}$/.test(span.startTimeUnixNano), 'no nanoseconds since the epoch'),
)
const Export = v.strictObject({
  resourceSpans: v.array(
    v.strictObject({
      resource: v.strictObject({ attributes: Attributes }),
      scopeSpans: v.array(v.strictObject({ scope: v.strictObject({ name: v.string() }), spans: v.array(OtlpSpan) })),
    }),
  ),
})

export interface SeenSpan extends v.InferOutput<typeof OtlpSpan> {
  readonly service: string
}

export async function startCollector() {
  const spans: SeenSpan[] = []
  const faults: string[] = []
  const headers: Record<string, unknown>[] = []
  let status = 200
  const server = await serveOnLoopback(async (request, response) => {
    const body = (await request.toArray()).join('')
    response.setHeader('content-type', 'application/json')
    response.statusCode = status
    if (status !== 200) return response.end('{}')
    headers.push(request.headers)
    const isPost = request.method === 'POST' && request.url === '/v1/traces'
    const isJson = request.headers['content-type'] === 'application/json'
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Export), body)
    if (!isPost || !isJson || !parsed.success) {
      faults.push(parsed.success ? `${request.method} ${request.url}` : JSON.stringify(v.flatten(parsed.issues)))
      response.statusCode = 400
      return response.end('{}')
    }
    for (const { resource, scopeSpans } of parsed.output.resourceSpans) {
      const name = resource.attributes.find(({ key }) => key === 'service.name')?.value
      const service = name !== undefined && 'stringValue' in name ? name.stringValue : ''
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, service })
    }
    return response.end('{"partialSuccess":{}}')
  })
  return {
    ...server,
    spans,
    faults,
    headers,
    answer(next: number) {
      status = next
    },
  }
}
