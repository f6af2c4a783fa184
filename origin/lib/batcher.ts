/**
 * The small idea that makes both gates fast: callers who come while others are being served travel together.
 *
 * A `Batcher` gathers calls and hands them over in groups: as soon as there is room for another group under way, and
 * at most once per turn of the event loop. All who wait go at once, shared among the groups there is room for: the larger
 * a group, the less each in it costs, here and at every station after it. Its queue is bounded; who finds it full is told
 * so at once.
 */

/** Fewer go as one group, whatever room there is. */
const WORTH_SHARING = 32

interface BatcherLimits {
  /** Most calls in one group. */
  readonly size: number
  /** Most groups under way at once; one, if nothing else is said: who would wait at the next station waits here instead. */
  readonly concurrency?: number
  /** Most calls waiting. */
  readonly queue: number
}

export class Overloaded extends Error {
  override readonly name = 'Overloaded'
}

interface Waiting<Call, Answer> {
  readonly call: Call
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export class Batcher<Call, Answer> {
  readonly #run: (calls: readonly Call[]) => Promise<readonly Answer[]>
  readonly #limits: Required<BatcherLimits>
  #waiting: Waiting<Call, Answer>[] = []
  #underWay = 0
  #scheduled = false

  /** `run` answers the calls of one group in their order; when it fails, all of the group fail. */
  constructor(limits: BatcherLimits, run: (calls: readonly Call[]) => Promise<readonly Answer[]>) {
    this.#limits = { concurrency: 1, ...limits }
    this.#run = run
  }

  add(call: Call): Promise<Answer> {
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
    while (this.#waiting.length > 0 && this.#underWay < this.#limits.concurrency) {
      const room = this.#limits.concurrency - this.#underWay
      const share = Math.max(WORTH_SHARING, Math.ceil(this.#waiting.length / room))
      const group = this.#waiting.splice(0, Math.min(share, this.#limits.size))
      this.#underWay++
      this.#run(group.map((one) => one.call))
        .then(
          (answers) => {
            for (const [i, one] of group.entries()) one.resolve(answers[i] as Answer)
          },
          (error) => {
            for (const one of group) one.reject(error)
          },
        )
        .finally(() => {
          this.#underWay--
          this.#dispatch()
        })
    }
  }
}

/** A batcher for each key: who comes with one key never waits for those of another. */
export class BatcherByKey<Call, Answer> {
  readonly #run: (key: string, calls: readonly Call[]) => Promise<readonly Answer[]>
  readonly #limits: BatcherLimits
  readonly #batchers = new Map<string, Batcher<Call, Answer>>()

  constructor(
    limits: BatcherLimits,
    run: (key: string, calls: readonly Call[]) => Promise<readonly Answer[]>,
  ) {
    this.#limits = limits
    this.#run = run
  }

  add(key: string, call: Call): Promise<Answer> {
    let batcher = this.#batchers.get(key)
    if (!batcher) {
      batcher = new Batcher(this.#limits, (calls) => this.#run(key, calls))
      this.#batchers.set(key, batcher)
    }
    return batcher.add(call)
  }
}
