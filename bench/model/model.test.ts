import { describe, expect, test } from 'vitest'
import { USUAL_SHARES } from '../../shared/model/shop-model.ts'
import { whatComes } from '../../shared/model/what-if.ts'
import { playAfterEnd } from './after-end.ts'
import { billsOf, trafficOf } from './bills.ts'
import { runsOf } from './isolates.ts'
import { costOf, PRICES, sum } from './prices.ts'
import { play } from './sale.ts'
import { LIMITS, PerSecond, type Scenario } from './scenario.ts'

const scenario: Scenario = {
  visitors: 50_000,
  stock: 500,
  rate: 250,
  arrivals: 'early',
  spreadSeconds: 60,
  stampede: 5,
  dataCentres: 40,
  isolates: null,
  shards: 4,
  known: 0.1,
  holdSeconds: 20,
  seed: 1,
}

describe('the model of a sale', async () => {
  let heard = false
  setImmediate(() => {
    heard = true
  })
  const outcome = await play(scenario)
  const wasHeard = heard

  test('sells exactly the stock, everyone joins once and learns the end, and an interruption gets through', () => {
    expect(wasHeard).toBe(true)
    expect(outcome.sold).toBe(scenario.stock)
    expect(outcome.soldOutAfterSeconds).toBeGreaterThan(scenario.stock / scenario.rate)
    expect(outcome.requests.join).toBeCloseTo(scenario.visitors, 0)
    expect(outcome.requests.final).toBeLessThanOrEqual(scenario.visitors)
    expect(outcome.requests.final).toBeGreaterThan(scenario.visitors - 10 * scenario.stock)
  })

  test('admits no more people than may find a unit', () => {
    expect(outcome.requests.admission).toBeGreaterThanOrEqual(scenario.stock)
    expect(outcome.requests.admission).toBeLessThan(4 * scenario.stock)
  })

  test('takes as long as the console foretells', () => {
    const { visitors, stock: units, rate: ratePerSecond, holdSeconds } = scenario
    const pays = 1 - USUAL_SHARES.abandon - USUAL_SHARES.declines
    const asked = { visitors, units, ratePerSecond, holdSeconds, maxInside: null, comes: 1, pays, endsInSeconds: null }
    const foretold = whatComes(asked)?.soldOutSeconds ?? Number.NaN
    expect((outcome.soldOutAfterSeconds ?? Number.NaN) / foretold).toBeGreaterThan(0.75)
    expect((outcome.soldOutAfterSeconds ?? Number.NaN) / foretold).toBeLessThan(1.33)
  })

  test('repeats the same sale for the same seed', async () => {
    const small = { ...scenario, visitors: 5_000, stock: 100 }
    const [once, again, other] = [await play(small), await play(small), await play({ ...small, seed: 2 })]
    expect(again).toEqual(once)
    expect(other).not.toEqual(once)
  })

  test('is as busy as the stampede says', async () => {
    const mean = scenario.visitors / scenario.spreadSeconds
    const calm = await play({ ...scenario, stampede: 1 })
    expect(outcome.peaks.workerRequests).toBeGreaterThan(2 * scenario.stampede * mean * 0.9)
    expect(calm.isolates).toBeLessThanOrEqual(outcome.isolates)
  })

  test('spreads visitors over more shards, at the expense of the coordinator', async () => {
    const more = await play({ ...scenario, shards: 16 })
    expect(more.peaks.shardCalls).toBeLessThan(outcome.peaks.shardCalls)
    expect(more.peaks.coordinatorCalls).toBeGreaterThan(outcome.peaks.coordinatorCalls)
    expect(more.peaks.coordinatorCalls).toBeLessThan(LIMITS.objectCalls)
  })

  describe('billed', () => {
    const traffic = trafficOf(outcome)
    const { runs, pagesFromCache, readsFromCache, ways } = billsOf(outcome, traffic)
    const dollarsOf = (what: string) => ways.find((way) => way.what === what)?.dollars ?? Number.NaN

    test('with a cache runs a Worker for what is each visitor’s own, and seldom for what is the same for all', () => {
      const { page, feed, final, ...own } = outcome.requests
      const ownRequests = Object.values(own).reduce((all, many) => all + many, 0)
      expect(runs + pagesFromCache + readsFromCache).toBeCloseTo(traffic.requests + traffic.scheduleReads)
      expect(runs).toBeGreaterThan(ownRequests)
      expect(runs).toBeLessThan(ownRequests + 0.1 * (page + feed + final + traffic.scheduleReads))
    })

    test('by Workers Cache costs as many requests, and no processor time of what it serves', () => {
      const saved = ((pagesFromCache + readsFromCache) * 0.15 * PRICES.workerCpuMs) / 1e6
      expect(dollarsOf('Workers Cache')).toBeCloseTo(dollarsOf('a Worker before every request') - saved)
    })

    test('by a CDN that serves schedules costs no Worker for them', () => {
      const { requests, scheduleReads } = traffic
      const own = billsOf(outcome, { ...traffic, scheduleReads: 0 }).ways.find(({ what }) => what === 'Workers Cache')
      const dollars = dollarsOf('Workers Cache, schedules from a CDN that bills bytes')
      expect(dollars).toBeCloseTo((own?.dollars ?? 0) + (scheduleReads * 750 * 0.01) / 1e9, 2)
      expect(dollars).toBeLessThan(
        dollarsOf('Workers Cache') - ((scheduleReads - requests) * PRICES.workerRequest) / 2e6,
      )
    })

    test('by another CDN costs least by the byte, and most by the request', () => {
      expect(dollarsOf('a CDN that bills bytes')).toBeLessThan(dollarsOf('Workers Cache'))
      expect(dollarsOf('a CDN that bills requests and bytes')).toBeGreaterThan(
        dollarsOf('a Worker before every request'),
      )
    })
  })

  test('tells those who look in time, and calls objects no more often for a crowd that waits longer', async () => {
    const patient = await play({ ...scenario, holdSeconds: 60 })
    expect(patient.scheduleReads / scenario.visitors).toBeLessThan(40)
    // The last units stay in carts for a minute and are paid for at no steady pace that could forecast the end, so
    // pages learn of the end from an announcement.
    expect(patient.endSeenSeconds).toBeLessThan(9.7)
    for (const { announcementSeenSeconds } of [patient, outcome]) expect(announcementSeenSeconds).toBeCloseTo(9.7, 0)
    const perSecond = (o: typeof outcome) => o.objectCalls / o.seconds
    expect(perSecond(patient)).toBeLessThanOrEqual(perSecond(outcome))
  })
})

