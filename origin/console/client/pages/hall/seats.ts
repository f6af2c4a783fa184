/** The seats of a hall for drawing and choosing: states from bits, rows, rectangles, neighbours, words. Pure. */
import type { Chart, ChartSeat, ChartSection } from './hall-api.ts'

/** The states by the value of a seat's two bits. */
export const STATES = ['free', 'held', 'sold', 'blocked'] as const
export type SeatState = (typeof STATES)[number]

/** A seat of the chart. Its index in the list is its number in the states. */
export interface MapSeat extends ChartSeat {
  readonly section: ChartSection
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface SeatMap {
  readonly chart: Chart
  readonly seats: readonly MapSeat[]
  /** The rectangle around all seats, outlines and the focal point. */
  readonly box: Box
  /** The most frequent distance between neighbouring seats. */
  readonly pitch: number
}

/** The pitch is calculated from this many pairs of neighbours. */
const MAX_PAIRS = 2_000

export function seatMapOf(chart: Chart): SeatMap {
  const seats = chart.sections.flatMap((section) => section.seats.map((seat) => ({ ...seat, section })))
  const pitch = pitchOf(seats)
  const { x, y } = chart.focal_point
  let [left, top, right, bottom] = [x, y, x, y]
  const reach = (x: number, y: number) => {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  for (const seat of seats) reach(seat.x, seat.y)
  for (const { outline = [] } of chart.sections) for (const [x, y] of outline) reach(x, y)
  return {
    chart,
    seats,
    pitch,
    box: { left: left - pitch, top: top - pitch, right: right + pitch, bottom: bottom + pitch },
  }
}

function pitchOf(seats: readonly MapSeat[]): number {
  const distances: number[] = []
  for (let i = 1; i < seats.length && distances.length < MAX_PAIRS; i++) {
    const [a, b] = [seats[i - 1] as MapSeat, seats[i] as MapSeat]
    const distance = Math.hypot(a.x - b.x, a.y - b.y)
    if (isSameRow(a, b) && distance > 0) distances.push(distance)
  }
  distances.sort((a, b) => a - b)
  return distances[distances.length >> 1] ?? 1
}

const isSameRow = (a: MapSeat, b: MapSeat) => a.section === b.section && a.row === b.row

/** The index of each seat's state in STATES. Seats past the end of the bits are free. */
export function statesOf(base64: string, seats: number): Uint8Array {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  return Uint8Array.from({ length: seats }, (_, i) => ((bytes[i >> 2] ?? 0) >> (6 - 2 * (i % 4))) & 3)
}

export function countsOf(states: Uint8Array): Readonly<Record<SeatState, number>> {
  const counts = { free: 0, held: 0, sold: 0, blocked: 0 }
  for (const state of states) counts[STATES[state] ?? 'free']++
  return counts
}

// -- Choosing -------------------------------------------------------------------------------------------------------

/** All seats in the same row as the given one. */
export function rowOf({ seats }: SeatMap, index: number): number[] {
  const seat = seats[index]
  return seat ? indexesWhere(seats, (other) => isSameRow(seat, other)) : []
}

export function within({ seats }: SeatMap, { left, top, right, bottom }: Box): number[] {
  return indexesWhere(seats, ({ x, y }) => x >= left && x <= right && y >= top && y <= bottom)
}

/** The nearest seat no farther than `reach`; -1 if there is none. */
export function seatAt({ seats }: SeatMap, x: number, y: number, reach: number): number {
  return nearest(seats, (seat) => {
    const distance = Math.hypot(seat.x - x, seat.y - y)
    return distance <= reach ? distance : null
  })
}

export const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
} as const
export type Direction = keyof typeof DIRECTIONS

/** The seat to which an arrow key leads, or the same one at the edge of the hall. Sideways distance counts twice. */
export function neighbourOf({ seats }: SeatMap, from: number, direction: Direction): number {
  const start = seats[from]
  if (!start) return seats.length > 0 ? 0 : -1
  const [towardsX, towardsY] = DIRECTIONS[direction]
  const found = nearest(seats, ({ x, y }) => {
    const [dx, dy] = [x - start.x, y - start.y]
    const ahead = dx * towardsX + dy * towardsY
    const aside = Math.abs(dx * towardsY) + Math.abs(dy * towardsX)
    return ahead > 0 && aside <= ahead ? ahead + 2 * aside : null
  })
  return found === -1 ? from : found
}

function nearest(seats: readonly MapSeat[], distanceOf: (seat: MapSeat) => number | null): number {
  let [found, least] = [-1, Number.POSITIVE_INFINITY]
  for (const [i, seat] of seats.entries()) {
    const distance = distanceOf(seat)
    if (distance !== null && distance < least) [found, least] = [i, distance]
  }
  return found
}

function indexesWhere(seats: readonly MapSeat[], isWanted: (seat: MapSeat) => boolean): number[] {
  return seats.flatMap((seat, i) => (isWanted(seat) ? [i] : []))
}

/** Adds the seats to the chosen ones, or removes them if all were chosen. */
export function toggled(chosen: ReadonlySet<number>, seats: readonly number[]): ReadonlySet<number> {
  const next = new Set(chosen)
  const areChosen = seats.length > 0 && seats.every((seat) => chosen.has(seat))
  for (const seat of seats) areChosen ? next.delete(seat) : next.add(seat)
  return next
}

/**
 * Parses seat numbers such as "1-4, 7" and returns those of the row, in its order. Throws on a number that the row
 * does not have.
 */
export function numbersIn(text: string, row: readonly string[]): string[] {
  const meant = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [from = '', to = from] = row.includes(part) ? [part] : part.split(/\s*[-–]\s*/)
      const [first, last] = [row.indexOf(from), row.indexOf(to)]
      if (first === -1 || last === -1) throw new Error(`This row has no seat ${first === -1 ? from : to}.`)
      return row.slice(Math.min(first, last), Math.max(first, last) + 1)
    })
  return [...new Set(meant)]
}

