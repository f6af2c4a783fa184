/**
 * A join, a checkout from the edge to the provider, a mail and a webhook as traces, at a collector that takes nothing
 * but what OTLP allows.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import { admin } from './lib/operator.ts'
import { ledgerDatabase } from './lib/servers.ts'
import { admitted, call, visitorsOf } from './lib/visitor.ts'
import { type SeenSpan, startCollector } from './stand-ins/otlp-collector.ts'
import { useReceiver } from './stand-ins/receiver.ts'
import { startSmtp } from './stand-ins/smtp.ts'

let system: System
let collector: Awaited<ReturnType<typeof startCollector>>
const receiver = useReceiver()
let smtp: Awaited<ReturnType<typeof startSmtp>>
beforeAll(async () => {
  collector = await startCollector()
  smtp = await startSmtp()
  const traces = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret',
    OTEL_TRACES_SAMPLER_ARG: '1',
  }
  const database = await ledgerDatabase()
  system = await startSystem({
    databaseUrl: database.url,
    originEnv: { ...traces, SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'orders@shop.example' },
    edgeVars: traces,
  })
  await admin(system, 'PUT', '/sales/traced', {
    name: 'Traced',
    opens_at: new Date().toISOString(),
    products: [{ product_id: 'one', name: 'One', unit_price_minor: 2500, currency: 'EUR', total: 10 }],
    admission: { rate_per_second: 100 },
    contact: { email: 'optional' },
    mails: ['confirmed'],
  })
})
afterAll(async () => {
  await system?.stop()
  collector?.stop()
  await smtp?.stop()
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

const rootOf = (name: string) => collector.spans.find((span) => span.name === name && span.parentSpanId === undefined)
const attributesOf = ({ attributes }: SeenSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

test('a join is a trace with its way to the ticket shard', async () => {
  const { body, headers } = await visitorsOf(system.edgeUrl, 'traced').join()
  expect(body.queue_token).toBeTruthy()
  const requestId = headers.get('x-request-id')
  const root = () => collector.spans.find((span) => attributesOf(span)['request.id'] === requestId)
  await expect.poll(root).toBeDefined()
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === root()?.spanId)
  expect(below.map((span) => [span.name, attributesOf(span)])).toEqual([['take number', { 'queue.outcome': 'new' }]])
})

test('a mail and a webhook are traces of their own', async () => {
  const endpoint = { url: receiver.url('/traced'), events: ['order.confirmed'] }
  await admin(system, 'POST', '/webhooks', endpoint)
  const token = await admitted(system.edgeUrl, 'traced')
  const body = { payment_method: 'pm_ok', contact: { email: 'ada@example.org' } }
  const headers = { 'idempotency-key': randomUUID() }
  const bought = await call('POST', `${system.edgeUrl}/sales/traced/checkout`, { token, headers, body })
  expect([bought.status, bought.body.errors]).toEqual([201, undefined])
  for (const name of ['send webhook', 'send mail']) await expect.poll(() => rootOf(name)).toBeDefined()
  const [webhook, mail] = [rootOf('send webhook'), rootOf('send mail')].map((span) => span && attributesOf(span))
  expect(webhook).toEqual({ 'server.address': '127.0.0.1', 'job.attempt': '1', 'job.waited_ms': expect.any(String) })
  expect(mail).toEqual({ 'job.attempt': '1', 'job.waited_ms': expect.any(String) })
  expect(JSON.stringify(collector.spans)).not.toContain('ada@')
  expect(collector.faults).toEqual([])
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
