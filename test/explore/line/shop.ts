/** The origin of the line's world: it tells the sale's state, and sells to those whose turn has come. */

import { product, stateOf } from '../../../edge/testing/simulation.ts'
import type { SaleState } from '../../../shared/api/internal.ts'
import type { Judge } from './judge.ts'
import type { Setting } from './order.ts'

export const SALE = 'sale'

export class Shop {
  readonly #setting: Setting
  readonly #nowMs: () => number
  readonly #judge: Judge
  #available: number
  #held = 0
  #sold = 0
  #arrived: number[] = []
  #arrivals = 0
  #isPaused = false
  #isAway = false

  constructor(setting: Setting, nowMs: () => number, judge: Judge) {
    this.#setting = setting
    this.#nowMs = nowMs
    this.#judge = judge
    this.#available = setting.stock
  }

  change(what: 'pauses' | 'resumes' | 'is away' | 'is back'): void {
    if (what === 'pauses' || what === 'resumes') this.#isPaused = what === 'pauses'
    else this.#isAway = what === 'is away'
  }

  restock(units: number): void {
    this.#available += units
  }

  /** Somebody whose turn has come: true with a unit. */
  arrive(number: number): boolean {
    this.#arrivals++
    this.#arrived.push(number)
    if (this.#available === 0) return false
    this.#available--
    this.#held++
    return true
  }

  pay(): void {
    this.#held--
    this.#sold++
  }

  giveBack(): void {
    this.#held--
    this.#available++
  }

  /** What the waiting room is told. */
  answer(url: URL): { status: number; body: SaleState } {
    const body = this.#state()
    if (url.pathname !== `/internal/sales/${SALE}` || this.#isAway) return { status: 503, body }
    this.#judge.stock({ available: this.#available, arrivals: this.#arrivals })
    return { status: 200, body: { ...body, arrived_lately: this.#arrived.splice(0) } }
  }

  #state(): SaleState {
    const opens_in_ms = this.#setting.opensInMs - this.#nowMs()
    const { ratePerSecond: rate, shards } = this.#setting
    const stock = { available: this.#available, held: this.#held, sold: this.#sold, arrivals: this.#arrivals }
    const state = stateOf({ rate, maxInside: null }, stock)
    const phase = opens_in_ms > 0 ? 'upcoming' : this.#isPaused ? 'paused' : state.phase
    return {
      ...{ ...state, sale: SALE, phase, opens_in_ms, ticket_shards: shards },
      products: [product(this.#available, this.#held, this.#sold)],
      pre_queue_opens_in_ms: -1_000,
    }
  }
}
