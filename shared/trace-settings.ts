/** The settings of traces, by the names that OpenTelemetry gives them. Without an endpoint nothing is traced. */
import * as v from 'valibot'
import { optional, setting } from './lib/settings.ts'

/** `name=value,name=value`, each percent-encoded, as in W3C Baggage. */
function readHeaders(text: string): Record<string, string> | null {
  try {
    const pairs = text.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair))
    if (pairs.some((pair) => pair === null)) return null
    return Object.fromEntries(pairs.map((pair) => [pair?.[1], decodeURIComponent(pair?.[2]?.trim() ?? '')]))
  } catch {
    return null
  }
}

/** `share` says what is drawn by chance. */
export const traceSettings = (service: string, share: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    v.pipe(
      v.string(),
      v.regex(/^https?:\/\/[^\s?#]+$/, 'must be an http(s) URL'),
      v.transform((text) => (text.endsWith('/') ? text.slice(0, -1) : text)),
    ),
    'Collector of OpenTelemetry that traces are sent to, at `/v1/traces` below it, as OTLP in JSON; none unless set',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    v.pipe(
      v.string(),
      v.check((text) => text === '' || readHeaders(text) !== null, 'must be name=value,name=value'),
      v.transform((text) => (text === '' ? {} : (readHeaders(text) ?? {}))),
    ),
    '',
    'Headers sent to it, `name=value,name=value`, percent-encoded; a secret where one of them is',
  ),
  OTEL_SERVICE_NAME: setting(v.string(), service, 'Name of this half in traces'),
  OTEL_TRACES_SAMPLER_ARG: setting(
    v.pipe(v.string(), v.regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a share from 0 to 1'), v.transform(Number)),
    '0.01',
    share,
  ),
})

export const edgeTraceSettings = traceSettings(
  'flash-sale-edge',
  'Share of the calls that are traced; the edge draws them, and the origin records those',
)

/** What exports spans of one half. */
export interface TraceSettings {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  readonly OTEL_EXPORTER_OTLP_HEADERS: Readonly<Record<string, string>>
  readonly OTEL_SERVICE_NAME: string
  readonly OTEL_TRACES_SAMPLER_ARG: number
}
