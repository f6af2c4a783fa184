/**
 * The answers by which the line is steered, of one sale at one origin. Strangers shape what they send, so little of
 * it counts: one answer per visitor and second, timed from the complete request, to work that was really done. The
 * estimate is one that a tenth of liars cannot move beyond what the others saw. Pure.
 */

/**
 * The estimate is exceeded by a quarter of the answers: slow ones show, and a tenth of the visitors cannot make them.
 */
const QUANTILE = 0.75
/** A visitor who calls more often counts no more. */
const ONE_SAMPLE_MS = 1_000
/** The limit of samples between two notes, and of visitors of the last second. */
const MAX_SAMPLES = 5_000
const MAX_VISITORS = 2 * MAX_SAMPLES
/**
 * The least number of samples in a note. Fewer samples wait for the next note, because one slow call is not
 * congestion.
 */
export const MIN_SAMPLES = 5

export class AnswerSamples {
  #times: number[] = []
  readonly #sampledAtMs = new Map<string, number>()
  /** The few samples have waited for a second note. */
  #hasWaited = false

  add(visitor: string, tookMs: number, nowMs: number): void {
    const isCounted = nowMs - (this.#sampledAtMs.get(visitor) ?? Number.NEGATIVE_INFINITY) < ONE_SAMPLE_MS
    if (isCounted || this.#times.length >= MAX_SAMPLES || this.#sampledAtMs.size >= MAX_VISITORS) return
    this.#sampledAtMs.set(visitor, nowMs)
    this.#times.push(tookMs)
  }

  /** The estimate for the time since the last note; null while too few have called. */
  note(nowMs: number): number | null {
    for (const [visitor, atMs] of this.#sampledAtMs)
      if (nowMs - atMs >= ONE_SAMPLE_MS) this.#sampledAtMs.delete(visitor)
    const times = this.#times
    const isEnough = times.length >= MIN_SAMPLES
    this.#hasWaited = !isEnough && !this.#hasWaited && times.length > 0
    if (!this.#hasWaited) this.#times = []
    return isEnough ? robustOf(times) : null
  }

  /** True when nothing is left to remember. */
  isEmpty(): boolean {
    return this.#times.length + this.#sampledAtMs.size === 0
  }
}

/** How long answers take, by samples of which a tenth may be lies. */
export const robustOf = (times: readonly number[]) =>
  [...times].sort((a, b) => a - b)[Math.floor(QUANTILE * (times.length - 1))] ?? 0