/** Groups the seats by section, because a call takes seats of one section. */
export function bySection(map: SeatMap, chosen: Iterable<number>): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  for (const index of chosen) {
    const seat = map.seats[index]
    if (!seat) continue
    const seats = sections.get(seat.section.section_id) ?? []
    sections.set(seat.section.section_id, seats)
    seats.push(seat.seat_id)
  }
  return sections
}

// -- Words ----------------------------------------------------------------------------------------------------------

const KINDS = { accessible: 'wheelchair place', companion: 'companion seat', restricted_view: 'restricted view' }

export const seatName = ({ section, row, number }: Pick<MapSeat, 'section' | 'row' | 'number'>) =>
  `${section.name}, row ${row}, seat ${number}`
export const kindName = ({ kind }: Pick<MapSeat, 'kind'>) => (kind === 'standard' ? null : KINDS[kind])

/** The address of the page on which the new seat of an order line is chosen. */
export const moveLink = (sale: string, order: string, line: number) =>
  `/console/sales/${sale}/hall?move=${order}&line=${line}`

/** Describes each row as "Stalls, row B: 1–4, 7", in the chart's order. */
export function rowsInWords({ seats }: SeatMap, chosen: ReadonlySet<number>): string[] {
  const rows = Map.groupBy(
    [...chosen].sort((a, b) => a - b).filter((index) => index < seats.length),
    (index) => JSON.stringify([seats[index]?.section.section_id, seats[index]?.row]),
  )
  return [...rows.values()].map((indexes) => {
    const runs: number[][] = []
    for (const index of indexes) {
      const run = runs.at(-1)
      if (run?.at(-1) === index - 1) run.push(index)
      else runs.push([index])
    }
    const numberOf = (index: number | undefined) => seats[index ?? -1]?.number
    const texts = runs.map((run) => (run.length > 1 ? `${numberOf(run[0])}–${numberOf(run.at(-1))}` : numberOf(run[0])))
    const first = seats[indexes[0] as number] as MapSeat
    return `${first.section.name}, row ${first.row}: ${texts.join(', ')}`
  })
}
