/**
 * Stores the workers' reports on themselves in one small hash in Redis: that they run, and whether the provider of
 * payments responds to them. The console reads the hash in any process, and the workers divide the sales by it.
 */
import { randomUUID } from 'node:crypto'
import type { Health } from '../../../shared/api/operators/live.ts'
import { type Actor, type LoopDeps, loop } from '../../lib/loop.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { timesOf } from '../../payments/provider-times.ts'
import type { ProviderSeen } from '../../providers/provider.ts'
import type { SaleWork } from '../../sales/sale-work.ts'
import type { Store } from '../../stock/scripts.ts'

const KEY = 'workers'
const EVERY_MS = 2_000
/** A worker without a report for this long is considered stopped. Some reports may be late or lost. */
const GONE_MS = 10_000
/**
 * The sales of a silent worker pass to others sooner than that, because a sale that two workers process for a moment
 * does no harm.
 */
const SHARES_FOR_MS = 5_000
const FORGOTTEN_MS = 60_000
/**
 * A provider may leave some charges without a response. The comparison calls it every ten seconds, so a provider that
 * misses two of these calls is away.
 */
const SILENT_MS = 25_000
const REDIS_TIMEOUT_MS = 500

type Report = ProviderSeen & { readonly atMs: number; readonly hasLedger: boolean }

interface ReportDeps extends LoopDeps {
  readonly redis: Pick<Store, 'multi' | 'hdel'>
  readonly provider: () => ProviderSeen
  readonly work: Pick<SaleWork, 'share'>
  readonly isLedgerAway: () => boolean
  /** Returns the ledger's time. */
  readonly nowMs: () => number
}

/** Reports every two seconds, and removes the report at its stop. */
export function workerReports(deps: ReportDeps): Actor {
  const { redis, provider, work, isLedgerAway, nowMs } = deps
  const worker = randomUUID()
  const reporting = loop('worker report', EVERY_MS, deps, async () => {
    const report: Report = { atMs: nowMs(), hasLedger: !isLedgerAway(), ...provider() }
    const write = async () => {
      const written = redis.multi().hset(KEY, worker, JSON.stringify(report)).pexpire(KEY, FORGOTTEN_MS).hgetall(KEY)
      const [error, read] = (await written.exec())?.at(-1) ?? []
      if (error) throw error
      const known = (read ?? {}) as Readonly<Record<string, string>>
      const silentFor = (ms: number) => Object.keys(known).filter((one) => nowMs() - reportIn(known[one]).atMs > ms)
      const silent = new Set(silentFor(SHARES_FOR_MS))
      const running = Object.keys(known).filter((one) => !silent.has(one))
      const able = running.filter((one) => reportIn(known[one]).hasLedger)
      // While no worker reaches the ledger, all of them continue.
      work.share(worker, able.length > 0 ? able : running)
      const gone = silentFor(FORGOTTEN_MS)
      if (gone.length > 0) await redis.hdel(KEY, ...gone)
    }
    await withTimeout(write(), REDIS_TIMEOUT_MS).catch((error) => {
      // Redis does not say which workers run, so this one takes all sales.
      work.share(worker, [worker])
      throw error
    })
  })
  return {
    start: reporting.start,
    async stop() {
      await reporting.stop()
      await withTimeout(redis.hdel(KEY, worker), REDIS_TIMEOUT_MS).catch(() => {})
    },
  }
}

/** Throws if Redis does not respond. */
export async function readWorkers(redis: Pick<Store, 'hgetall'>, nowMs: number) {
  const reports = Object.values(await withTimeout(redis.hgetall(KEY), REDIS_TIMEOUT_MS)).map(reportIn)
  return workersOf(reports, nowMs)
}

/** Returns the running workers, and what they know of the provider. Pure. */
export function workersOf(
  reports: readonly Report[],
  nowMs: number,
): Pick<Health, 'workers' | 'provider' | 'provider_ms'> {
  const running = reports.filter(({ atMs }) => nowMs - atMs < GONE_MS)
  const latest = (of: 'answeredAtMs' | 'failedAtMs') =>
    Math.max(...running.map((one) => one[of] ?? Number.NEGATIVE_INFINITY))
  const [answered, failed] = [latest('answeredAtMs'), latest('failedAtMs')]
  const isUnused = !Number.isFinite(answered) && !Number.isFinite(failed)
  const isAway = running.some((one) => one.isAway) || nowMs - answered > SILENT_MS
  const provider = isUnused ? 'unused' : failed > answered && isAway ? 'fails' : 'answers'
  const provider_ms = timesOf(running.map(({ times }) => times))
  return { workers: running.length, provider: running.length === 0 ? null : provider, provider_ms }
}

/** Parses a worker's report; a worker that is gone meanwhile has an empty one. */
function reportIn(text: string | undefined): Report {
  const report = JSON.parse(text ?? '{}') as Partial<Report>
  const { atMs = 0, hasLedger = false, answeredAtMs = null, failedAtMs = null, isAway = false, times = [] } = report
  return { atMs, hasLedger, answeredAtMs, failedAtMs, isAway, times }
}
