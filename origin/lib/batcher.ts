/**
 * Callers who come while others are served travel together: this makes both gates fast. A `Batcher` gathers calls and hands
 * them over in groups, as soon as another group may run, at most once per turn of the event loop. The waiting calls are
 * shared among the groups that may run: the larger a group, the cheaper each call in it, here and at every later station.
 * The queue is bounded; a call that finds it full is rejected at once.
 */

/** Smaller groups are not split, however many may run. */
const MIN_GROUP = 32

interface BatcherLimits {
  /** Most calls in one group. */
  readonly size: number
  /** Most groups at once; one by default: a call that would wait at the next station waits here instead. */
  readonly concurrency?: number
  /** Most waiting calls. */
  readonly queue: number
}

export class Overloaded extends Error {
  override readonly name = 'Overloaded'
}

interface Waiting<Call, Result> {
  readonly call: Call
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export class Batcher<Call, Result> {
  readonly #run: (calls: readonly Call[]) => Promise<readonly Result[]>
  readonly #limits: Required<BatcherLimits>
  #waiting: Waiting<Call, Result>[] = []
  #running = 0
  #scheduled = false

  /** `run` returns the results of a group in the order of its calls; if it throws, the whole group fails. */
  constructor(limits: BatcherLimits, run: (calls: readonly Call[]) => Promise<readonly Result[]>) {
    this.#limits = { concurrency: 1, ...limits }
    this.#run = run
  }

  add(call: Call): Promise<Result> {
    if (this.#waiting.length >= this.#limits.queue) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (this.#scheduled) return
      this.#scheduled = true
      setImmediate(() => {
        this.#scheduled = false
        this.#dispatch()
      })
    })
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && this.#running < this.#limits.concurrency) {
      const room = this.#limits.concurrency - this.#running
      const share = Math.max(MIN_GROUP, Math.ceil(this.#waiting.length / room))
      void this.#serve(this.#waiting.splice(0, Math.min(share, this.#limits.size)))
    }
  }

  async #serve(group: readonly Waiting<Call, Result>[]): Promise<void> {
    this.#running++
    try {
      const results = await this.#run(group.map(({ call }) => call))
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as Result)
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running--
      this.#dispatch()
    }
  }
}

/** A batcher for each key: calls of one key never wait for those of another. */
export class BatcherByKey<Call, Result> {
  readonly #limits: BatcherLimits
  readonly #run: (key: string, calls: readonly Call[]) => Promise<readonly Result[]>
  readonly #batchers = new Map<string, Batcher<Call, Result>>()

  constructor(
    limits: BatcherLimits,
    run: (key: string, calls: readonly Call[]) => Promise<readonly Result[]>,
  ) {
    this.#limits = limits
    this.#run = run
  }

  add(key: string, call: Call): Promise<Result> {
    let batcher = this.#batchers.get(key)
    if (!batcher) {
      batcher = new Batcher(this.#limits, (calls) => this.#run(key, calls))
      this.#batchers.set(key, batcher)
    }
    return batcher.add(call)
  }
}
