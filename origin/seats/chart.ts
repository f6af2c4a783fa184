/**
 * A hall as data: the seats of a sale in rows, prepared once for each version of its chart, so that a choice of seats
 * reads only typed arrays. Pure: who holds which seat is not known here (`free.ts`).
 *
 * Seats stand in stretches: neighbours of one row between two aisles or row ends. Stretches are ordered by their seat
 * nearest to the focal point (ties: the lowest index), the seats of one by their place. A seat's number in that order
 * is its position. The order depends on the seats alone, not on the order in which they were loaded, so that two
 * processes choose alike. Distances are compared squared: no rounding of a root differs between machines.
 */
import { assert, assertExists } from '../../shared/lib/assert.ts'

/** A seat of a sale's chart. */
export interface Seat {
  /** The position of the seat's bit in the sale's bitmap of taken seats. It is never reused. */
  readonly index: number
  /** `section_id`. */
  readonly section: string
  /** `seat_id`, unique in its section. */
  readonly seat: string
  /** The row as printed on the ticket. */
  readonly row: string
  /** The number as printed on the ticket. */
  readonly number: string
  /** Place in the row, in whole steps: neighbours differ by one; a gap in the places is an aisle. */
  readonly place: number
  readonly x: number
  readonly y: number
  readonly category: string
  readonly kind: 'standard' | 'accessible' | 'companion' | 'restricted_view'
  readonly priceMinor: number
}

/**
 * Taken seats (held, sold, blocked), one bit each in the order of SETBIT: bit n is bit 7 - n % 8 of byte n >> 3. Bits
 * past the end are 0.
 */
export type Bits = Uint8Array

export interface Point {
  readonly x: number
  readonly y: number
}

/** Seats side by side between two aisles or row ends: positions `start` to `end - 1`. */
export interface Stretch {
  readonly start: number
  readonly end: number
  /** Number of its section, see `Chart.sections`. */
  readonly section: number
  /** `sums[n]`: the costs of its first n seats. */
  readonly sums: Float64Array
}

/** The seats that a wish may get, taken or not. */
export interface Pool {
  /** Stretches that hold such seats, the nearest first. */
  readonly stretches: Int32Array
  /** 1 for each cell that belongs to the pool. */
  readonly allowed: Uint8Array
  /** The same cells, listed. */
  readonly cells: readonly number[]
}

/** Kinds of seats as bits, so that a pool's kinds are one number. */
export const KIND = { standard: 1, restricted_view: 2, companion: 4, accessible: 8 } as const
export const KINDS = Object.keys(KIND) as Seat['kind'][]
/** Seats for anyone. The others are kept for wheelchair users and those with them. */
export const ORDINARY = KIND.standard | KIND.restricted_view
export const ANY = ORDINARY | KIND.companion | KIND.accessible

/**
 * Rings of equal width around the focal point. A seat of restricted view costs as much as the outer edge of its ring:
 * it comes after every other seat of the ring, and before those of the next one.
 */
const RINGS = 10

/** A number that the arrays of a hall have for each of its seats, stretches and cells. */
export function known(number: number | undefined): number {
  assert(number !== undefined, 'A hall has a number for each of its seats, stretches and cells.')
  return number
}

function squaredDistance(a: Point, b: Point): number {
  return (a.x - b.x) ** 2 + (a.y - b.y) ** 2
}

/** Orders seats by their distance from a point; ties by index. */
export function byDistance(point: Point): (a: Seat, b: Seat) => number {
  return (a, b) => squaredDistance(a, point) - squaredDistance(b, point) || a.index - b.index
}

