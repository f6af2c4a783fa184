/** The shop as a model: people come in, take a unit, and pay or leave. Pure, on a clock that the caller moves. */

/** The time that a buyer takes to the checkout, and the time until a payment succeeds. */
const BROWSE_MS = 1_000
const PAY_MS = 3_000

export interface ShopTerms {
  readonly stock: number
  readonly holdSeconds: number
  /** The share of the buyers with a unit who leave without paying. Their units return when the holds end. */
  readonly abandon?: number
  /** The share whose payment is declined, after which the unit returns at once. */
  readonly declines?: number
}

/** What buyers usually do. */
export const USUAL_SHARES = { abandon: 0.1, declines: 0.05 } as const

export class Shop {
  available: number
  held = 0
  sold = 0
  arrivals = 0
  /** The ticket numbers of the sample that arrived since the room last refreshed. */
  lately: number[] = []
  soldOutAtMs: number | null = null
  readonly #terms: Required<ShopTerms>
  /** The people on their way to the checkout, and the carts to be paid or returned, by time. */
  readonly #coming: { atMs: number; people: number }[] = []
  readonly #ends = new Map<number, { paid: number; back: number }>()
  /** Fractions of people are carried over to the next tick. */
  readonly #owed = { people: 0, abandoned: 0, declined: 0 }

  constructor(terms: ShopTerms) {
    this.#terms = { ...USUAL_SHARES, ...terms }
    this.available = terms.stock
  }

  /** The people who were admitted and have not come to the checkout yet. */
  get onTheirWay(): number {
    return this.#coming.reduce((sum, { people }) => sum + people, 0)
  }

  turn(nowMs: number, admitted: number): { checkouts: number; payments: number } {
    if (admitted > 0) this.#coming.push({ atMs: nowMs + BROWSE_MS, people: admitted })
    let checkouts = 0
    while ((this.#coming[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) checkouts += this.#coming.shift()?.people ?? 0
    this.arrivals += checkouts
    const taken = Math.min(this.available, this.#whole('people', checkouts))
    const left = this.#whole('abandoned', taken * this.#terms.abandon)
    const declined = Math.min(taken - left, this.#whole('declined', taken * this.#terms.declines))
    const paid = taken - left - declined
    if (taken > 0) {
      this.available -= taken
      this.held += taken
      this.#ending(nowMs + PAY_MS, paid, declined)
      this.#ending(nowMs + this.#terms.holdSeconds * 1000, 0, left)
    }
    const ending = this.#ends.get(nowMs)
    if (ending) {
      this.#ends.delete(nowMs)
      this.held -= ending.paid + ending.back
      this.sold += ending.paid
      this.available += ending.back
    }
    if (this.soldOutAtMs === null && this.sold === this.#terms.stock) this.soldOutAtMs = nowMs
    return { checkouts, payments: paid + declined }
  }

  /** Adds to a fraction, and takes the whole people out of it. Sums of shares may miss a whole by a rounding error. */
  #whole(what: 'people' | 'abandoned' | 'declined', more: number): number {
    const all = this.#owed[what] + more
    const whole = Math.floor(all + 1e-9)
    this.#owed[what] = all - whole
    return whole
  }

  #ending(atMs: number, paid: number, back: number): void {
    const there = this.#ends.get(atMs) ?? { paid: 0, back: 0 }
    this.#ends.set(atMs, { paid: there.paid + paid, back: there.back + back })
  }
}
