import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ONE_LINE } from '../../shared/api/access.ts'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { SaleMemory } from '../sales/sale-memory.ts'
import { defineScripts, MOST_UNPAID, type Store, WAITS_FOR_USE } from '../stock/scripts.ts'
import { Arrivals } from './arrivals.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
const log = pino({ level: 'silent' })
const memory = new SaleMemory()
let redis: Store
let arrivals: Arrivals
/** The turns that were counted, as sale and source. */
const turns: string[] = []
const sources = { count: (sale: string, source = 'typed') => void turns.push(`${sale} ${source}`) }
beforeAll(async () => {
  redis = defineScripts(connectRedis(way.through(server.url), log))
  await once(redis, 'ready')
  arrivals = new Arrivals({ redis, metrics: createMetrics(), memory, sources, log })
  arrivals.actor.start()
})
afterAll(async () => {
  await arrivals.actor.stop()
  redis.disconnect()
})

const countsBecome = (sale: string, counts: object) => expect.poll(() => arrivals.counts(sale)).toMatchObject(counts)

let others = 0
/** All sales are counted together: what was to be counted before has been. */
async function anotherCount(): Promise<void> {
  const sale = `other-${++others}`
  arrivals.arrived(sale, 1)
  await countsBecome(sale, { arrivals: 1, counted: true })
}

test('counts who came while Redis was away when it is back, and keeps who waits for stock', async () => {
  const sent = vi.spyOn(redis, 'pipeline')
  onTestFinished(() => sent.mockRestore())
  way.vanish()
  arrivals.arrived('sale', 1)
  arrivals.waitsForStock('sale', 'ann', 0)
  arrivals.waitsForStock('sale', 'bob', 0)
  // They are on their way to a Redis that does not respond.
  await expect.poll(() => sent).toHaveBeenCalled()
  arrivals.arrived('sale', 2)
  await countsBecome('sale', { arrivals: 2, waiting_for_stock: 2, counted: true })
  arrivals.waitsForStock('sale', 'bob', null)
  await countsBecome('sale', { arrivals: 2, waiting_for_stock: 1, counted: true })
})

test('returns the latest arrivals since the last call; a second call is no new arrival', () => {
  for (let number = 1; number <= 30; number++) arrivals.arrived('late', number)
  arrivals.arrived('another', 99)
  expect(arrivals.takeRecent('late')).toEqual(Array.from({ length: 20 }, (_, i) => 11 + i))
  arrivals.arrived('late', 7)
  arrivals.arrived('late', 31)
  expect(arrivals.takeRecent('late')).toEqual([31])
  expect(arrivals.takeRecent('late')).toEqual([])
})

test('counts each turn once by its source, whichever process it came to first', async () => {
  const other = new Arrivals({ redis, metrics: createMetrics(), memory: new SaleMemory(), sources, log })
  other.actor.start()
  onTestFinished(() => other.actor.stop())
  arrivals.arrived('turns', 1, 'ads')
  arrivals.arrived('turns', 2)
  arrivals.arrived('turns~members', 1, 'ads')
  await countsBecome('turns', { arrivals: 2 })
  arrivals.arrived('turns', 1, 'ads')
  other.arrived('turns', 1, 'ads')
  other.arrived('turns', 3, 'ads')
  await expect.poll(() => other.counts('turns')).toMatchObject({ arrivals: 3 })
  await anotherCount()
  expect(turns.filter((one) => one.startsWith('turns ')).sort()).toEqual([
    'turns ads',
    'turns ads',
    'turns ads',
    'turns typed',
  ])
})

test('says that arrivals are not counted while Redis is full, and counts them when there is room', async () => {
  arrivals.arrived('full', 1)
  await countsBecome('full', { arrivals: 1, counted: true })
  await redis.config('SET', 'maxmemory', '1')
  arrivals.arrived('full', 2)
  await countsBecome('full', { arrivals: 1, counted: false })
  await redis.config('SET', 'maxmemory', '0')
  await countsBecome('full', { arrivals: 2, counted: true })
})

test('ignores a slightly lower count, and reports one that began anew after Redis came back empty', async () => {
  const counts = (expected: number) => countsBecome('lost', { arrivals: expected, counted: true })
  for (let number = 1; number <= 20; number++) arrivals.arrived('lost', number)
  await counts(20)
  // This is the state of a replica that was one arrival behind.
  await redis
    .multi()
    .del('{lost}:arrivals')
    .pfadd('{lost}:arrivals', ...Array(19).keys())
    .exec()
  await anotherCount()
  await counts(20)
  await redis.flushall()
  arrivals.arrived('lost', 21)
  await counts(1)
})

