import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'
import { positionOf } from '../../shared/draw.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { DrawTable } from '../invariants/draw-table.ts'
import { Histogram } from '../lib/histogram.ts'
import { HttpClient, headerOf, readAnswer, requestText } from '../lib/http.ts'
import { lineChart, segments } from '../rehearsal/report/charts.ts'
import { servedBy } from './schedule-copy.ts'
import { Wheel } from './timer-wheel.ts'
import { arrivalTimes, leadMs, SHAPES } from './visitors/arrivals.ts'
import { NOBODY, PLAN, visitorsOf } from './visitors/visitors.ts'

test('a histogram has percentiles in ms up to an hour, is zero when empty, and restarts when taken', () => {
  const histogram = new Histogram()
  expect(histogram.summary()).toMatchObject({ count: 0, p50: 0, p99: 0, max: 0 })
  for (let i = 1; i <= 10_000; i++) histogram.add(i)
  for (const share of [0.5, 0.9, 0.99, 0.999]) expect(histogram.percentile(share) / (share * 10_000)).toBeCloseTo(1, 2)
  expect(histogram.take()).toMatchObject({ count: 10_000, max: expect.closeTo(10_000, -2) })
  for (const ms of [0, 0.0001, 1e9]) histogram.add(ms)
  expect(histogram.summary()).toMatchObject({ count: 3, p50: 0.001, max: expect.closeTo(3_600_000, -4) })
})

describe('arrivals', () => {
  test.each(SHAPES)('of shape %s are sorted, within the spread, and the same for a seed', (shape) => {
    const times = arrivalTimes(shape, 1_000, 5_000, seededRandom(7))
    expect([...times]).toEqual([...times].sort((a, b) => a - b))
    expect(times.at(0)).toBeGreaterThanOrEqual(-leadMs(shape, 5_000))
    expect(times.at(-1)).toBeLessThanOrEqual(5_000 - leadMs(shape, 5_000))
    expect(arrivalTimes(shape, 1_000, 5_000, seededRandom(7))).toEqual(times)
    expect(arrivalTimes(shape, 1_000, 5_000, seededRandom(8))).not.toEqual(times)
  })

  test('come before the opening as their shape says', () => {
    const early = (shape: (typeof SHAPES)[number]) =>
      arrivalTimes(shape, 20_000, 1_000, seededRandom(1)).filter((ms) => ms < 0).length / 20_000
    expect(early('ramp')).toBe(0)
    expect(early('early')).toBeCloseTo(0.9, 1)
    expect(early('spike')).toBeCloseTo(0.25, 1)
  })
})

test('the plans of a crowd have the given shares, and are the same for a seed', () => {
  const shares = {
    declines: 0.05,
    banks: 0.06,
    timeouts: 0.01,
    abandon: 0.1,
    noShows: 0.02,
    pollers: 0.03,
    known: 0.04,
  }
  const planned = () => visitorsOf(new Float64Array(20_000), { ...NOBODY, ...shares }, seededRandom(3))
  const crowd = planned()
  const share = (bit: number) => crowd.filter((visitor) => visitor.has(bit)).length / crowd.length
  const { decline, bank, timeout, abandon, noShow, poller, known } = PLAN
  for (const [i, bit] of [decline, bank, timeout, abandon, noShow, poller, known].entries())
    expect(share(bit)).toBeCloseTo(Object.values(shares)[i] ?? 0, 2)
  expect(share(PLAN.bot)).toBe(0)
  expect(planned().every(({ plan }, i) => plan === crowd[i]?.plan)).toBe(true)
})

describe('the timer wheel', () => {
  test('fires each timer once, not before it is due, however far away', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 100, size: 'max' }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 25, size: 'max' }),
        (dueMs, steps) => {
          const fired = new Set<number>()
          const wrong: number[] = []
          let nowMs = 0
          const wheel = new Wheel(dueMs.length, nowMs, (id, due) => {
            if (due !== dueMs[id] || due > nowMs || fired.has(id)) wrong.push(id)
            fired.add(id)
          })
          for (const [id, due] of dueMs.entries()) wheel.at(id, due)
          for (const step of steps) {
            nowMs += step
            wheel.run(nowMs)
            for (const [id, due] of dueMs.entries()) if (due <= nowMs - 8 && !fired.has(id)) wrong.push(id)
          }
          expect(wrong).toEqual([])
        },
      ),
    )
  })

  test('lets a firing timer be set again, and holds one per visitor', () => {
    const fired: number[] = []
    const wheel: Wheel = new Wheel(1, 0, (id, dueMs) => {
      fired.push(dueMs)
      if (fired.length < 3) wheel.at(id, dueMs + 100)
    })
    wheel.at(0, 50)
    expect(() => wheel.at(0, 60)).toThrow()
    for (let nowMs = 0; nowMs <= 400; nowMs += 10) wheel.run(nowMs)
    expect(fired).toEqual([50, 150, 250])
  })
})

describe('the recomputed draw', () => {
  test('matches the draw', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 })),
        fc.integer({ min: 1, max: 3_000 }),
        fc.nat(4_000),
        (seedBytes, beaconBytes, size, n) => {
          const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
          const draw = { seed: hex(seedBytes), size, beacon: beaconBytes ? hex(beaconBytes) : null }
          expect(new DrawTable(draw).positionOf(n + 1)).toBe(positionOf(draw, n + 1))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('has the published vectors for half a million', () => {
    const table = new DrawTable({ seed: `${'00'.repeat(31)}01`, size: 500_000, beacon: null })
    expect([1, 2, 3, 4, 5].map((number) => table.positionOf(number))).toEqual([304358, 102135, 209119, 402860, 23435])
  })
})

