/** One checkout as a trace, from the edge to the provider, at a collector that takes nothing but what OTLP allows. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import { admin } from './lib/operator.ts'
import { ledgerDatabase } from './lib/servers.ts'
import { admitted, call } from './lib/visitor.ts'
import { type SeenSpan, startCollector } from './stand-ins/otlp-collector.ts'

let system: System
let collector: Awaited<ReturnType<typeof startCollector>>
beforeAll(async () => {
  collector = await startCollector()
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret' }
  const database = await ledgerDatabase()
  system = await startSystem({
    databaseUrl: database.url,
    originEnv: traces,
    edgeVars: { ...traces, OTEL_TRACES_SAMPLER_ARG: '1' },
  })
  await admin(system, 'PUT', '/sales/traced', {
    name: 'Traced',
    opens_at: new Date().toISOString(),
    products: [{ product_id: 'one', name: 'One', unit_price_minor: 2500, currency: 'EUR', total: 10 }],
    admission: { rate_per_second: 100 },
  })
})
afterAll(async () => {
  await system?.stop()
  collector?.stop()
})

const ANOTHER = '0af7651916cd43dd8448eb211c80319c'

test('a checkout is one trace of edge, origin, gate, ledger and provider, and the caller is a link', async () => {
  const token = await admitted(system.edgeUrl, 'traced')
  const { status, headers, body } = await call('POST', `${system.edgeUrl}/sales/traced/checkout`, {
    token,
    headers: { 'idempotency-key': randomUUID(), traceparent: `00-${ANOTHER}-b7ad6b7169203331-01` },
    body: { payment_method: 'pm_ok' },
  })
  expect([status, body.errors]).toEqual([201, undefined])
  const idOf = ({ attributes }: SeenSpan) => attributes.find(({ key }) => key === 'request.id')?.value
  const requestId = headers.get('x-request-id')
  const root = () =>
    collector.spans.find((span) => Object(idOf(span)).stringValue === requestId && span.parentSpanId === undefined)
  await expect.poll(root).toBeDefined()
  const trace = () => collector.spans.filter(({ traceId }) => traceId === root()?.traceId)
  const named = () => trace().map(({ service, name }) => `${service}: ${name}`)
  const expected = [
    'flash-sale-edge: POST',
    'flash-sale-edge: call origin',
    'flash-sale-origin: POST',
    'flash-sale-origin: reserve in gate',
    'flash-sale-origin: record in ledger',
    'flash-sale-origin: charge',
    'flash-sale-origin: authorize at provider',
    'flash-sale-origin: confirm in ledger',
  ]
  await expect.poll(named).toEqual(expect.arrayContaining(expected))
  const parentOf = (name: string) => {
    const span = trace().find((one) => `${one.service}: ${one.name}` === name)
    const parent = trace().find(({ spanId }) => spanId === span?.parentSpanId)
    return parent && `${parent.service}: ${parent.name}`
  }
  expect(expected.slice(1).map(parentOf)).toEqual([
    'flash-sale-edge: POST',
    'flash-sale-edge: call origin',
    'flash-sale-origin: POST',
    'flash-sale-origin: POST',
    'flash-sale-origin: POST',
    'flash-sale-origin: charge',
    'flash-sale-origin: charge',
  ])
  expect(root()?.traceId).not.toBe(ANOTHER)
  expect(root()?.links).toEqual([{ traceId: ANOTHER, spanId: 'b7ad6b7169203331' }])
  expect(collector.faults).toEqual([])
  expect(new Set(collector.headers.map((sent) => sent['api-key']))).toEqual(new Set(['a secret']))
})

test('a collector that refuses, or is gone, costs spans and no call', async () => {
  const outcome = async (name: string) => {
    const text = await (await fetch(`${system.opsUrl}/metrics`)).text()
    return Number(new RegExp(`^trace_spans_total\\{outcome="${name}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  }
  expect(await outcome('exported')).toBeGreaterThan(0)
  collector.answer(503)
  const token = await admitted(system.edgeUrl, 'traced')
  const buy = () =>
    call('POST', `${system.edgeUrl}/sales/traced/checkout`, {
      token,
      headers: { 'idempotency-key': randomUUID() },
      body: {},
    })
  expect((await buy()).status).toBe(201)
  await expect.poll(() => outcome('failed')).toBeGreaterThan(0)
  collector.stop()
  expect((await buy()).status).toBeLessThan(300)
})
