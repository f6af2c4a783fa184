import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createMetrics } from '../../base/metrics.ts'
import { workerReports, workersOf } from './worker-reports.ts'

const NOW_MS = 1_000_000
const report = (agoMs: number, answeredAgoMs: number | null, failedAgoMs: number | null, isAway = false) => ({
  atMs: NOW_MS - agoMs,
  hasLedger: true,
  answeredAtMs: answeredAgoMs === null ? null : NOW_MS - answeredAgoMs,
  failedAtMs: failedAgoMs === null ? null : NOW_MS - failedAgoMs,
  isAway,
  times: [],
})
test.each([
  ['none', [], { workers: 0, provider: null }],
  ['none lately', [report(60_000, 100, null)], { workers: 0, provider: null }],
  [
    'one, and one that is gone',
    [report(1_000, null, null), report(11_000, null, null)],
    { workers: 1, provider: 'unused' },
  ],
  ['one that was answered later than not', [report(1_000, 5_000, 9_000)], { workers: 1, provider: 'answers' }],
  ['one that was answered long ago', [report(1_000, 40_000, 5_000)], { workers: 1, provider: 'fails' }],
  ['one that was never answered', [report(1_000, null, 5_000)], { workers: 1, provider: 'fails' }],
  ['one charge without an answer', [report(1_000, 9_000, 5_000)], { workers: 1, provider: 'answers' }],
  ['one whose reads are not answered either', [report(1_000, 9_000, 5_000, true)], { workers: 1, provider: 'fails' }],
  [
    'another that is answered',
    [report(1_000, 40_000, 5_000), report(1_000, 2_000, null)],
    { workers: 2, provider: 'answers' },
  ],
])('tells how many workers run, and what the provider did last: %s', (_, reports, told) => {
  expect(workersOf(reports, NOW_MS)).toEqual({ ...told, provider_ms: null })
})

/** A hash of reports in place of Redis, which can be pending, failing or available. */
function reportsIn(known: Record<string, string>) {
  let isAway = false
  const multi = () => {
    const written = {
      hset: (_: string, worker: string, text: string) => {
        if (!isAway) known[worker] = text
        return written
      },
      pexpire: () => written,
      hgetall: () => written,
      exec: async () => {
        if (isAway) throw new Error('Redis is away')
        return [[null, { ...known }]]
      },
    }
    return written
  }
  const hdel = async (_: string, worker: string) => Number(delete known[worker])
  const setAway = (is: boolean) => {
    isAway = is
  }
  return { redis: { multi, hdel } as never, setAway }
}

test('shares the sales among workers that report and reach the ledger, and has all while Redis is away', async () => {
  const { redis, setAway } = reportsIn({
    dead: JSON.stringify(report(6_000, null, null)),
    'cut off': JSON.stringify({ ...report(0, null, null), hasLedger: false }),
  })
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers()
  let isLedgerAway = false
  const deps = { redis, isLedgerAway: () => isLedgerAway, nowMs: () => NOW_MS, metrics: createMetrics() }
  const provider = () => ({ answeredAtMs: null, failedAtMs: null, isAway: false, times: [] })
  const [one, other] = [1, 2].map(() => {
    const share = vi.fn((_worker: string, _running: readonly string[]) => {})
    const actor = workerReports({ ...deps, provider, work: { share }, log: pino({ level: 'silent' }) })
    onTestFinished(() => actor.stop())
    actor.start()
    return { actor, worker: () => share.mock.lastCall?.[0] ?? '', shares: () => share.mock.lastCall?.[1].toSorted() }
  })
  if (!one || !other) return expect.unreachable()
  // Each worker has reported once more by then, even after failures.
  const later = () => vi.advanceTimersByTimeAsync(10_000)
  await later()
  const both = [one.worker(), other.worker()].sort()
  expect([one.shares(), other.shares()]).toEqual([both, both])
  isLedgerAway = true
  await later()
  // While the ledger is unreachable, every worker continues, including the one that is cut off.
  expect(one.shares()).toHaveLength(3)
  isLedgerAway = false
  setAway(true)
  await later()
  expect([one.shares(), other.shares()]).toEqual([[one.worker()], [other.worker()]])
  setAway(false)
  await later()
  expect(one.shares()).toEqual(both)
  await other.actor.stop()
  await later()
  expect(one.shares()).toEqual([one.worker()])
})
