/** Stores latencies in constant memory with the runtime's HdrHistogram, which counts whole microseconds from 1 on. */
import { createHistogram } from 'node:perf_hooks'

export interface Percentiles {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Longer latencies count as an hour. */
const MAX_MICROS = 3_600_000_000

export class Histogram {
  readonly #micros = createHistogram({ lowest: 1, highest: MAX_MICROS, figures: 3 })

  add(ms: number): void {
    this.#micros.record(Math.min(MAX_MICROS, Math.max(1, Math.round(ms * 1000))))
  }

  /** The value in milliseconds below which the given share (0 to 1) lies; 0 if there are no values. */
  percentile(share: number): number {
    return this.#micros.count === 0 ? 0 : this.#micros.percentile(share * 100) / 1000
  }

  summary(): Percentiles {
    const { count, max } = this.#micros
    return {
      count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: count === 0 ? 0 : max / 1000,
    }
  }

  /** The summary since the last `take`. */
  take(): Percentiles {
    const taken = this.summary()
    this.#micros.reset()
    return taken
  }
}
