/**
 * Which seats are kept for those who come first. Others want the best ones, so that whoever has let orders fail
 * chooses from what is left after as many of the best free seats as the others may buy. Pure.
 */
import { type Chart, known, ORDINARY } from './chart.ts'
import type { Free } from './free.ts'

/** Positions of a chart's ordinary seats, the best first, as "best available" gives single seats. */
const rankings = new WeakMap<Chart, Int32Array>()

function rankingOf(chart: Chart): Int32Array {
  const remembered = rankings.get(chart)
  if (remembered) return remembered
  const { costs, indexes, kindOf } = chart
  const of = (numbers: Float64Array, position: number) => known(numbers[position])
  const ranking = Int32Array.from(chart.seats.keys())
    .filter((position) => (known(kindOf[position]) & ORDINARY) !== 0)
    .sort((a, b) => of(costs, a) - of(costs, b) || of(indexes, a) - of(indexes, b))
  rankings.set(chart, ranking)
  return ranking
}

/** The seats kept for others, as callers are served, those first from whom fewer are kept. */
export class KeptSeats {
  readonly #chart: Chart
  readonly #free: Free
  readonly #kept = new Set<number>()
  /** How much of the ranking has been read: what is free only there was free from the first. */
  #read = 0

  constructor(chart: Chart, free: Free) {
    this.#chart = chart
    this.#free = free
  }

  /** Takes so many of the best free seats out of the choice, with those that are kept already. */
  keep(count: number): void {
    const ranking = rankingOf(this.#chart)
    for (; this.#kept.size < count && this.#read < ranking.length; this.#read++) {
      const seat = this.#chart.seats[known(ranking[this.#read])]
      if (!seat || !this.#free.isFree(seat)) continue
      this.#kept.add(seat.index)
      this.#free.take([seat.index])
    }
  }

  has(seat: number): boolean {
    return this.#kept.has(seat)
  }

  get isEmpty(): boolean {
    return this.#kept.size === 0
  }
}
