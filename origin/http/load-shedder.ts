/**
 * The checkouts under way in one process, counted by sale. By Little's law the calls under way are the rate times the time
 * each takes: their number is what overload looks like first. Of too many, those go that a sale has more of than its share,
 * which is the same for every sale that has any; so a sale that is hammered is in the way of nobody but itself.
 *
 * A sale that was alone may have taken all the room. Those that come then have their share all the same, and for as long as
 * a call takes more than the bound are under way: the nth sale to come brings an nth of it at most.
 */

/** Calls under way from which the edge is told to slow down: some 100 ms of work. */
const SLOW_FROM = 400
/** .. and from which more are turned away before anything is done for them: half a second's work. */
const MAX_UNDER_WAY = 2_000

export class LoadShedder {
  #all = 0
  /** Sales with a call under way, and no other. */
  readonly #bySale = new Map<string, number>()

  /** True while so much is under way, and more than its share of it for this sale, that the edge should admit fewer. */
  isSlow(sale: string): boolean {
    return this.#isTooMuch(sale, SLOW_FROM)
  }

  /**
   * Begins a call if there is room for it; who is let in tells its end by `leave`. Undefined stands for a sale that there
   * is not: anyone can make up such a path, and so it has no share.
   */
  enter(sale: string | undefined): boolean {
    if (this.#isTooMuch(sale, MAX_UNDER_WAY)) return false
    this.#add(sale, 1)
    return true
  }

  leave(sale: string | undefined): void {
    this.#add(sale, -1)
  }

  #isTooMuch(sale: string | undefined, bound: number): boolean {
    if (this.#all < bound) return false
    return sale === undefined || this.#of(sale) >= bound / this.#bySale.size
  }

  #of(sale: string): number {
    return this.#bySale.get(sale) ?? 0
  }

  #add(sale: string | undefined, calls: 1 | -1): void {
    this.#all += calls
    if (sale === undefined) return
    const left = this.#of(sale) + calls
    if (left > 0) this.#bySale.set(sale, left)
    else this.#bySale.delete(sale)
  }
}
