/** Which calls the edge traces, what it tells the origin of them, and what a collector that fails costs. */
import { afterEach, expect, it, vi } from 'vitest'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { admission, call, TestSale } from '../testing/visitors.ts'

afterEach(() => void vi.restoreAllMocks())

const CALLERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A checkout by a buyer who brings a trace, at an edge with these settings. */
async function buy(settings: Record<string, string>) {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/checkout`
  await stub(path, 410, { type: '/problems/sold-out', status: 410 })
  const authorization = `Bearer ${await admission(sale.name)}`
  const headers = { authorization, 'idempotency-key': 'k', traceparent: CALLERS }
  const response = await call(path, { method: 'POST', headers, body: '{}' }, { ...edgeEnv, ...settings })
  const { requests } = await requestsTo(path)
  return { status: response.status, traceparent: Object(requests[0]?.headers).traceparent as string | undefined }
}
/** A collector for one test. */
async function collectorOf(status: number) {
  const root = `/collector-${crypto.randomUUID()}`
  await stub(`${root}/v1/traces`, status, {})
  return { url: `${edgeEnv.ORIGIN_URL}${root}`, received: async () => (await requestsTo(`${root}/v1/traces`)).requests }
}

it('traces nothing without an endpoint, whatever the caller brings', async () => {
  expect(await buy({ OTEL_TRACES_SAMPLER_ARG: '1' })).toEqual({ status: 410, traceparent: undefined })
})

it('draws by chance: a caller’s trace decides about nothing', async () => {
  const { url, received } = await collectorOf(200)
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: '0.25' }
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.25)
  expect(await buy(settings)).toEqual({ status: 410, traceparent: undefined })
  chance.mockReturnValue(0.2)
  const { traceparent } = await buy(settings)
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(traceparent).not.toContain(CALLERS.slice(3, 35))
  await expect.poll(received).toHaveLength(1)
})

it('exports nothing of a call that does not reach the origin', async () => {
  const { url, received } = await collectorOf(200)
  const env = { ...edgeEnv, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: '1' }
  expect((await call('/nowhere', {}, env)).status).toBe(404)
  expect(await received()).toHaveLength(0)
})

it.each([503, 0])('a collector that answers %s costs the spans alone', async (status) => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { url } = await collectorOf(status)
  expect((await buy({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: '1' })).status).toBe(410)
  const lines = () => warned.mock.calls.map(([line]) => JSON.parse(String(line)))
  await expect.poll(lines).toContainEqual(expect.objectContaining({ msg: 'spans not exported', spans: 2 }))
})
