/** What the edge reports about the queue to this process, for operators and Prometheus; no decision depends on it. */
import * as v from 'valibot'
import { LineFigures } from '../../shared/api/internal.ts'
import type { SaleRow } from '../ledger/sales.ts'
import { type Metrics, QUEUE_MAX_AGE_MS } from '../lib/metrics.ts'

export class QueueReports {
  readonly #metrics: Metrics
  readonly #latest = new Map<string, { report: LineFigures; atMs: number }>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Keeps the report in a query, received at `nowMs` of the ledger's clock. An edge of another version may send none, or one of another form. */
  add(of: Pick<SaleRow, 'sale_id' | 'rate_per_second'>, query: Readonly<Record<string, string>>, nowMs: number): void {
    const { sale_id: sale, rate_per_second } = of
    const parsed = v.safeParse(LineFigures, query)
    if (!parsed.success) return
    const report = parsed.output
    this.#latest.set(sale, { report, atMs: performance.now() })
    const metrics = this.#metrics
    metrics.queueWaiting.set({ sale }, report.waiting)
    if (report.wait_seconds === undefined) metrics.queueWait.remove({ sale })
    else metrics.queueWait.set({ sale }, report.wait_seconds)
    metrics.admissionRate.set({ sale }, report.called_per_second)
    metrics.admissionRateTarget.set({ sale }, rate_per_second)
    metrics.lineBoost.set({ sale }, report.boost)
    metrics.lineThrottle.set({ sale }, report.throttle)
    if (report.clock_ms !== undefined) metrics.edgeClockSkew.set({ sale }, (nowMs - report.clock_ms) / 1000)
  }

  /** The latest report to this process; null if there is none of the last ten seconds. */
  latest(saleId: string): LineFigures | null {
    const latest = this.#latest.get(saleId)
    return latest && performance.now() - latest.atMs < QUEUE_MAX_AGE_MS ? latest.report : null
  }
}
