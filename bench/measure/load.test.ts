import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/servers/loopback.ts'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import { ADMISSION, readToken } from '../../shared/tokens.ts'
import { type HttpClient, requestText } from '../lib/http.ts'
import { closedLoop, contest, cpuSeconds, flat, type Measured, median, openLoop } from './load.ts'
import { admissionMint } from './stage.ts'

let server: Loopback
/** Until then the server answers nobody. */
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
    }, 100)
    const { ms, wrong } = await openLoop({ ...load, url: server.url }, 200, 8)
    expect([ms.count, wrong]).toEqual([120, 0])
    // Sixty requests were due while it stood still: the tenth of all that waited longest waited 150 ms and more.
    expect(ms.p90).toBeGreaterThan(150)
  })

  test('in an open loop sends each request when it is due', async () => {
    const { ms } = await openLoop({ ...load, url: server.url, seconds: 1 }, 1)
    // A request that were sent an interval late would have waited for a second.
    expect([ms.count, ms.max < 900]).toEqual([1, true])
  })

  test('in a closed loop shows a stall at its end in the latency', async () => {
    const beganMs = performance.now()
    const stalling = (client: HttpClient) => {
      if (performance.now() - beganMs > 200) stalledUntilMs = performance.now() + 900
      return next(client)
    }
    const { ms } = await closedLoop({ ...load, url: server.url, next: stalling, seconds: 0.4 }, 4)
    stalledUntilMs = 0
    // Four were kept waiting, beyond the end.
    expect(ms.max).toBeGreaterThan(500)
  })

  test('in a closed loop counts right responses and names wrong ones', async () => {
    const good = await closedLoop({ ...load, url: server.url, seconds: 0.2, pids: [process.pid] }, 4)
    expect(good.wrong).toBe(0)
    expect(good.perSecond).toBeGreaterThan(0)
    const bad = await closedLoop({ ...load, url: server.url, seconds: 0.1, right: () => false }, 4)
    expect(bad.wrong).toBeGreaterThan(0)
    expect(bad.why).toContain('200')
    let responses = 0
    const warming = await closedLoop({ ...load, url: server.url, seconds: 0.2, right: () => ++responses > 1 }, 1)
    expect(warming.wrong).toBe(1)
  })

  test('in a closed loop is shared out among several servers', async () => {
    const asked = new Set<number>()
    const serve = (i: number) =>
      serveOnLoopback((_, response) => {
        asked.add(i)
        response.end('{}')
      })
    const others = await Promise.all([serve(0), serve(1)])
    await closedLoop({ ...load, url: others.map(({ url }) => url), seconds: 0.1 }, 4)
    expect(asked.size).toBe(2)
    for (const other of others) other.stop()
  })

  test('ends when there are no more requests', async () => {
    let left = 500
    const few = () => (left-- > 0 ? requestText('GET', '/', 'localhost') : null)
    const { perSecond } = await closedLoop({ ...load, url: server.url, next: few, seconds: 30 }, 4)
    expect(perSecond).toBeGreaterThanOrEqual(0)
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

test('an admission minted for a measurement is one that the origin accepts', () => {
  const set = newKeySet()
  const keys = importSecrets(set)
  const [one = '', another = ''] = admissionMint(set)('sale', 2)
  const claimsOf = (token: string) => readToken(ADMISSION, keys, token, Date.now())
  expect(claimsOf(one)).toMatchObject({ ok: true, claims: { sale: 'sale', num: 1 } })
  expect(claimsOf(another)).toMatchObject({ ok: true, claims: { num: 2 } })
})