test('pages that stay open after the end read seldom, and live again within 10 s, later within a minute', () => {
  const soon = playAfterEnd(scenario, 5 * 60_000)
  // Ten minutes at a read every 5 s, and ten at one every 30 s, each up to a fiftieth earlier.
  expect(soon.readsEach).toBeGreaterThan(140)
  expect(soon.readsEach).toBeLessThan(144)
  expect(soon.runs).toBeLessThan(0.05 * soon.readsEach * soon.looking)
  expect(soon.livesWithinSeconds).toBeGreaterThan(8)
  expect(soon.livesWithinSeconds).toBeLessThan(10)
  // The page loads are spread over several seconds.
  expect(soon.pagesAtPeak).toBeLessThan(0.25 * soon.looking)
  const late = playAfterEnd(scenario, 15 * 60_000)
  expect(late.livesWithinSeconds).toBeGreaterThan(30)
  expect(late.livesWithinSeconds).toBeLessThan(60)
})

test('a cache runs the Worker once for each variant while it keeps it, and never more often than it is asked', () => {
  const busy = new PerSecond()
  for (let second = 0; second < 100; second++) busy.add(second * 1_000, 10_000)
  // Each of ten upper tiers runs the Worker once a second, and one more time at the start.
  expect(runsOf(busy, 1, 1)).toBeCloseTo(10 * 100 + 10)
  expect(runsOf(busy, 5, 20)).toBeCloseTo(10 * 100 * 4 + 200)
  const calm = new PerSecond()
  calm.add(0, 7)
  expect(runsOf(calm, 1, 100)).toBe(7)
})

test('a cost is the usage times its price', () => {
  const costs = costOf({
    workerRequests: 2e6,
    workerCpuMs: 1e6,
    objectRequests: 4e6,
    objectSeconds: 0,
    rowsWritten: 3e6,
  })
  expect(sum(costs)).toBeCloseTo(
    2 * PRICES.workerRequest + PRICES.workerCpuMs + 4 * PRICES.objectRequest + 3 * PRICES.rowWritten,
  )
})
