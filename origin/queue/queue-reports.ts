/**
 * What the edge reports about the lines to this process, for operators and Prometheus. By the name of the line's room, which is
 * the sale's own for the public line.
 */
import * as v from 'valibot'
import { LineFigures } from '../../shared/api/internal.ts'
import { type Metrics, QUEUE_MAX_AGE_MS } from '../lib/metrics.ts'

/** The report in a query; null of an edge of another version, which may send none, or one of another form. */
export function reportIn(query: Readonly<Record<string, string>>): LineFigures | null {
  const parsed = v.safeParse(LineFigures, query)
  return parsed.success ? parsed.output : null
}

export class QueueReports {
  readonly #metrics: Metrics
  readonly #latest = new Map<string, { report: LineFigures; atMs: number }>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Keeps a report, received at `nowMs` of the ledger's clock from a room that may call `ratePerSecond`. */
  add(sale: string, ratePerSecond: number, report: LineFigures, nowMs: number): void {
    this.#latest.set(sale, { report, atMs: performance.now() })
    const metrics = this.#metrics
    metrics.queueWaiting.set({ sale }, report.waiting)
    if (report.wait_seconds === undefined) metrics.queueWait.remove({ sale })
    else metrics.queueWait.set({ sale }, report.wait_seconds)
    metrics.admissionRate.set({ sale }, report.called_per_second)
    metrics.admissionRateTarget.set({ sale }, ratePerSecond)
    metrics.lineBoost.set({ sale }, report.boost)
    metrics.lineThrottle.set({ sale }, report.throttle)
    metrics.edgeClockSkew.set({ sale }, (nowMs - report.clock_ms) / 1000)
  }

  /** How long ago a room reported last, in milliseconds; null as for `latest`. */
  ageMs(room: string): number | null {
    return this.latest(room) && performance.now() - (this.#latest.get(room)?.atMs ?? 0)
  }

  /** The latest report to this process; null if there is none of the last ten seconds. */
  latest(room: string): LineFigures | null {
    const latest = this.#latest.get(room)
    return latest && performance.now() - latest.atMs < QUEUE_MAX_AGE_MS ? latest.report : null
  }
}