describe('what the public schedules had called', () => {
  const document = (anchor_at_ms: number, anchor_position: number, rate_per_second: number) =>
    sampleSchedule({ anchor_at_ms, anchor_position, rate_per_second, ceiling: 1e9 })

  test('follows each schedule until the next, which may have come since the last read', () => {
    const seenUntil = (lastMs: number) =>
      servedBy(
        [
          { atMs: 0, lastMs: 999, schedule: { ...document(0, 0, 10), draw_seed: null } },
          { atMs: 1_000, lastMs, schedule: document(1_000, 0, 10) },
          { atMs: 3_000, lastMs: 9_000, schedule: document(3_000, 20, 0) },
        ],
        0,
      )
    const moments = [500, 1_000, 2_000, 3_000, 60_000]
    expect(moments.map(seenUntil(2_999))).toEqual([0, 0, 10, 20, 20])
    expect(moments.map(seenUntil(1_500))).toEqual([0, 0, 20, 20, 20])
  })
})

describe('the client', () => {
  let server: Loopback
  beforeAll(async () => {
    server = await serveOnLoopback(async (request, response) => {
      if (request.url === '/slow') return
      if (request.url === '/cut') return void request.socket.destroy()
      if (request.url === '/close') response.setHeader('connection', 'close')
      if (request.url === '/empty') return void response.writeHead(204).end()
      if (request.url === '/chunked') {
        response.write('{"path":')
        setTimeout(() => response.end('"/chunked"}'), 5)
        return
      }
      const body = (await request.toArray()).join('')
      response.end(JSON.stringify({ path: request.url, method: request.method, body: body.length }))
    })
  })
  afterAll(() => server.stop())

  test('gives each request its own response, over few connections', async () => {
    const client = new HttpClient({ url: server.url, connections: 3 })
    const paths = Array.from({ length: 200 }, (_, i) => `/${['a', 'chunked', 'empty', 'close', 'b'][i % 5]}`)
    const textOf = (path: string) =>
      path === '/b' ? requestText('POST', path, client.host, [], '{"a":1}') : requestText('GET', path, client.host)
    const answers = await Promise.all(paths.map((path) => client.request(textOf(path))))
    for (const [i, { status, body }] of answers.entries()) {
      if (paths[i] === '/empty') expect([status, body]).toEqual([204, ''])
      else expect([status, JSON.parse(body).path]).toEqual([200, paths[i]])
    }
    expect(JSON.parse(answers[4]?.body ?? '')).toEqual({ path: '/b', method: 'POST', body: 7 })
    client.close()
  })

  test('names failures: cut off, timed out, refused, closed', async () => {
    const client = new HttpClient({ url: server.url, connections: 2, timeoutMs: 500 })
    const ask = (path: string, by = client) => by.request(requestText('GET', path, by.host))
    expect(await ask('/cut')).toMatchObject({ status: 0 })
    expect(await ask('/slow')).toMatchObject({ status: 0, failure: 'timed out' })
    expect(await ask('/a')).toMatchObject({ status: 200 })
    const cut = ask('/slow')
    client.close()
    expect(await cut).toMatchObject({ status: 0 })
    expect(await ask('/a')).toMatchObject({ status: 0 })
    const nobody = new HttpClient({ url: 'http://127.0.0.1:1', connections: 1 })
    expect(await ask('/', nobody)).toMatchObject({ status: 0, failure: 'ECONNREFUSED' })
    nobody.close()
  })

  test('parses a response however it is cut into pieces', () => {
    const whole = Buffer.from(
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nRetry-After: ' +
        '7\r\n\r\n5\r\nhello\r\n7;x=y\r\n, wörl\r\n0\r\n\r\n',
    )
    for (let at = 0; at < whole.length; at++) {
      const needed = readAnswer(whole.subarray(0, at))
      expect(typeof needed).toBe('number')
      expect(needed).toBeGreaterThan(at)
      expect(needed).toBeLessThanOrEqual(whole.length)
    }
    const read = readAnswer(whole)
    expect(read).toMatchObject({ status: 200, body: 'hello, wörl', keep: true })
    if (typeof read === 'number') return
    const answer = { ...read, sentMs: 0, answeredMs: 0, failure: null }
    expect([headerOf(answer, 'retry-after'), headerOf(answer, 'etag')]).toEqual(['7', ''])
  })
})

test('a chart has gaps where nothing was measured', () => {
  const measured = [null, 5, 7, null, null, 1]
  const points = measured.map((y, x) => [x, y] as const)
  expect(segments(points)).toEqual([
    [
      [1, 5],
      [2, 7],
    ],
    [[5, 1]],
  ])
  const svg = lineChart('Latency', { x: 'seconds', y: 'ms' }, [{ name: 'join', color: 'a', points }])
  expect(svg.match(/<polyline/g)).toHaveLength(2)
  expect(svg).toContain('aria-label="Latency. join: at most 7, at last 1."')
  expect(svg).toMatch(/>seconds<\/text>.*>ms<\/text>/)
})
