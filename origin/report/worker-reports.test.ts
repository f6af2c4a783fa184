import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { useRedis } from '../../test/lib/servers.ts'
import { connectRedis } from '../lib/redis.ts'
import { createMetrics } from '../metrics.ts'
import { defineScripts } from '../stock/scripts.ts'
import { workerReports, workersOf } from './worker-reports.ts'

const NOW_MS = 1_000_000
const report = (agoMs: number, answeredAgoMs: number | null, failedAgoMs: number | null) => ({
  atMs: NOW_MS - agoMs,
  hasLedger: true,
  answeredAtMs: answeredAgoMs === null ? null : NOW_MS - answeredAgoMs,
  failedAtMs: failedAgoMs === null ? null : NOW_MS - failedAgoMs,
})
const of = (...reports: ReturnType<typeof report>[]) => workersOf(reports, NOW_MS)

test('counts the workers that reported lately', () => {
  expect(of()).toEqual({ workers: 0, provider: null })
  expect(of(report(60_000, 100, null))).toEqual({ workers: 0, provider: null })
  expect(of(report(1_000, null, null), report(11_000, null, null))).toEqual({ workers: 1, provider: 'unused' })
})

test('says of the provider what was seen last, by whichever worker', () => {
  expect(of(report(1_000, 5_000, 9_000))).toMatchObject({ provider: 'answers' })
  expect(of(report(1_000, 40_000, 5_000))).toMatchObject({ provider: 'fails' })
  expect(of(report(1_000, null, 5_000))).toMatchObject({ provider: 'fails' })
  expect(of(report(1_000, 40_000, 5_000), report(1_000, 2_000, null))).toMatchObject({ provider: 'answers' })
})

test('takes one charge without an answer for what it is', () => {
  expect(of(report(1_000, 9_000, 5_000))).toMatchObject({ provider: 'answers' })
})

const server = useRedis()

test('shares the sales among the workers that report and reach the ledger, and has all of them while Redis is away', async () => {
  const log = pino({ level: 'silent' })
  const redis = defineScripts(connectRedis(server.url, log))
  await expect.poll(() => redis.status).toBe('ready')
  const nowMs = () => NOW_MS
  await redis.hset('workers', 'dead', JSON.stringify(report(6_000, null, null)))
  await redis.hset('workers', 'cut off', JSON.stringify({ ...report(0, null, null), hasLedger: false }))
  let isLedgerAway = false
  const started = [0, 1].map(() => {
    const shared: { worker: string; running: readonly string[] }[] = []
    const work = { share: (worker: string, running: readonly string[]) => void shared.push({ worker, running }) }
    const provider = () => ({ answeredAtMs: null, failedAtMs: null })
    const actor = workerReports({
      redis,
      provider,
      work,
      isLedgerAway: () => isLedgerAway,
      nowMs,
      metrics: createMetrics(),
      log,
    })
    actor.start()
    return { actor, shared, last: () => shared.at(-1) }
  })
  const [one, other] = started
  const shares = () => started.map(({ last }) => last()?.running.toSorted())
  const workers = () => started.map(({ last }) => last()?.worker).sort()
  await expect.poll(() => isDeepStrictEqual(shares(), [workers(), workers()]), { timeout: 15_000 }).toBe(true)
  isLedgerAway = true
  await expect.poll(() => one?.last()?.running.length, { timeout: 15_000 }).toBe(3)
  isLedgerAway = false
  await other?.actor.stop()
  await expect.poll(() => one?.last()?.running, { timeout: 15_000 }).toEqual([one?.last()?.worker])
  redis.disconnect()
  const told = one?.shared.length ?? 0
  await expect.poll(() => one?.shared.length, { timeout: 15_000 }).toBeGreaterThan(told)
  expect(one?.last()?.running).toEqual([one?.last()?.worker])
  await one?.actor.stop()
})
