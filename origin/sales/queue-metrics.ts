/**
 * The line, as the edge tells of it with each look at a sale: for operators to watch, and nothing is decided by it. It is
 * kept in Redis, where every origin finds it, whichever was told; and in the one that was, for while Redis is away.
 */
import * as v from 'valibot'
import { LineFigures } from '../../shared/api/internal.ts'
import type { SaleRow } from '../ledger/sales.ts'
import { LINE_FADES_MS, type Metrics } from '../lib/metrics.ts'
import type { Store } from '../stock/scripts.ts'

const keyOf = (sale: string) => `{${sale}}:line`

export class Line {
  readonly #redis: Store
  readonly #metrics: Metrics
  /** What this process was told last, and when, on the monotonic clock. */
  readonly #told = new Map<string, { figures: LineFigures; atMs: number }>()

  constructor(redis: Store, metrics: Metrics) {
    this.#redis = redis
    this.#metrics = metrics
  }

  /** Notes what came with a look, behind its answer. Edges of other versions tell nothing, or something else. */
  note({ sale_id: sale, rate_per_second }: SaleRow, query: Readonly<Record<string, string>>): void {
    const read = v.safeParse(LineFigures, query)
    if (!read.success) return
    const figures = read.output
    this.#told.set(sale, { figures, atMs: performance.now() })
    this.#redis.set(keyOf(sale), JSON.stringify(figures), 'PX', LINE_FADES_MS).catch(() => {})
    const {
      queueWaiting,
      queueWait,
      queueWaitRatio,
      admissionRate,
      admissionRateTarget,
      lineBoost,
      lineThrottle,
    } = this.#metrics
    queueWaiting.set({ sale }, figures.waiting)
    if (figures.wait_seconds === undefined) queueWait.remove({ sale })
    else queueWait.set({ sale }, figures.wait_seconds)
    if (figures.wait_ratio !== undefined) queueWaitRatio.set({ sale }, figures.wait_ratio)
    admissionRate.set({ sale }, figures.called_per_second)
    admissionRateTarget.set({ sale }, rate_per_second)
    lineBoost.set({ sale }, figures.boost)
    lineThrottle.set({ sale }, figures.throttle)
  }

  /** What any origin was told within the last ten seconds; null if none was. */
  async figures(sale: string): Promise<LineFigures | null> {
    const kept = await this.#redis.get(keyOf(sale)).catch(() => null)
    if (kept !== null) return JSON.parse(kept) as LineFigures
    const told = this.#told.get(sale)
    return told && performance.now() - told.atMs < LINE_FADES_MS ? told.figures : null
  }
}
