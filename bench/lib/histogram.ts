/**
 * Latencies in constant memory: logarithmic buckets, so that every percentile is right to about 2 %, from a microsecond
 * to an hour (the idea of HdrHistogram, without its options).
 */
const GROWTH = 1.02
const FIRST_MS = 0.001
const BUCKETS = Math.ceil(Math.log(3_600_000 / FIRST_MS) / Math.log(GROWTH))
const PER_NATURAL_LOG = 1 / Math.log(GROWTH)

export interface Percentiles {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export class Histogram {
  readonly #buckets = new Uint32Array(BUCKETS + 1)
  #count = 0
  #sum = 0
  #max = 0

  add(ms: number): void {
    const bucket = ms <= FIRST_MS ? 0 : Math.ceil(Math.log(ms / FIRST_MS) * PER_NATURAL_LOG)
    const slot = Math.min(BUCKETS, bucket)
    this.#buckets[slot] = (this.#buckets[slot] ?? 0) + 1
    this.#count++
    this.#sum += ms
    if (ms > this.#max) this.#max = ms
  }

  get count(): number {
    return this.#count
  }

  /** The value below which the given share (0 to 1) lies, milliseconds; 0 when nothing was added. */
  percentile(share: number): number {
    if (this.#count === 0) return 0
    let left = Math.max(1, Math.ceil(this.#count * share))
    for (let bucket = 0; bucket <= BUCKETS; bucket++) {
      left -= this.#buckets[bucket] ?? 0
      if (left <= 0) return Math.min(this.#max, FIRST_MS * GROWTH ** bucket)
    }
    return this.#max
  }

  summary(): Percentiles {
    return {
      count: this.#count,
      mean: this.#count === 0 ? 0 : this.#sum / this.#count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: this.#max,
    }
  }

  /** Everything added since the last `take`, which begins anew. */
  take(): Percentiles {
    const taken = this.summary()
    this.#buckets.fill(0)
    this.#count = 0
    this.#sum = 0
    this.#max = 0
    return taken
  }
}