test('lets Redis forget the counts of a sale that nobody comes to any more', async () => {
  arrivals.arrived('over', 1)
  arrivals.waitsForStock('over', 'ann', 0)
  await countsBecome('over', { arrivals: 1, waiting_for_stock: 1, counted: true })
  for (const [key, hours] of [
    ['arrivals', 48],
    ['waiting_for_stock', 1 / 12],
  ] as const) {
    const leftMs = await redis.pttl(`{over}:${key}`)
    expect(leftMs, key).toBeGreaterThan(0)
    expect(leftMs, key).toBeLessThanOrEqual(hours * 3_600_000)
  }
})

test('a new process keeps visitors to whom others gave a long interval', async () => {
  // Longer ago than any but the longest interval lets them stay.
  const askedMs = Date.now() - 15_000
  const crowd = Array.from({ length: 8_000 }, (_, visitor) => [askedMs, `${visitor}`])
  await redis.zadd('{begun}:waiting_for_stock', ...crowd.flat())
  for (let count = 0; count < 2; count++) {
    await countsBecome('begun', { counted: true })
    expect(arrivals.counts('begun').waiting_for_stock).toBe(8_000)
    await anotherCount()
  }
})

test('every process knows how many come first, by unpaid orders and line, until reports stop', async () => {
  const other = new Arrivals({ redis, metrics: createMetrics(), memory: new SaleMemory(), sources, log })
  other.actor.start()
  onTestFinished(() => other.actor.stop())
  const lines = [ONE_LINE, [...ONE_LINE, { line: 'members', weight: 1, opens_early_seconds: 0, access: null }]] as const
  const demand = () =>
    [other, arrivals].map((one) =>
      lines.map((these) =>
        one.demand({ sale_id: 'reported', lines: these, limit_per_visitor: 2, max_unpaid_orders: 3 }),
      ),
    )
  expect(demand()).toEqual(Array(2).fill(Array(2).fill([0, 0, 0])))
  // The visitors have no unpaid order, one, and more than the counts distinguish.
  const asks = () => {
    arrivals.waitsForStock('reported', 'ann', 0)
    other.waitsForStock('reported', 'bob', 1)
    arrivals.waitsForStock('reported', 'cid', MOST_UNPAID)
    other.waitsForUse('reported', 'dan')
  }
  const reported = () => {
    arrivals.lineWaits('reported', 'reported', 100)
    other.lineWaits('reported', 'reported~members', 10)
    asks()
    return demand()
  }
  const waiting = [
    [202, 204, 204],
    [222, 224, 224],
  ]
  await expect.poll(reported).toEqual([waiting, waiting])
  // They wait for no unit.
  expect([other, arrivals].map((one) => one.demandForUses('reported'))).toEqual([1, 1])
  expect(await redis.pttl('{reported}:in-line')).toBeLessThanOrEqual(10_000)
  const silent = async () => {
    // The counts expire after ten seconds without a report.
    await redis.pexpire('{reported}:in-line', 1)
    asks()
    return demand()
  }
  await expect.poll(silent).toEqual(Array(2).fill(Array(2).fill([2, 4, 4])))
})

test('skips a sale that nobody asks about, and counts it again when somebody does', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  expect(arrivals.counts('idle').counted).toBe(false)
  await countsBecome('idle', { counted: true })
  // Asking begins the minute anew.
  await expect
    .poll(async () => {
      for (let half = 0; half < 2; half++) {
        vi.advanceTimersByTime(35_000)
        await anotherCount()
      }
      return arrivals.counts('idle').counted
    })
    .toBe(false)
  await countsBecome('idle', { counted: true })
})

test('limits the notes of a crowd that waits for stock', async () => {
  // Redis would take seconds of the processor for all of them.
  const written = vi.spyOn(redis, 'countWaitingForStock').mockImplementation(async () => [])
  onTestFinished(() => written.mockRestore())
  const room = 200_000
  for (let visitor = 0; visitor < room + 1_000; visitor++) arrivals.waitsForStock('crowd', `${visitor}`, 0)
  const ofCrowd = () => written.mock.calls.filter(([key]) => key === '{crowd}:waiting_for_stock')
  const notes = (args: readonly unknown[]) => (args.length - WAITS_FOR_USE - 2) / 2
  await expect.poll(() => ofCrowd().reduce((all, args) => all + notes(args), 0)).toBe(room)
  await countsBecome('crowd', { counted: true })
})
