/**
 * Callers who come while others are served travel together: this makes both gates fast. A `Batcher` hands over the
 * calls of one turn of the event loop as one group, at the end of that turn: nobody waits for company. Calls that
 * come meanwhile go together as soon as the group is done. The queue is bounded; a call that finds it full is
 * rejected at once.
 */
import { AssertionError } from '../../shared/lib/assert.ts'
import { asBatchOf, requestIds } from './http/request-id.ts'
import { machine, type Runtime, sleep } from './runtime.ts'
import { inScopes, scopes } from './tracing.ts'

interface BatcherLimits {
  readonly size: number
  readonly queue: number
  /** The pause between two batches, which makes them fewer and larger where no caller waits. */
  readonly pauseMs?: number
  /** The first call waits for others too, where the result that it asks for is likely to be known a little later. */
  readonly gathers?: boolean
}

export class Overloaded extends Error {
  override readonly name = 'Overloaded'
}

type Waiting<Call, Result> = Omit<PromiseWithResolvers<Result>, 'promise'> & {
  readonly call: Call
  readonly requests: readonly string[]
  readonly traces: ReturnType<typeof scopes>
}

/** The results of a group, in the order of its calls; of calls without a result, nothing. */
type Results<Result> = Promise<Result> extends Promise<void> ? Promise<void> : Promise<readonly Result[]>

export class Batcher<Call, Result> {
  readonly #limits: BatcherLimits
  readonly #run: (calls: readonly Call[]) => Results<Result>
  readonly #runtime: Runtime
  readonly #onIdle: () => void
  readonly #waiting: Waiting<Call, Result>[] = []
  #serving = false

  /**
   * If `run` throws, the whole group fails. After a failed assertion each call is tried again alone, so that only the
   * wrong one fails: `run` must find what it has already done for a call. `onIdle` is called when nobody waits any
   * more.
   */
  constructor(
    limits: BatcherLimits,
    run: (calls: readonly Call[]) => Results<Result>,
    runtime = machine,
    onIdle = () => {},
  ) {
    this.#limits = limits
    this.#run = run
    this.#runtime = runtime
    this.#onIdle = onIdle
  }

  add(call: Call): Promise<Result> {
    if (this.#waiting.length >= this.#limits.queue) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, requests: requestIds(), traces: scopes(), resolve, reject })
      if (this.#serving) return
      this.#serving = true
      const { gathers = false, pauseMs } = this.#limits
      const serve = () => void this.#serve()
      if (gathers) this.#runtime.after(pauseMs ?? 0, serve)
      else this.#runtime.soon(serve)
    })
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#limits.size)
      await this.#serveGroup(group)
      if (this.#limits.pauseMs !== undefined) await sleep(this.#runtime, this.#limits.pauseMs)
    }
    this.#serving = false
    this.#onIdle()
  }

  async #serveGroup(group: readonly Waiting<Call, Result>[]): Promise<void> {
    try {
      const calls = group.map(({ call }) => call)
      const requests = group.flatMap(({ requests }) => requests)
      const traces = group.flatMap(({ traces }) => traces)
      const work = () => inScopes(traces, () => this.#run(calls))
      const results = (await asBatchOf(requests, work)) as readonly Result[] | undefined
      for (let i = 0; i < group.length; i++) group[i]?.resolve(results?.[i] as Result)
    } catch (error) {
      if (error instanceof AssertionError && group.length > 1) for (const one of group) await this.#serveGroup([one])
      else for (const { reject } of group) reject(error)
    }
  }
}

/** A batcher for each key that has calls: those of one key never wait for those of another. */
export class BatcherByKey<Call, Result> {
  readonly #limits: BatcherLimits
  readonly #run: (key: string, calls: readonly Call[]) => Results<Result>
  readonly #runtime: Runtime
  readonly #batchers = new Map<string, Batcher<Call, Result>>()

  constructor(limits: BatcherLimits, run: (key: string, calls: readonly Call[]) => Results<Result>, runtime = machine) {
    this.#limits = limits
    this.#run = run
    this.#runtime = runtime
  }

  add(key: string, call: Call): Promise<Result> {
    let batcher = this.#batchers.get(key)
    if (!batcher) {
      const forget = () => void this.#batchers.delete(key)
      batcher = new Batcher(this.#limits, (calls) => this.#run(key, calls), this.#runtime, forget)
      this.#batchers.set(key, batcher)
    }
    return batcher.add(call)
  }
}