export class Chart {
  readonly focalPoint: Point
  /** All seats, indexed by position. */
  readonly seats: readonly Seat[]
  readonly stretches: readonly Stretch[]
  /** Names of sections; the nearest first. */
  readonly sections: readonly string[]
  /** The squared distance from the focal point to each stretch's nearest seat; the values never decrease. */
  readonly nearest: Float64Array
  /** The number of the stretch of each seat, indexed by position. */
  readonly stretchOf: Int32Array
  /** The bounding box of each stretch: least and greatest x, then least and greatest y. */
  readonly boxes: Float64Array
  /** Seats of the longest stretch. */
  readonly longestStretch: number
  readonly xs: Float64Array
  readonly ys: Float64Array
  /** The bitmap index of each seat, indexed by position. */
  readonly indexes: Float64Array
  /** The cost of each seat, indexed by position: its squared distance from the focal point, and its surcharge. */
  readonly costs: Float64Array
  /** What each seat adds to its squared distance for a restricted view; usually 0. Indexed by position. */
  readonly surcharge: Float64Array
  /** The number of each seat's cell, indexed by position. A cell is all seats of one section, category and kind. */
  readonly cellOf: Int32Array
  /** The bit of each seat's kind, indexed by position. */
  readonly kindOf: Uint8Array
  /** One seat of each cell, by the cell's number. */
  readonly cells: readonly Seat[]
  /** A number above any cost of a seat, and above any difference of two costs. */
  readonly far: number
  readonly #positions = new Map<number, number>()
  readonly #names = new Map<string, Map<string, Seat>>()
  readonly #sectionNumbers = new Map<string, number>()
  readonly #categoryNumbers = new Map<string, number>()
  readonly #pools = new Map<number, Pool | null>()

