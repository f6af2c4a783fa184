/**
 * The model of the hall for the map. It is made from the chart and the states of the seats, and says what is drawn,
 * found and reached. Pure.
 */

export interface ChartSeat {
  readonly seat_id: string
  readonly row: string
  readonly number: string
  readonly place: number
  readonly x: number
  readonly y: number
  readonly category: string
  readonly kind: string
  readonly price_minor: number
}

/** The response of `GET /sales/{sale}/chart`. */
export interface Chart {
  readonly version: number
  readonly focal_point: { readonly x: number; readonly y: number }
  readonly categories: readonly { readonly category: string; readonly price_minor: number }[]
  readonly sections: readonly {
    readonly section_id: string
    readonly name: string
    readonly type?: string
    readonly outline?: readonly Point[] | null
    readonly seats?: readonly ChartSeat[]
  }[]
}

export type Point = readonly [x: number, y: number]

export interface Seat extends ChartSeat {
  /** The index among all seats of the hall. */
  readonly index: number
  /** The index among the hall's sections. */
  readonly section: number
}

export interface Section {
  readonly id: string
  readonly name: string
  readonly seats: readonly Seat[]
  /** The index of the section's first seat. The seats of a section follow each other. */
  readonly first: number
  readonly outline: readonly Point[]
  readonly center: Point
  readonly priceFrom: number | null
}

export interface Box {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

export interface Hall {
  readonly version: number
  readonly focalPoint: { readonly x: number; readonly y: number }
  readonly sections: readonly Section[]
  readonly seats: readonly Seat[]
  /** The distance between neighbouring seats in the chart's units, which determines the size of seats. */
  readonly spacing: number
  readonly bounds: Box
  /** The tier of each category, from 1 for the highest prices to 4 for the lowest. */
  readonly tiers: ReadonlyMap<string, number>
}

export const TIERS = 4

// -- States of seats ------------------------------------------------------------------------------------------------

export const FREE = 0

/**
 * Each seat has two bits, the first one in the highest bits of the first byte: 0 available, 1 held, 2 sold, 3
 * blocked.
 */
export function decodeStates(base64: string, seats: number): Uint8Array {
  const bytes = atob(base64)
  const states = new Uint8Array(seats)
  // A seat that is missing in the response counts as taken, so that no visitor is led to a seat that may not be free.
  for (let i = 0; i < seats; i++) {
    const byte = bytes.charCodeAt(i >> 2)
    states[i] = Number.isNaN(byte) ? 1 : (byte >> (6 - 2 * (i & 3))) & 3
  }
  return states
}

// -- The hall -------------------------------------------------------------------------------------------------------

export function hallOf(chart: Chart): Hall {
  const seats: Seat[] = []
  const sections = chart.sections.map(({ section_id, name, outline, seats: own = [] }, section): Section => {
    const first = seats.length
    for (const seat of own) seats.push({ ...seat, index: seats.length, section })
    const mine = seats.slice(first)
    return { id: section_id, name, seats: mine, first, outline: outline ?? [], ...measuresOf(mine, outline ?? []) }
  })
  const spacing = spacingOf(seats)
  const outlined = sections.map((section) => ({
    ...section,
    outline: section.outline.length > 2 ? section.outline : hullOf(section.seats, spacing),
  }))
  return {
    version: chart.version,
    focalPoint: chart.focal_point,
    sections: outlined,
    seats,
    spacing,
    bounds: boxOf([...outlined.flatMap(({ outline }) => outline), [chart.focal_point.x, chart.focal_point.y]], spacing),
    tiers: tiersOf(chart.categories),
  }
}

function measuresOf(seats: readonly Seat[], outline: readonly Point[]) {
  const points = seats.length > 0 ? seats.map(({ x, y }): Point => [x, y]) : outline
  const { x0, y0, x1, y1 } = boxOf(points, 0)
  const prices = seats.map(({ price_minor }) => price_minor)
  return {
    center: [(x0 + x1) / 2, (y0 + y1) / 2] as const,
    priceFrom: prices.length > 0 ? prices.reduce((a, b) => Math.min(a, b)) : null,
  }
}

/** Sorts the categories by price, the highest first. Equal prices share a tier. */
function tiersOf(categories: Chart['categories']): ReadonlyMap<string, number> {
  const prices = [...new Set(categories.map(({ price_minor }) => price_minor))].sort((a, b) => b - a)
  const tier = (price: number) => 1 + Math.floor((prices.indexOf(price) * TIERS) / Math.max(TIERS, prices.length))
  return new Map(categories.map(({ category, price_minor }) => [category, tier(price_minor)]))
}

export function boxOf(points: readonly Point[], margin: number): Box {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of points) {
    x0 = Math.min(x0, x)
    y0 = Math.min(y0, y)
    x1 = Math.max(x1, x)
    y1 = Math.max(y1, y)
  }
  if (x0 > x1) return { x0: 0, y0: 0, x1: 1, y1: 1 }
  return { x0: x0 - margin, y0: y0 - margin, x1: x1 + margin, y1: y1 + margin }
}

