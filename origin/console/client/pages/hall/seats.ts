/** What operators choose on the map of a hall: rows, rectangles, seats by name, and their words. Pure. */
import type { Box, Hall, Seat } from '../../../../../shared/hall/hall-model.ts'

/** The states by the value of a seat's two bits. */
export const STATES = ['free', 'held', 'sold', 'blocked'] as const
export type SeatState = (typeof STATES)[number]

export function countsOf(states: Uint8Array): Readonly<Record<SeatState, number>> {
  const counts = { free: 0, held: 0, sold: 0, blocked: 0 }
  for (const state of states) counts[STATES[state] ?? 'free']++
  return counts
}

// -- Choosing -------------------------------------------------------------------------------------------------------

/** All seats in the same row as the given one. */
export const rowOf = (seat: Seat) => seat.section.seats.flatMap(({ row, index }) => (row === seat.row ? [index] : []))

export const within = ({ seats }: Hall, { x0, y0, x1, y1 }: Box) =>
  seats.flatMap(({ x, y, index }) => (x >= x0 && x <= x1 && y >= y0 && y <= y1 ? [index] : []))

/** Adds the seats to the chosen ones, or removes them if all were chosen. */
export function toggleSeats(chosen: ReadonlySet<number>, seats: readonly number[]): ReadonlySet<number> {
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
export function bySection(map: Hall, chosen: Iterable<number>): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  for (const index of chosen) {
    const seat = map.seats[index]
    if (!seat) continue
    const seats = sections.get(seat.section.id) ?? []
    sections.set(seat.section.id, seats)
    seats.push(seat.seat_id)
  }
  return sections
}

// -- Words ----------------------------------------------------------------------------------------------------------

const KINDS = { accessible: 'wheelchair place', companion: 'companion seat', restricted_view: 'restricted view' }

export const seatName = ({ section, row, number }: Pick<Seat, 'section' | 'row' | 'number'>) =>
  `${section.name}, row ${row}, seat ${number}`
export const kindName = ({ kind }: Pick<Seat, 'kind'>) => (kind === 'standard' ? null : KINDS[kind])

/** The address of the page on which the new seat of an order line is chosen. */
export const moveLink = (sale: string, order: string, line: number) =>
  `/console/sales/${sale}/hall?move=${order}&line=${line}`

/** Describes each row as "Stalls, row B: 1–4, 7", in the chart's order. */
export function rowsInWords({ seats }: Hall, chosen: ReadonlySet<number>): string[] {
  const rows = Map.groupBy(
    [...chosen].sort((a, b) => a - b).filter((index) => index < seats.length),
    (index) => JSON.stringify([seats[index]?.section.id, seats[index]?.row]),
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
    const first = seats[indexes[0] as number] as Seat
    return `${first.section.name}, row ${first.row}: ${texts.join(', ')}`
  })
}
