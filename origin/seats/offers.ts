/**
 * The seats offered to those who named seats that are taken. Many name the same ones at the same moment, and an offer
 * holds nothing: what is free is read now and then for all of them, and each offer is searched once. It is known as
 * long as somebody else keeps the chart.
 */
import { machine, type Runtime } from '../lib/runtime.ts'
import type { Chart, Seat } from './chart.ts'
import { nearest } from './choice.ts'
import { Free } from './free.ts'

/** How old an offer may be. A seat that a caller was just refused is never in one. */
const FRESH_MS = 50
/** Offers remembered: of a few places of the hall. */
const MAX_OFFERS = 1_000

/** What was free when it was read last, and the offers made of it. */
interface Known {
  readonly free: Free
  readMs: number
  readonly offers: Map<string, readonly Seat[] | null>
}

export class Offers {
  readonly #read: () => Promise<Uint8Array>
  readonly #runtime: Runtime
  readonly #known = new WeakMap<Chart, Known>()
  #reading: Promise<void> | undefined

  /** `read` gives the bitmap of taken seats. */
  constructor(read: () => Promise<Uint8Array>, runtime = machine) {
    this.#read = read
    this.#runtime = runtime
  }

  /**
   * The nearest seats of the kind of those that were named, of which some are taken; null if there are none. Fails as
   * `read` does.
   */
  async of(chart: Chart, named: readonly Seat[], taken: readonly number[]): Promise<readonly Seat[] | null> {
    if (!this.#isFresh(chart, taken)) await this.#refresh(chart)
    const known = this.#known.get(chart)
    if (!known) return null
    const { free, offers } = known
    const key = named.map(({ index }) => index).join()
    const made = offers.get(key)
    if (made !== undefined) return made
    const offer = nearest(chart, free, named)
    if (offers.size >= MAX_OFFERS) offers.clear()
    offers.set(key, offer)
    return offer
  }

  #isFresh(chart: Chart, taken: readonly number[]): boolean {
    const known = this.#known.get(chart)
    if (!known || this.#runtime.monotonicMs() - known.readMs > FRESH_MS) return false
    return !taken.some((index) => known.free.isFree(chart.at(index)))
  }

  /** One read for all who wait: it was sent after each of them was refused, since Redis answers in order. */
  async #refresh(chart: Chart): Promise<void> {
    this.#reading ??= this.#read()
      .then((bits) => {
        const known = this.#known.get(chart)
        const readMs = this.#runtime.monotonicMs()
        if (!known) return void this.#known.set(chart, { free: new Free(chart, bits), readMs, offers: new Map() })
        known.free.update(bits)
        known.readMs = readMs
        known.offers.clear()
      })
      .finally(() => {
        this.#reading = undefined
      })
    await this.#reading
  }
}