/** The median distance between two neighbours in a row; 1 if no row has neighbours. */
function spacingOf(seats: readonly Seat[]): number {
  const distances: number[] = []
  for (const [i, seat] of seats.entries()) {
    const next = seats[i + 1]
    if (next && next.section === seat.section && next.row === seat.row && Math.abs(next.place - seat.place) === 1)
      distances.push(Math.hypot(next.x - seat.x, next.y - seat.y))
  }
  distances.sort((a, b) => a - b)
  return distances[distances.length >> 1] || 1
}

/** The space around seats in a generated outline, as a share of the distance between neighbours. */
export const ROOM = 0.8

/**
 * The convex hull with space for a seat around it (Andrew's monotone chain). It is the outline of a section whose
 * chart has none.
 */
function hullOf(seats: readonly Seat[], room: number): Point[] {
  const around = (by: number) =>
    seats.flatMap(({ x, y }): Point[] => [
      [x - by, y - by],
      [x - by, y + by],
      [x + by, y - by],
      [x + by, y + by],
    ])
  const points = around(room * ROOM).sort(([ax, ay], [bx, by]) => ax - bx || ay - by)
  const half = (ordered: readonly Point[]) => {
    const chain: Point[] = []
    for (const point of ordered) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop()
      chain.push(point)
    }
    return chain.slice(0, -1)
  }
  return [...half(points), ...half(points.toReversed())]
}

const turn = ([ax, ay]: Point = [0, 0], [bx, by]: Point = [0, 0], [cx, cy]: Point) =>
  (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

export function isInside([x, y]: Point, outline: readonly Point[]): boolean {
  let inside = false
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [ax, ay] = outline[i] ?? [0, 0]
    const [bx, by] = outline[j] ?? [0, 0]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

// -- Finding seats --------------------------------------------------------------------------------------------------

/** A grid of the seats, so that a press or a frame checks only a few of twenty thousand. */
export class SeatGrid {
  readonly #cell: number
  readonly #cells = new Map<string, Seat[]>()

  constructor({ seats, spacing }: Pick<Hall, 'seats' | 'spacing'>) {
    this.#cell = 4 * spacing
    for (const seat of seats) {
      const key = this.#key(this.#at(seat.x), this.#at(seat.y))
      const found = this.#cells.get(key)
      if (found) found.push(seat)
      else this.#cells.set(key, [seat])
    }
  }

  #at = (position: number) => Math.floor(position / this.#cell)
  #key = (column: number, row: number) => `${column} ${row}`

  /** Calls `see` with each seat in a box, and with some seats near it. */
  inside({ x0, y0, x1, y1 }: Box, see: (seat: Seat) => void): void {
    const [left, right, top, bottom] = [this.#at(x0), this.#at(x1), this.#at(y0), this.#at(y1)]
    // A box that is much larger than the hall would have more squares than there are seats.
    if ((right - left) * (bottom - top) > 4 * this.#cells.size)
      for (const seats of this.#cells.values()) seats.forEach(see)
    else
      for (let column = left; column <= right; column++)
        for (let row = top; row <= bottom; row++) this.#cells.get(this.#key(column, row))?.forEach(see)
  }

  /** Returns the seat nearest to a point, within a distance. */
  nearest([x, y]: Point, within: number): Seat | null {
    let found: Seat | null = null
    let least = within
    this.inside({ x0: x - within, y0: y - within, x1: x + within, y1: y + within }, (seat) => {
      const distance = Math.hypot(seat.x - x, seat.y - y)
      if (distance > least) return
      found = seat
      least = distance
    })
    return found
  }
}

export type Direction = 'left' | 'right' | 'up' | 'down'
const STEPS: Readonly<Record<Direction, Point>> = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] }
/** Sideways distance counts this many times, because a row may be curved and continue in the next section. */
const SIDEWAYS = 2.5

/** Returns the seat to which an arrow key leads; null at the end of the hall. */
export function neighbourOf(
  { seats, spacing }: Pick<Hall, 'seats' | 'spacing'>,
  of: Seat,
  direction: Direction,
): Seat | null {
  const [dx, dy] = STEPS[direction]
  let found: Seat | null = null
  let least = Infinity
  for (const seat of seats) {
    const ahead = (seat.x - of.x) * dx + (seat.y - of.y) * dy
    if (ahead < spacing * 0.3) continue
    const aside = Math.abs((seat.x - of.x) * dy) + Math.abs((seat.y - of.y) * dx)
    const cost = ahead + SIDEWAYS * aside
    if (aside > ahead * 2 || cost >= least) continue
    found = seat
    least = cost
  }
  return found
}
