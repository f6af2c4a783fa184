/**
 * The free seats of a hall at one moment, prepared for a batch of callers and updated as they are served. Beside the
 * seats themselves it counts them by cell and knows, of each stretch, the longest run of free neighbours and the
 * least cost of a free seat: a search skips what cannot give a better choice without reading its seats.
 */
import { byteAt, differingSeats } from './bits.ts'
import { type Bits, type Chart, known, type Pool, type Seat, type Stretch } from './chart.ts'

/** The best groups of one size in the stretches of a pool (see `bestGroup`). */
export interface BestGroups {
  /**
   * Stretches that had room for such a group when the batch began, the nearest first; the other arrays are in their
   * order.
   */
  readonly stretches: Int32Array
  readonly first: Int32Array
  readonly sum: Float64Array
  readonly cleanFirst: Int32Array
  readonly cleanSum: Float64Array
  /** `Free.changes` of the stretch when its groups were found; 0: never. */
  readonly change: Uint32Array
}

const isTaken = (taken: Bits, index: number) => ((byteAt(taken, index >>> 3) >> (7 - (index & 7))) & 1) === 1

export class Free {
  readonly #chart: Chart
  /** The value of a seat is 1 if it is free. Indexed by position. */
  readonly open: Uint8Array
  /** The most free neighbours of each stretch, whatever their category and kind. */
  readonly longest: Int32Array
  /** The values of `longest` before any seat of this batch was taken. */
  #longestAtFirst: Int32Array
  /** The value of a seat is 1 if it is taken. Indexed by the seat's bit. */
  readonly #taken: Uint8Array
  /** The least cost of a free seat in each stretch; Infinity if the stretch has none. */
  readonly least: Float64Array
  /** A counter for each stretch that grows with each change of its seats. */
  readonly changes: Uint32Array
  /** The number of free seats of each cell. */
  readonly #counts: Int32Array
  readonly #bestGroups = new Map<Pool, Map<number, BestGroups>>()

  constructor(chart: Chart, taken: Bits) {
    this.#chart = chart
    this.open = new Uint8Array(chart.seats.length)
    this.longest = new Int32Array(chart.stretches.length)
    this.least = new Float64Array(chart.stretches.length)
    this.changes = new Uint32Array(chart.stretches.length)
    this.#counts = new Int32Array(chart.cells.length)
    const { indexes, cellOf } = chart
    this.#taken = new Uint8Array((indexes.reduce((most, index) => Math.max(most, index), -1) >> 3) + 1)
    for (let position = 0; position < indexes.length; position++) {
      const index = known(indexes[position])
      if (isTaken(taken, index)) {
        this.#flip(index)
        continue
      }
      this.open[position] = 1
      const cell = known(cellOf[position])
      this.#counts[cell] = known(this.#counts[cell]) + 1
    }
    for (let stretch = 0; stretch < chart.stretches.length; stretch++) this.#measure(stretch)
    this.#longestAtFirst = this.longest.slice()
  }

  /** Leaves the same state as a new object for the next batch, but measures only the stretches that changed. */
  update(taken: Bits): void {
    for (const index of differingSeats(this.#taken, taken)) {
      const position = this.#chart.position(index)
      if (position >= 0) this.setRun(position, 1, isTaken(taken, index) ? 0 : 1)
    }
    this.#longestAtFirst = this.longest.slice()
    this.#bestGroups.clear()
  }

  /** Seats given to a caller of the batch. Indexes that the chart does not have are ignored. */
  take(indexes: Iterable<number>): void {
    for (const index of indexes) {
      const position = this.#chart.position(index)
      if (position >= 0) this.setRun(position, 1, 0)
    }
  }

  isFree(seat: Seat | undefined): boolean {
    return seat !== undefined && this.open[this.#chart.position(seat.index)] === 1
  }

  /** How many seats of a pool are free. */
  count(pool: Pool): number {
    let sum = 0
    for (const cell of pool.cells) sum += known(this.#counts[cell])
    return sum
  }

  /** Makes `size` neighbours from a position on taken (0), or free again (1) what was free when this was made. */
  setRun(first: number, size: number, open: 0 | 1): void {
    for (let position = first; position < first + size; position++) {
      if (this.open[position] === open) continue
      this.open[position] = open
      this.#flip(known(this.#chart.indexes[position]))
      const cell = known(this.#chart.cellOf[position])
      this.#counts[cell] = known(this.#counts[cell]) + (open === 1 ? 1 : -1)
    }
    this.#measure(known(this.#chart.stretchOf[first]))
  }

  /** What searches for groups of a size remember of a pool. */
  bestGroups(pool: Pool, size: number): BestGroups {
    const ofPool = this.#bestGroups.get(pool) ?? new Map<number, BestGroups>()
    this.#bestGroups.set(pool, ofPool)
    const remembered = ofPool.get(size)
    if (remembered) return remembered
    const stretches = pool.stretches.filter((stretch) => known(this.#longestAtFirst[stretch]) >= size)
    const { length } = stretches
    const groups = {
      stretches,
      first: new Int32Array(length),
      sum: new Float64Array(length),
      cleanFirst: new Int32Array(length),
      cleanSum: new Float64Array(length),
      change: new Uint32Array(length),
    }
    ofPool.set(size, groups)
    return groups
  }

  #flip(index: number): void {
    this.#taken[index >>> 3] = known(this.#taken[index >>> 3]) ^ (0x80 >> (index & 7))
  }

  #measure(number: number): void {
    const { start, end } = this.#chart.stretches[number] as Stretch
    const { costs } = this.#chart
    let longest = 0
    let run = 0
    let least = Infinity
    for (let position = start; position < end; position++) {
      if (this.open[position] === 0) {
        run = 0
        continue
      }
      if (++run > longest) longest = run
      const cost = known(costs[position])
      if (cost < least) least = cost
    }
    this.changes[number] = known(this.changes[number]) + 1
    this.longest[number] = longest
    this.least[number] = least
  }
}
