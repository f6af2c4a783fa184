/**
 * What happens to those who join, counted for operators. Each isolate counts, the ticket shards and the waiting room sum up,
 * and the sums travel up to the origin with the requests that are made anyway, and without one within a second. Whoever gets no response
 * counts on and sends them again; the waiting room stores what it has.
 */
import type { JoinCounts } from '../../shared/api/internal.ts'

/** Most names of one kind in a sum; what else is counted by name is dropped. A sale has at most a hundred rules. */
const MAX_NAMES = 200

export class CountSum {
  #sum = empty()
  #isEmpty = true

  add({ joins = 0, crowded = 0, proofs = 0, refusals, met }: Partial<JoinCounts>): void {
    this.#isEmpty = false
    this.#sum.joins += joins
    this.#sum.crowded += crowded
    this.#sum.proofs += proofs
    addByName(this.#sum.refusals, refusals)
    addByName(this.#sum.met, met)
  }

  isEmpty(): boolean {
    return this.#isEmpty
  }

  hasJoins(): boolean {
    return this.#sum.joins > 0
  }

  /** All that was counted since the last `drain`. */
  sum(): JoinCounts {
    return this.#sum
  }

  /** Sends all that was counted since the last time. Without a response it is counted as not sent. */
  async send<T>(call: (counts: JoinCounts | undefined) => Promise<T>): Promise<T> {
    const counts = this.drain()
    try {
      return await call(counts)
    } catch (error) {
      if (counts) this.add(counts)
      throw error
    }
  }

  /** All that was counted since the last call; undefined for nothing. */
  drain(): JoinCounts | undefined {
    if (this.#isEmpty) return
    const sum = this.#sum
    this.#sum = empty()
    this.#isEmpty = true
    return sum
  }
}

const empty = () => ({ joins: 0, crowded: 0, proofs: 0, refusals: {}, met: {} })

function addByName(sums: Record<string, number>, counted: Readonly<Record<string, number>> = {}): void {
  let names = Object.keys(sums).length
  for (const [name, many] of Object.entries(counted)) {
    const known = sums[name]
    if (known === undefined && names++ >= MAX_NAMES) return
    sums[name] = (known ?? 0) + many
  }
}
