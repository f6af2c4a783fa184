/** Counting the raw log: once whoever counts, also when two do, and the same when it is counted again. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { useLedger, useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { SaleWork } from '../sales/sale-work.ts'
import { defineScripts } from '../stock/scripts.ts'
import { compareHour } from './compare.ts'
import { liveSums, sumCounts } from './count-queries.ts'
import { ViewCounter } from './counter.ts'
import { readBehind } from './log-queries.ts'
import { viewOf } from './testing.ts'
import { countPages, countVisitors, daysOf } from './uniques.ts'
import { appendViews } from './view-log.ts'
import { ViewRules } from './view-rules.ts'

const sql = await useLedger()
const redisServer = useRedis()
const log = pino({ level: 'silent' })
const metrics = createMetrics()
const rules = new ViewRules(sql, 'the token of the edge')
const HOUR_MS = 3_600_000

const counterWith = (redis: ReturnType<typeof redisOf>) =>
  new ViewCounter({ sql, redis, rules, work: new SaleWork(), metrics })
const redisOf = () => defineScripts(connectRedis(redisServer.url, log))
const period = (saleId: string) => ({
  saleId,
  from: new Date(Date.now() - HOUR_MS),
  to: new Date(Date.now() + HOUR_MS),
})
const totalOf = async (saleId: string) => (await sumCounts(sql, period(saleId), 'total'))[0]

/** The beacons of a crowd: each visitor looks at a page, stays, and every third opens it again. */
function crowd(sale: string, visitors: number): ViewEvent[] {
  return Array.from({ length: visitors }, (_, i) => {
    const view = viewOf({ sale, source: i % 2 ? 'newsletter' : 'typed', device: i % 5 === 0 ? 'bot' : 'phone' })
    const again = { ...viewOf({ sale }), pseudonym: view.pseudonym, address: view.address, device: view.device }
    const stays = { ...view, seen_seconds: 15, at_ms: view.at_ms + 15_000 }
    return i % 3 === 0 ? [view, stays, again] : [view, stays]
  }).flat()
}

async function countAll(...counters: ViewCounter[]): Promise<void> {
  const behind = async () => (await readBehind(sql)).reduce((all, { seconds }) => all + seconds, 0)
  do for (const counter of counters) await counter.round().catch(() => {})
  while ((await behind()) > 0)
}

test('workers that count the same parts at once count each view once, with their visitors', async () => {
  const redis = redisOf()
  await expect.poll(() => redis.status).toBe('ready')
  const counters = [counterWith(redis), counterWith(redis)]
  const log = crowd('hot', 300)
  for (let from = 0; from < log.length; from += 100) {
    await appendViews(sql, log.slice(from, from + 100))
    await Promise.allSettled(counters.map((counter) => counter.round()))
  }
  await countAll(...counters)
  // Every fifth visitor is a bot, and every third opens the page again, of whom the people are dropped as repeats.
  expect(await totalOf('hot')).toEqual({ key: '', counted: 240, dropped: 60 + 100, seconds: 240 * 15 })
  const bySource = await sumCounts(sql, period('hot'), 'source')
  expect(Object.fromEntries(bySource.map(({ key, counted }) => [key, counted]))).toEqual({
    newsletter: 120,
    typed: 120,
  })
  const dropped = (await sumCounts(sql, period('hot'), 'rule')).map(({ key, dropped }) => [key, dropped])
  expect(Object.fromEntries(dropped)).toEqual({ bots: 80, repeat: 80 })
  const days = daysOf(new Date(), new Date(Date.now() + 1))
  const [visitors] = await countVisitors(redis, 'hot', days, 'total', [''])
  expect(Math.abs((visitors ?? 0) - 240)).toBeLessThan(10)
  redis.disconnect()
})

test('a worker that takes over knows the visitors of before, and counts while Redis is away', async () => {
  const redis = redisOf()
  await expect.poll(() => redis.status).toBe('ready')
  const visitor = viewOf({ sale: 'taken-over' })
  await appendViews(sql, [visitor])
  await countAll(counterWith(redis))
  redis.disconnect()
  await expect.poll(() => redis.status).toBe('end')
  await appendViews(sql, [
    { ...viewOf({ sale: 'taken-over' }), pseudonym: visitor.pseudonym, address: visitor.address },
  ])
  await countAll(counterWith(redis))
  expect(await totalOf('taken-over')).toMatchObject({ counted: 1, dropped: 1 })
  expect(await countVisitors(redis, 'taken-over', ['2026-11-28'], 'page', ['sale'])).toEqual([null])
})

test('pages are seen now if their latest beacon is, and as long as the counts are not behind', async () => {
  const redis = redisOf()
  await expect.poll(() => redis.status).toBe('ready')
  const beganMs = Date.parse('2026-11-29T12:00:00Z')
  // The ids are the same each time, because HyperLogLog takes one of forty for another in one run of twenty.
  const opened = Array.from({ length: 40 }, (_, i) =>
    viewOf({ view: `a-view-of-this-test-${i + 10}`, sale: 'looked-at', at_ms: beganMs }),
  )
  const stays = opened.slice(0, 30).map((view) => ({ ...view, seen_seconds: 15, at_ms: beganMs + 15_000 }))
  await appendViews(sql, [...opened, ...stays, viewOf({ sale: 'looked-at', at_ms: beganMs, device: 'bot' })])
  await countAll(counterWith(redis))
  const pages = (seconds: number, behind = 0) => countPages(redis, 'looked-at', beganMs + 1000 * seconds, behind)
  expect(await Promise.all([20, 35, 50].map((seconds) => pages(seconds)))).toEqual([40, 30, 0])
  expect([await pages(50, 15), await pages(50, 61)]).toEqual([30, null])
  redis.disconnect()
  await expect.poll(() => redis.status).toBe('end')
  expect(await pages(20)).toBeNull()
})

test('an hour that was counted wrong is a finding, until it is equal again', async () => {
  const redis = redisOf()
  const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS)
  await appendViews(
    sql,
    Array.from({ length: 50 }, () => viewOf({ sale: 'compared', at_ms: hour.getTime() + 1 })),
  )
  await countAll(counterWith(redis))
  const compare = () => compareHour({ sql, rules, metrics }, hour)
  const findings = () => sql`
    select subject, detail, outcome from findings where kind = 'views_differ' and sale_id = 'compared'`
  await compare()
  expect(await findings()).toEqual([])
  await sql`update view_counts set counted = counted + 20 where sale_id = 'compared' and by = 'total'`
  await compare()
  expect(await findings()).toMatchObject([{ detail: { live: { counted: 70 }, again: { counted: 50 } }, outcome: null }])
  await sql`update view_counts set counted = counted - 20 where sale_id = 'compared' and by = 'total'`
  await compare()
  expect(await findings()).toMatchObject([{ outcome: 'the same when compared again' }])
  expect((await liveSums(sql, hour, new Date(hour.getTime() + HOUR_MS))).length).toBeGreaterThan(0)
  redis.disconnect()
})