  /** Throws RangeError if two seats share an index or a name: they would be sold as one. */
  constructor(seats: readonly Seat[], focalPoint: Point) {
    this.focalPoint = focalPoint
    const surchargeOf = restrictedViewSurcharge(seats, focalPoint)
    const nearer = byDistance(focalPoint)
    const nearestOf = (stretch: readonly Seat[]) => stretch.reduce((a, b) => (nearer(b, a) < 0 ? b : a))
    const stretches = stretchesOf(seats)
      .map((stretch) => ({ stretch, nearest: nearestOf(stretch) }))
      .sort((a, b) => nearer(a.nearest, b.nearest))
    this.nearest = Float64Array.from(stretches, ({ nearest }) => squaredDistance(nearest, focalPoint))
    this.seats = stretches.flatMap(({ stretch }) => stretch)
    this.stretchOf = new Int32Array(seats.length)
    this.indexes = Float64Array.from(this.seats, ({ index }) => index)
    this.xs = Float64Array.from(this.seats, ({ x }) => x)
    this.ys = Float64Array.from(this.seats, ({ y }) => y)
    this.boxes = Float64Array.from(stretches.flatMap(({ stretch }) => boxOf(stretch)))
    this.longestStretch = Math.max(0, ...stretches.map(({ stretch }) => stretch.length))
    this.surcharge = Float64Array.from(this.seats, surchargeOf)
    this.costs = this.surcharge.map((surcharge, i) => surcharge + squaredDistance(this.seats[i] as Seat, focalPoint))
    this.cellOf = new Int32Array(seats.length)
    this.kindOf = Uint8Array.from(this.seats, ({ kind }) => KIND[kind])
    const cells = new Map<string, number>()
    const cellSeats: Seat[] = []
    for (const [position, seat] of this.seats.entries()) {
      this.#remember(seat, position)
      const key = JSON.stringify([seat.section, seat.category, seat.kind])
      const cell = cells.get(key) ?? cells.size
      cells.set(key, cell)
      cellSeats[cell] ??= seat
      this.cellOf[position] = cell
    }
    this.cells = cellSeats
    this.sections = [...this.#sectionNumbers.keys()]
    let start = 0
    this.stretches = stretches.map(({ stretch }, number) => {
      const end = start + stretch.length
      this.stretchOf.fill(number, start, end)
      const costs = this.costs.subarray(start, end)
      const sums = new Float64Array(stretch.length + 1)
      for (const [i, cost] of costs.entries()) sums[i + 1] = known(sums[i]) + cost
      const section = this.#sectionNumbers.get((stretch[0] as Seat).section) as number
      start = end
      return { start: end - stretch.length, end, section, sums }
    })
    const [left, right, top, bottom] = boxOf([...this.seats, focalPoint])
    // A seat is at most a diagonal from the focal point, the edge of its ring less than two: four squared.
    this.far = 1 + 5 * ((right - left) ** 2 + (bottom - top) ** 2)
  }

  /** The seat of a bit; undefined if the chart has none. */
  at(index: number): Seat | undefined {
    return this.seats[this.position(index)]
  }

  /** The seats of a cart that was chosen from this chart. */
  seatsAt(indexes: readonly number[]): Seat[] {
    return indexes.map((index) => assertExists(this.at(index), 'A cart has seats of its own chart.'))
  }

  find(section: string, seat: string): Seat | undefined {
    return this.#names.get(section)?.get(seat)
  }

  /** The position of the seat of a bit; -1 if the chart has none. */
  position(index: number): number {
    return this.#positions.get(index) ?? -1
  }

  /** The seats of a section, a category (undefined: of all) and some kinds; null if the chart has none. */
  pool(section: string | undefined, category: string | undefined, kinds: number): Pool | null {
    const sectionNumber = section === undefined ? this.#sectionNumbers.size : this.#sectionNumbers.get(section)
    const categoryNumber = category === undefined ? this.#categoryNumbers.size : this.#categoryNumbers.get(category)
    if (sectionNumber === undefined || categoryNumber === undefined) return null
    const key = (sectionNumber * (this.#categoryNumbers.size + 1) + categoryNumber) * (ANY + 1) + kinds
    const made = this.#pools.get(key)
    if (made !== undefined) return made
    const pool = this.#makePool(section, category, kinds)
    this.#pools.set(key, pool)
    return pool
  }

  #makePool(section: string | undefined, category: string | undefined, kinds: number): Pool | null {
    const allowed = Uint8Array.from(this.cells, (seat) =>
      (section === undefined || seat.section === section) &&
      (category === undefined || seat.category === category) &&
      (KIND[seat.kind] & kinds) !== 0
        ? 1
        : 0,
    )
    const cells = [...allowed.keys()].filter((cell) => allowed[cell])
    if (cells.length === 0) return null
    const holdsSome = ({ start, end }: Stretch) => this.cellOf.subarray(start, end).some((cell) => allowed[cell] === 1)
    const stretches = [...this.stretches.keys()].filter((number) => holdsSome(this.stretches[number] as Stretch))
    return { stretches: Int32Array.from(stretches), allowed, cells }
  }

  #remember(seat: Seat, position: number): void {
    const names = this.#names.get(seat.section) ?? new Map<string, Seat>()
    if (this.#positions.has(seat.index)) throw new RangeError(`two seats of index ${seat.index}`)
    if (names.has(seat.seat)) throw new RangeError(`two seats ${seat.section} ${seat.seat}`)
    this.#positions.set(seat.index, position)
    this.#names.set(seat.section, names.set(seat.seat, seat))
    if (!this.#sectionNumbers.has(seat.section)) this.#sectionNumbers.set(seat.section, this.#sectionNumbers.size)
    if (!this.#categoryNumbers.has(seat.category)) this.#categoryNumbers.set(seat.category, this.#categoryNumbers.size)
  }
}

/** Rows by section and name, sorted by place, cut at their aisles. */
function stretchesOf(seats: readonly Seat[]): Seat[][] {
  const rows = Map.groupBy(seats, ({ section, row }) => JSON.stringify([section, row]))
  const stretches: Seat[][] = []
  for (const row of rows.values()) {
    let before: Seat | undefined
    for (const seat of row.sort((a, b) => a.place - b.place || a.index - b.index)) {
      if (before && seat.place - before.place === 1) stretches.at(-1)?.push(seat)
      else stretches.push([seat])
      before = seat
    }
  }
  return stretches
}

function restrictedViewSurcharge(seats: readonly Seat[], focalPoint: Point): (seat: Seat) => number {
  const distances = seats.map((seat) => Math.sqrt(squaredDistance(seat, focalPoint)))
  const nearest = distances.reduce((a, b) => Math.min(a, b), Infinity)
  const farthest = distances.reduce((a, b) => Math.max(a, b), 0)
  // A hair wider than equal, so that the farthest seat is within the last ring, not on its edge.
  const width = ((farthest - nearest) / RINGS) * (1 + 1e-9) || 1
  return (seat) => {
    if (seat.kind !== 'restricted_view') return 0
    const squared = squaredDistance(seat, focalPoint)
    const ring = Math.floor((Math.sqrt(squared) - nearest) / width)
    return (nearest + (ring + 1) * width) ** 2 - squared
  }
}

function boxOf(points: readonly Point[]): [left: number, right: number, top: number, bottom: number] {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return [left, right, top, bottom]
}
