/** Pages say that they are seen: what is taken, what the origin gets, and what happens while it takes nothing. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { ViewBatch, ViewEvent } from '../../shared/api/views/view-events.ts'
import type { Call } from '../http/call.ts'
import { type Env, readConfig } from '../http/config.ts'
import { waitUntil } from '../testing/background.ts'
import { eventually } from '../testing/clocks.ts'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { callNow } from '../testing/visitors.ts'
import { Gathering } from './gathering.ts'
import { deviceOf } from './view-event.ts'

const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1'

const viewId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 22)
const send = (path: string, body: object | string, headers: Record<string, string> = {}, env: Env = edgeEnv) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const sent = { 'content-type': 'text/plain', 'content-length': String(text.length), 'user-agent': PHONE, ...headers }
  return callNow(path, { method: 'POST', headers: sent, body: text }, env)
}
const batches = async () =>
  (await requestsTo('/internal/views')).requests.map(({ body }) => JSON.parse(body) as ViewBatch)
const eventsOf = async (view: string) =>
  (await batches()).flatMap(({ events }) => events.filter((event) => event.view === view))

/** The seconds in which events are gathered pass quickly. */
beforeEach(async () => {
  await stub('/internal/views', 204, '')
  const realTimer = setTimeout
  const quick = (act: () => void, ms = 0) => realTimer(act, ms / 50)
  const mock = vi.spyOn(globalThis, 'setTimeout').mockImplementation(quick as typeof setTimeout)
  onTestFinished(() => mock.mockRestore())
})

it('passes on who came without address or user agent, and sets no cookie', async () => {
  const view = viewId()
  const source = { utm_source: 'Newsletter', utm_campaign: 'Spring/26', referrer: 'mail.example' }
  const headers = { 'cf-connecting-ip': '203.0.113.77', 'cf-ipcountry': 'de', 'x-asn': 'AS3320' }
  const body = { view, page: 'sale', seen_seconds: 0, source, language: 'de' }
  const taken = await send('/sales/vinyl/views', body, headers, { ...edgeEnv, ASN_HEADER: 'x-asn' })
  expect([taken.status, await taken.text(), taken.headers.has('set-cookie')]).toEqual([202, '', false])
  const [event] = await eventually(async () => ((await eventsOf(view)).length > 0 ? eventsOf(view) : false))
  expect(event).toEqual({
    ...{ view, page: 'sale', sale: 'vinyl', seen_seconds: 0, at_ms: expect.any(Number) },
    ...{ pseudonym: expect.stringMatching(/^[0-9a-f]{16}$/), address: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ...{ network: '203.0.113.0/24', asn: 3320, country: 'DE', device: 'phone', language: 'de' },
    source: 'newsletter spring 26',
  })
  expect(JSON.stringify(await requestsTo('/internal/views'))).not.toContain('203.0.113.77')
})

it('gathers the views of many callers, of sales and of the front, into few calls', async () => {
  const views = Array.from({ length: 40 }, viewId)
  const before = (await batches()).length
  for (const [at, view] of views.entries())
    await send(at % 2 ? '/views' : '/sales/vinyl/views', { view, page: at % 2 ? 'front' : 'line', seen_seconds: 15 })
  const all = async () => (await batches()).flatMap(({ events }) => events).filter(({ view }) => views.includes(view))
  const found = await eventually(async () => ((await all()).length === 40 ? all() : false))
  expect(found.filter(({ sale }) => sale === null)).toHaveLength(20)
  expect((await batches()).length - before).toBeLessThan(20)
})

it('sends them to the port of operators, where the origin has one', async () => {
  await stub('/apart/internal/views', 204, '')
  const apart = { ...edgeEnv, INTERNAL_URL: `${edgeEnv.ORIGIN_URL}/apart` }
  await send('/sales/vinyl/views', { view: viewId(), page: 'sale', seen_seconds: 0 }, {}, apart)
  await eventually(async () => (await requestsTo('/apart/internal/views')).requests.length > 0)
})

it.each([
  [400, 'no JSON'],
  [422, { view: 'short', page: 'sale', seen_seconds: 0 }],
  [422, { view: 'a'.repeat(22), page: 'admin', seen_seconds: 0 }],
  [422, { view: 'a'.repeat(22), page: 'sale', seen_seconds: -1 }],
  [422, { view: 'a'.repeat(22), page: 'sale', seen_seconds: 0, who: 'ann' }],
])('answers %i to %j', async (status, body) => {
  expect((await send('/sales/vinyl/views', body)).status).toBe(status)
})

it('records nothing of those who ask for that, and refuses a flood from one address', async () => {
  const views = [viewId(), viewId(), viewId()]
  const body = (view?: string) => ({ view, page: 'sale', seen_seconds: 0 })
  expect((await send('/sales/vinyl/views', body(views[0]), { dnt: '1' })).status).toBe(202)
  expect((await send('/sales/vinyl/views', body(views[1]), { 'sec-gpc': '1' })).status).toBe(202)
  const env: Env = { ...edgeEnv, VIEWS_PER_ADDRESS: '2/600' }
  const from = { 'cf-connecting-ip': '192.0.2.200' }
  const flood = async () => (await send('/sales/vinyl/views', body(views[2]), from, env)).status
  expect([await flood(), await flood(), await flood()]).toEqual([202, 202, 429])
  await eventually(async () => (await eventsOf(views[2] ?? '')).length === 2)
  expect([await eventsOf(views[0] ?? ''), await eventsOf(views[1] ?? '')]).toEqual([[], []])
})

it('keeps a batch that the origin did not take once, and says later what it had to drop', async () => {
  const gathering = new Gathering()
  const works: Promise<unknown>[] = []
  const ctx = {
    waitUntil(work: Promise<unknown>) {
      works.push(work)
      waitUntil(work)
    },
  }
  const call = { env: edgeEnv, ctx, config: await readConfig(edgeEnv), nowMs: Date.now() } as unknown as Call
  const request = new Request('http://edge.test/views', { method: 'POST' })
  const add = async (...views: string[]) => {
    for (const view of views) gathering.add({ view } as ViewEvent, { ...call, request })
    await Promise.all(works)
  }
  const [first, second, third] = [viewId(), viewId(), viewId()]
  await stub('/internal/views', 503, '{}')
  await add(first)
  await stub('/internal/views', 204, '')
  await add(second)
  const taken = (await batches()).slice(-2)
  expect(taken.map(({ events }) => events.map(({ view }) => view))).toEqual([[first], [second]])

  await stub('/internal/views', 503, '{}')
  await add(first)
  await add(second)
  await add(...Array.from({ length: 2_500 }, viewId))
  await stub('/internal/views', 204, '')
  await add(third)
  // The first was dropped after its second failure, the second too, and then all beyond 2,000.
  expect((await batches()).at(-2)?.dropped).toBe(1 + 1 + 501)
  expect((await batches()).at(-1)).toMatchObject({ dropped: 0, events: [{ view: third }] })
})

it('knows devices and bots by the user agent', () => {
  const desk =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Safari/537.36'
  const tablet =
    'Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Safari/537.36'
  const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
  const devices = [PHONE, desk, tablet, crawler, 'python-requests/2.32', ''].map(deviceOf)
  expect(devices).toEqual(['phone', 'desk', 'tablet', 'bot', 'bot', 'unknown'])
})
