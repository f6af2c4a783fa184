/** Spans of the calls that the edge traces, of a batch for each of its calls, and of nothing else. */
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { startCollector } from '../../test/stand-ins/otlp-collector.ts'
import { createMetrics } from '../base/metrics.ts'
import { Batcher } from './batcher.ts'
import { scopes, Tracer, traced, traceHeaders, traceparentNow } from './tracing.ts'

const [ONE, OTHER] = ['0af7651916cd43dd8448eb211c80319c', '1af7651916cd43dd8448eb211c80319c']
const traceparent = (trace: string | undefined) => `00-${trace}-b7ad6b7169203331-01`

async function startTraced(share = 0) {
  const collector = await startCollector()
  onTestFinished(() => collector.stop())
  const metrics = createMetrics()
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: {},
    OTEL_SERVICE_NAME: 'test',
    OTEL_TRACES_SAMPLER_ARG: share,
  }
  const tracer = new Tracer({ settings, metrics, log: pino({ level: 'silent' }) })
  const count = async (outcome: string) => {
    const text = await metrics.registry.metrics()
    return Number(new RegExp(`^trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  }
  return { collector, tracer, count }
}

test('a batch is a span of each traced call in it, and of no other', async () => {
  const { collector, tracer } = await startTraced()
  const insides: number[] = []
  const batcher = new Batcher<string, void>({ size: 10, queue: 10, pauseMs: 50, gathers: true }, (calls) =>
    traced('together', async () => void insides.push(scopes().length), { 'batch.size': calls.length }),
  )
  const server = await serveOnLoopback((request, response) =>
    tracer.serve(
      async () => {
        await batcher.add(String(request.url))
        response.end()
      },
      ({ headers }) => headers['edge-token'] === 'trusted',
      request,
      response,
    ),
  )
  onTestFinished(server.stop)
  const buy = (headers: Record<string, string>) => fetch(`${server.url}/buy`, { headers })
  const edge = { 'edge-token': 'trusted' }
  await Promise.all([
    buy({ ...edge, traceparent: traceparent(ONE) }),
    buy({ ...edge, traceparent: traceparent(OTHER) }),
    buy({ ...edge, traceparent: 'nonsense' }),
    buy({ traceparent: traceparent('2af7651916cd43dd8448eb211c80319c') }),
    buy({}),
  ])
  // A batch of those who are not traced is not part of an earlier caller's trace.
  await batcher.add('own work')
  await tracer.stop()
  expect(insides).toEqual([2, 0])
  const seen = collector.spans.map(({ traceId, name }) => `${traceId} ${name}`)
  expect(seen.toSorted()).toEqual([`${ONE} GET`, `${ONE} together`, `${OTHER} GET`, `${OTHER} together`])
  for (const { name, attributes } of collector.spans)
    if (name === 'together') expect(attributes).toEqual([{ key: 'batch.size', value: { intValue: '5' } }])
  expect(collector.faults).toEqual([])
})

test('work goes on with the trace that its job has noted, and what it calls is told', async () => {
  const { collector, tracer } = await startTraced()
  expect(traceHeaders()).toEqual({})
  let told: Readonly<Record<string, string>> = {}
  const failing = tracer.resume(traceparent(ONE), 'charge', async () => {
    told = traceHeaders()
    throw new Error('no answer')
  })
  await expect(failing).rejects.toThrow('no answer')
  await tracer.resume(undefined, 'charge', async () => expect(traceparentNow()).toBeUndefined())
  await tracer.stop()
  const [span, ...more] = collector.spans
  expect(more).toEqual([])
  expect(told).toEqual({ traceparent: `00-${ONE}-${span?.spanId}-01` })
  expect(span).toMatchObject({ parentSpanId: 'b7ad6b7169203331', status: { code: 2 }, service: 'test' })
})

test('a job that belongs to no call is a trace of its own, if it is drawn', async () => {
  const refuse = async () => 'refused'
  const isRefused = (result: string) => result === 'refused'
  const [drawn, passed] = [await startTraced(1), await startTraced(0)]
  for (const { tracer } of [drawn, passed]) {
    expect(await tracer.draw('send webhook', { 'job.attempt': 2 }, refuse, isRefused)).toBe('refused')
    await tracer.stop()
  }
  const [{ parentSpanId, ...span } = Object(), ...more] = drawn.collector.spans
  expect([parentSpanId, more, passed.collector.spans]).toEqual([undefined, [], []])
  const attributes = [{ key: 'job.attempt', value: { intValue: '2' } }]
  expect(span).toMatchObject({ name: 'send webhook', kind: 5, attributes, status: { code: 2 } })
  expect(drawn.collector.faults).toEqual([])
})

test('spans that find the queue full are dropped and counted, and those that fail are not sent again', async () => {
  const { tracer, collector, count } = await startTraced()
  collector.answer(503)
  const work = () => tracer.resume(traceparent(ONE), 'charge', async () => {})
  for (let i = 0; i < 2_050; i++) await work()
  expect(await count('dropped')).toBe(2)
  await tracer.stop()
  expect(await count('failed')).toBe(512)
  collector.answer(200)
  await tracer.stop()
  expect([await count('exported'), collector.spans.length]).toEqual([1_536, 1_536])
  expect(collector.faults).toEqual([])
})
