/** The budget of several workers in a real Redis. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useLedger, useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { defineScripts } from '../stock/scripts.ts'
import { CallBudget, chargesWaiting } from './call-budget.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
const sql = await useLedger(2)
const PER_SECOND = 20
const BURST = PER_SECOND / 2
/** What one job of each kind may take on credit. */
const CREDIT = 3

/** Workers of one account. */
async function workers(count: number, account: string) {
  const redis = defineScripts(connectRedis(way.through(server.url), pino({ level: 'silent' })))
  onTestFinished(() => redis.disconnect())
  await once(redis, 'ready')
  const deps = { perSecond: PER_SECOND, account, sql, redis, metrics: createMetrics() }
  return { redis, budgets: Array.from({ length: count }, () => new CallBudget(deps)) }
}
/** Repeats a round until it is done; returns the seconds that it took at least as long as Redis saw. */
async function seconds(round: () => Promise<boolean>) {
  const beganMs = performance.now()
  while (!(await round()));
  return (performance.now() - beganMs) / 1000
}

test('two workers together never exceed the rate by more than a batch', async () => {
  const { budgets } = await workers(2, 'two')
  const granted = { charge: 0, refund: 0 }
  const take = async (kind: keyof typeof granted) => {
    for (const jobs of await Promise.all(budgets.map((budget) => budget.take(kind, 7)))) granted[kind] += jobs
  }
  const tookSeconds = await seconds(async () => {
    await take('charge')
    await take('refund')
    return granted.charge >= 3 * BURST
  })
  const calls = granted.charge + 3 * granted.refund
  expect(calls).toBeLessThanOrEqual(BURST + CREDIT + PER_SECOND * tookSeconds)
})

test('charges come first, and captures wait no longer than a second', async () => {
  const { budgets } = await workers(2, 'ranks')
  const [one, other] = budgets as [CallBudget, CallBudget]
  expect([await one.take('charge', 4), await other.take('capture', 3)]).toEqual([4, 3])
  let captures = 0
  const tookSeconds = await seconds(async () => {
    const askedMs = performance.now()
    await one.take('charge', 1_000)
    await sleep(20)
    const granted = await other.take('capture', 10)
    // Charges that were asked for longer ago do not wait any more.
    if (performance.now() - askedMs < 1_000) captures += granted
    return captures > 2
  })
  expect(captures).toBeLessThanOrEqual(1 + tookSeconds)
})

test('takes calls for the jobs that are due, and says how many charges wait', async () => {
  const { redis, budgets } = await workers(1, 'due')
  const [budget] = budgets as [CallBudget]
  expect([await budget.room('charge', 256), await chargesWaiting(redis, 'due')]).toEqual([0, 0])
  const jobs = (count: number) => Array.from({ length: count }, () => ({ data: { order: crypto.randomUUID() } }))
  await addJobs(sql, 'charge', jobs(4))
  expect([await budget.room('charge', 256), budget.isShort]).toEqual([4, false])
  await addJobs(sql, 'charge', jobs(996))
  const room = await budget.room('charge', 256)
  expect(room).toBeLessThan(256)
  expect(budget.isShort).toBe(true)
  expect(await chargesWaiting(redis, 'due')).toBe(1_000 - room)
})

test('makes a share of the rate by itself while Redis is away', async () => {
  const { budgets } = await workers(1, 'away')
  const [budget] = budgets as [CallBudget]
  way.vanish()
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await budget.take('charge', 1_000)
  vi.advanceTimersByTime(1_000)
  expect(await budget.take('charge', 1_000)).toBe(Math.floor(BURST / 4))
})
