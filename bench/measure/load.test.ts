import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'
import { median } from '../lib/figures.ts'
import { type HttpClient, requestText } from '../lib/http.ts'
import { closedLoop, contest, flat, type Measured, openLoop } from './load.ts'
import { cpuSeconds } from './processor.ts'

let server: Loopback
/** The server responds to nobody before this time. */
let stalledUntilMs = 0

beforeAll(async () => {
  server = await serveOnLoopback((_, response) => {
    setTimeout(() => response.end('{}'), Math.max(0, stalledUntilMs - performance.now()))
  })
})
afterAll(() => server.stop())

const next = ({ host }: HttpClient) => requestText('GET', '/', host)
const load = { next, right: (a: { status: number }) => a.status === 200, seconds: 0.6 }

describe('load', () => {
  test('in an open loop shows a stall in the latency of everyone who waited', async () => {
    setTimeout(() => {
      stalledUntilMs = performance.now() + 300
    }, 200)
    const { ms, wrong } = await openLoop({ ...load, url: server.url }, 200, 8)
    expect([ms.count, wrong]).toEqual([120, 0])
    // Sixty requests were due while the server did not respond, so the slowest tenth of all waited 150 ms or more.
    expect(ms.p90).toBeGreaterThan(150)
  })

  test('in a closed loop counts right responses and names wrong ones', async () => {
    const good = await closedLoop({ ...load, url: server.url, seconds: 0.2, pids: [process.pid] }, 4)
    expect(good.wrong).toBe(0)
    expect(good.perSecond).toBeGreaterThan(0)
    const bad = await closedLoop({ ...load, url: server.url, seconds: 0.1, right: () => false }, 4)
    expect(bad.wrong).toBeGreaterThan(0)
    expect(bad.why).toContain('200')
  })
})

test('a contest is the median of its rounds without the first, with the wrong responses of all', async () => {
  const runs = [1_000, 1, 2, 9]
  const measured = (perSecond: number): Measured => ({
    ...flat(perSecond),
    wrong: 1,
    ms: { count: 1, p50: 1, p90: 1, p99: perSecond, p999: 1, max: 1 },
  })
  const { one } = await contest(3, { one: async () => measured(runs.shift() ?? 0) })
  expect(one).toMatchObject({ perSecond: 2, ms: { p99: 2 }, wrong: 4 })
  expect(median([4, 1, 3, 2])).toBe(2.5)
})

test('processor time is that of the given process', () => {
  const before = cpuSeconds([process.pid])
  const began = process.cpuUsage()
  for (let used = process.cpuUsage(began); used.user + used.system < 120_000; used = process.cpuUsage(began));
  expect(cpuSeconds([process.pid]) - before).toBeGreaterThan(process.platform === 'linux' ? 0.05 : -1)
  expect(cpuSeconds([])).toBe(0)
})
