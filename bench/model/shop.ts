/** The shop in the model: people come in, take a unit, and pay or leave. */
import type { Scenario } from './scenario.ts'

/** The time that a buyer takes to the checkout, and the time until a payment succeeds. */
const BROWSE_MS = 1_000
const PAY_MS = 3_000
/** The shares of the buyers who took a unit. */
const ABANDON = 0.1
const DECLINES = 0.05

export class Shop {
  available: number
  held = 0
  sold = 0
  arrivals = 0
  /** The ticket numbers of the sample that arrived since the room last refreshed. */
  lately: number[] = []
  soldOutAtMs: number | null = null
  readonly #s: Scenario
  /** The people on their way to the checkout, and the carts to be paid or returned, by time. */
  readonly #coming: { atMs: number; people: number }[] = []
  readonly #ends = new Map<number, { paid: number; back: number }>()
  /** Fractions of people are carried over to the next tick. */
  #owed = 0

  constructor(s: Scenario) {
    this.#s = s
    this.available = s.stock
  }

  turn(nowMs: number, admitted: number): { checkouts: number; payments: number } {
    if (admitted > 0) this.#coming.push({ atMs: nowMs + BROWSE_MS, people: admitted })
    let checkouts = 0
    while ((this.#coming[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) checkouts += this.#coming.shift()?.people ?? 0
    this.arrivals += checkouts
    this.#owed += checkouts
    const taken = Math.min(this.available, Math.floor(this.#owed))
    this.#owed -= Math.floor(this.#owed)
    const left = Math.round(taken * ABANDON)
    const declined = Math.round(taken * DECLINES)
    const paid = taken - left - declined
    if (taken > 0) {
      this.available -= taken
      this.held += taken
      this.#ending(nowMs + PAY_MS, paid, declined)
      this.#ending(nowMs + this.#s.holdSeconds * 1000, 0, left)
    }
    const ending = this.#ends.get(nowMs)
    if (ending) {
      this.#ends.delete(nowMs)
      this.held -= ending.paid + ending.back
      this.sold += ending.paid
      this.available += ending.back
    }
    if (this.soldOutAtMs === null && this.sold === this.#s.stock) this.soldOutAtMs = nowMs
    return { checkouts, payments: paid + declined }
  }

  #ending(atMs: number, paid: number, back: number): void {
    const there = this.#ends.get(atMs) ?? { paid: 0, back: 0 }
    this.#ends.set(atMs, { paid: there.paid + paid, back: there.back + back })
  }
}
