/**
 * Sheds load by the number of checkouts in progress in this process: by Little's law their rate times the time each
 * takes, so it is where overload shows first. On overload, calls of sales above their fair share are shed. Sales that
 * come when one has taken all the room have their share beyond the bound: the nth sale adds at most an nth of it. One
 * visitor has a few calls in progress and no more, or one admission could take all the room.
 */
import type { Load } from '../webhooks/pace.ts'

/** At this many calls in progress, about 8 ms of work, background work begins to leave time to buyers. */
const BUSY_FROM = 32
/** At this many calls, about 30 ms of work, background work leaves nearly all time to buyers. */
const FULL_FROM = 128
/** At this many calls, about 100 ms of work, the edge slows down. */
const SLOW_FROM = 400
/** At this many calls, half a second of work, further calls are refused before any work. */
const MAX_IN_PROGRESS = 2_000

export class LoadShedder {
  #total = 0
  /** Calls in progress by sale. */
  readonly #bySale = new Map<string, number>()

  /** True while the load, and this sale's share of it, are so large that the edge should admit fewer. */
  isSlow(saleId: string): boolean {
    return this.#isOver(saleId, SLOW_FROM)
  }

  load(): Load {
    if (this.#total < BUSY_FROM) return 'light'
    return this.#total < FULL_FROM ? 'busy' : 'full'
  }

  /** Begins a call if there is room; `leave` ends it. Undefined is a sale that does not exist, which has no share. */
  enter(saleId: string | undefined): boolean {
    if (this.#isOver(saleId, MAX_IN_PROGRESS)) return false
    this.#add(saleId, 1)
    return true
  }

  leave(saleId: string | undefined): void {
    this.#add(saleId, -1)
  }

  #isOver(saleId: string | undefined, bound: number): boolean {
    if (this.#total < bound) return false
    return saleId === undefined || this.#of(saleId) >= bound / this.#bySale.size
  }

  /** A sale without calls in progress is not counted. */
  #of(saleId: string): number {
    return this.#bySale.get(saleId) ?? 0
  }

  #add(saleId: string | undefined, calls: 1 | -1): void {
    this.#total += calls
    if (saleId === undefined) return
    const inProgress = this.#of(saleId) + calls
    if (inProgress > 0) this.#bySale.set(saleId, inProgress)
    else this.#bySale.delete(saleId)
  }
}
