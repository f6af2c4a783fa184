/**
 * The seats offered to those who named seats that are taken. Many name the same ones at the same moment, and an offer holds
 * nothing: what is free is read now and then for all of them, and each offer is searched once.
 */
import type { Chart, Seat } from './chart.ts'
import { nearest } from './choice.ts'
import { Free } from './free.ts'

/** How old an offer may be. A seat that a caller was just refused is never in one. */
const FRESH_MS = 50
/** Offers remembered: of a few places of the hall. */
const MAX_OFFERS = 1_000

export class Offers {
  readonly #read: () => Promise<Uint8Array>
  #chart: Chart | undefined
  #free: Free | undefined
  #readMs = 0
  #reading: Promise<void> | undefined
  readonly #offers = new Map<string, readonly Seat[] | null>()

  /** `read` gives the bitmap of taken seats. */
  constructor(read: () => Promise<Uint8Array>) {
    this.#read = read
  }

  /** The nearest seats of the kind of those that were named, of which some are taken; null if there are none. Fails as `read` does. */
  async of(chart: Chart, named: readonly Seat[], taken: readonly number[]): Promise<readonly Seat[] | null> {
    if (!this.#isFresh(chart, taken)) await this.#refresh(chart)
    const free = this.#free
    if (!free) return null
    const key = named.map(({ index }) => index).join()
    const known = this.#offers.get(key)
    if (known !== undefined) return known
    const offer = nearest(chart, free, named)
    if (this.#offers.size >= MAX_OFFERS) this.#offers.clear()
    this.#offers.set(key, offer)
    return offer
  }

  #isFresh(chart: Chart, taken: readonly number[]): boolean {
    const free = this.#free
    if (!free || this.#chart !== chart || performance.now() - this.#readMs > FRESH_MS) return false
    return !taken.some((index) => free.isFree(chart.at(index)))
  }

  /** One read for all who wait: it was sent after each of them was refused, since Redis answers in order. */
  async #refresh(chart: Chart): Promise<void> {
    this.#reading ??= this.#read()
      .then((bits) => {
        if (this.#chart === chart && this.#free) this.#free.update(bits)
        else this.#free = new Free(chart, bits)
        this.#chart = chart
        this.#readMs = performance.now()
        this.#offers.clear()
      })
      .finally(() => {
        this.#reading = undefined
      })
    await this.#reading
  }
}
