import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { EdgeNotifier } from './edge-notifier.ts'

/** An edge that answers each call with a status, and a notifier with its log. */
function notifierTo(status: (call: number) => number) {
  const edge = vi.fn(async (_url: URL, _init: RequestInit) => new Response(null, { status: status(calls()) }))
  const calls = () => edge.mock.calls.length
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('fetch', edge)
  const logged: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line)) })
  return { notifier: new EdgeNotifier({ EDGE_URL: 'http://edge', EDGE_TOKEN: 'secret' }, log), edge, logged, calls }
}

test('logs the 1st, 2nd and 4th rejection by the edge, and counts anew after a success', async () => {
  let status = 401
  const { notifier, edge, logged } = notifierTo(() => status)
  for (let i = 0; i < 5; i++) notifier.notify('drop')
  const rejections = [1, 2, 4].map((rejected) => ({ sale: 'drop', status: 401, rejected }))
  await expect.poll(() => logged).toMatchObject(rejections)
  const [url, { headers }] = edge.mock.lastCall ?? expect.unreachable()
  expect([url.href, headers]).toEqual(['http://edge/internal/sales/drop/refresh', { authorization: 'Bearer secret' }])
  for (status of [204, 404]) notifier.notify('drop')
  await expect.poll(() => logged[3]).toMatchObject({ status: 404, rejected: 1 })
})

test('retries a busy edge, and logs one that stays busy without blaming the token', async () => {
  let busyCalls = 2
  const { notifier, logged, calls } = notifierTo((call) => (call > busyCalls ? 204 : 503))
  notifier.notify('drop')
  await expect.poll(calls).toBe(3)
  expect(logged).toEqual([])
  busyCalls = Number.POSITIVE_INFINITY
  notifier.notify('drop')
  const msg = expect.not.stringContaining('EDGE_TOKEN')
  await expect.poll(() => logged).toMatchObject([{ status: 503, rejected: 1, msg }])
  expect(calls()).toBe(7)
})
