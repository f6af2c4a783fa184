/**
 * The model of a hall for its maps, of visitors and of operators alike. It is made from the chart, and says what is
 * drawn, found and reached; the states of the seats are a list of numbers beside it. Pure.
 */
import type { ChartDocument, ChartSeat } from '../api/hall.ts'

export type Point = readonly [x: number, y: number]

export interface Seat extends ChartSeat {
  /** The index among all seats of the hall. */
  readonly index: number
  readonly section: Section
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
  readonly grid: SeatGrid
  /** The distance between neighbouring seats in the chart's units, which determines the size of seats. */
  readonly spacing: number
  /** The rectangle around all seats, outlines and the focal point. */
  readonly bounds: Box
  /** The tier of each category, from 1 for the highest prices to 4 for the lowest. */
  readonly tiers: ReadonlyMap<string, number>
}

export const TIERS = 4

// -- States of seats ------------------------------------------------------------------------------------------------

/** The numbers of these states. */
export const [FREE, HELD] = [0, 1]

/**
 * Packs the states of seats (their numbers in SEAT_STATES) into two bits each, the first seat in the highest bits of
 * the first byte, as base64.
 */
export function packStates(states: readonly number[]): string {
  const bytes = new Uint8Array(Math.ceil(states.length / 4))
  for (const [i, state] of states.entries()) bytes[i >> 2] = (bytes[i >> 2] ?? 0) | (state << shiftOf(i))
  let letters = ''
  for (const byte of bytes) letters += String.fromCharCode(byte)
  return btoa(letters)
}

/** Unpacks the states of this many seats. A missing state counts as held, so that nobody is led to a taken seat. */
export function unpackStates(base64: string, seats: number): Uint8Array {
  const bytes = atob(base64)
  return Uint8Array.from({ length: seats }, (_, i) => {
    const byte = bytes.charCodeAt(i >> 2)
    return Number.isNaN(byte) ? HELD : (byte >> shiftOf(i)) & 3
  })
}

const shiftOf = (i: number) => 6 - 2 * (i & 3)

// -- The hall -------------------------------------------------------------------------------------------------------

export function hallOf(chart: Pick<ChartDocument, 'version' | 'focal_point' | 'categories' | 'sections'>): Hall {
  const { version, focal_point: focalPoint, categories } = chart
  const spacing = spacingOf(chart.sections.map(({ seats }) => seats))
  const seats: Seat[] = []
  const sections = chart.sections.map(({ section_id: id, name, outline = [], seats: placed }): Section => {
    const own: Seat[] = []
    const points = placed.map(({ x, y }): Point => [x, y])
    const { x0, y0, x1, y1 } = boxOf(points.length > 0 ? points : outline, 0)
    const around = outline.length > 2 ? outline : hullOf(points, ROOM * spacing)
    const section: Section = {
      id,
      name,
      seats: own,
      first: seats.length,
      outline: around,
      center: middleOf([(x0 + x1) / 2, (y0 + y1) / 2], around, points),
      priceFrom: placed.reduce<number | null>((least, { price_minor: of }) => Math.min(least ?? of, of), null),
    }
    for (const seat of placed) {
      const made = { ...seat, index: seats.length, section }
      own.push(made)
      seats.push(made)
    }
    return section
  })
  const drawn = [...sections.flatMap(({ outline }) => outline), ...seats.map(({ x, y }): Point => [x, y])]
  return {
    version,
    focalPoint,
    sections,
    seats,
    grid: new SeatGrid(seats, spacing),
    spacing,
    bounds: boxOf([...drawn, [focalPoint.x, focalPoint.y]], spacing),
    tiers: tiersOf(categories),
  }
}

/** The middle of a section; of a curved one, whose middle is outside, the seat nearest to it. */
function middleOf(middle: Point, outline: readonly Point[], seats: readonly Point[]): Point {
  if (isInside(middle, outline)) return middle
  const far = ([x, y]: Point) => Math.hypot(x - middle[0], y - middle[1])
  return seats.reduce((nearest, seat) => (far(seat) < far(nearest) ? seat : nearest), seats[0] ?? middle)
}

/** Sorts the categories by price, the highest first. Equal prices share a tier. */
function tiersOf(categories: ChartDocument['categories']): ReadonlyMap<string, number> {
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
function spacingOf(sections: readonly (readonly ChartSeat[])[]): number {
  const distances = sections.flatMap((seats) =>
    seats.flatMap((seat, i) => {
      const next = seats[i + 1]
      const areNeighbours = next && next.row === seat.row && Math.abs(next.place - seat.place) === 1
      return areNeighbours ? [Math.hypot(next.x - seat.x, next.y - seat.y)] : []
    }),
  )
  distances.sort((a, b) => a - b)
  return distances[distances.length >> 1] || 1
}

/** The space around seats in a generated outline, as a share of the distance between neighbours. */
export const ROOM = 0.8

/**
 * The convex hull with space for a seat around it (Andrew's monotone chain). It is the outline of a section whose
 * chart has none.
 */
function hullOf(seats: readonly Point[], room: number): Point[] {
  const points = seats
    .flatMap(([x, y]): Point[] => [
      [x - room, y - room],
      [x - room, y + room],
      [x + room, y - room],
      [x + room, y + room],
    ])
    .sort(([ax, ay], [bx, by]) => ax - bx || ay - by)
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
class SeatGrid {
  readonly #cell: number
  readonly #cells = new Map<string, Seat[]>()

  constructor(seats: readonly Seat[], spacing: number) {
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

/** The direction of each arrow key. */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const
export type Arrow = keyof typeof ARROWS
/** Sideways distance counts this many times, because a row may be curved and continue in the next section. */
const SIDEWAYS = 2.5

/** Returns the seat to which an arrow key leads; null at the end of the hall. */
export function neighbourOf({ seats, spacing }: Pick<Hall, 'seats' | 'spacing'>, of: Seat, arrow: Arrow): Seat | null {
  const [dx, dy] = ARROWS[arrow]
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

declare const atob: (base64: string) => string
declare const btoa: (letters: string) => string
