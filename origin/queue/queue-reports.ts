/**
 * What the edge reports about the lines to this process, for operators and Prometheus, by the name of the line's
 * queue. The queue of the public line has the name of the sale.
 */
import * as v from 'valibot'
import { LineFigures } from '../../shared/api/internal.ts'
import { type Metrics, QUEUE_MAX_AGE_MS } from '../base/metrics.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'

/** The report in a query; null if there is none in the right form. */
export function reportIn(query: Readonly<Record<string, string>>): LineFigures | null {
  const parsed = v.safeParse(LineFigures, query)
  return parsed.success ? parsed.output : null
}

interface QueueFacts {
  readonly ratePerSecond: number
  /** Null if the sale names no number. */
  readonly expectedVisitors: number | null
  /** Numbers that have made a checkout call; null while they are not counted. */
  readonly arrivals: number | null
  readonly nowMs: number
}

export class QueueReports {
  readonly #metrics: Metrics
  readonly #latest: PerSale<{ report: LineFigures; atMs: number }>

  constructor(metrics: Metrics, memory: SaleMemory) {
    this.#latest = memory.map('reports')
    this.#metrics = metrics
  }

  /**
   * Keeps a report, received at `nowMs` of the ledger's clock for a queue that may call `ratePerSecond`, of a sale that
   * expects so many visitors.
   */
  add(sale: string, report: LineFigures, { ratePerSecond, expectedVisitors, arrivals, nowMs }: QueueFacts): void {
    this.#latest.set(sale, { report, atMs: performance.now() })
    const metrics = this.#metrics
    metrics.queueWaiting.set({ sale }, report.waiting)
    if (expectedVisitors === null) metrics.queueExpected.remove({ sale })
    else metrics.queueExpected.set({ sale }, expectedVisitors)
    if (report.wait_seconds === undefined) metrics.queueWait.remove({ sale })
    else metrics.queueWait.set({ sale }, report.wait_seconds)
    const { called, may_come } = report
    // A number that nobody got, since its lease was lost, counts as one that did not come.
    if (arrivals === null || may_come === undefined) metrics.didNotCome.remove({ sale })
    else metrics.didNotCome.set({ sale }, Math.max(0, called - may_come - arrivals))
    metrics.admissionRate.set({ sale }, report.called_per_second)
    metrics.admissionRateTarget.set({ sale }, ratePerSecond)
    metrics.lineBoost.set({ sale }, report.boost)
    metrics.lineThrottle.set({ sale }, report.throttle)
    metrics.edgeClockSkew.set({ sale }, (nowMs - report.clock_ms) / 1000)
  }

  /** Milliseconds since the latest report about a queue; null if `latest` has none. */
  ageMs(queue: string): number | null {
    return this.latest(queue) && performance.now() - (this.#latest.get(queue)?.atMs ?? 0)
  }

  /** The latest report to this process; null if there is none of the last ten seconds. */
  latest(queue: string): LineFigures | null {
    const latest = this.#latest.get(queue)
    return latest && performance.now() - latest.atMs < QUEUE_MAX_AGE_MS ? latest.report : null
  }
}
