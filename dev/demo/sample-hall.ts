/** An invented hall with the documents that its map reads, for screenshots. Pure. */
import type { ChartDocument, ChartSeat } from '../../shared/api/hall.ts'
import { FREE, HELD, packStates } from '../../shared/hall/hall-model.ts'

/** The gap between sections, in seats. */
const AISLE = 4
const TIERS = 4
const SOLD = 2

export interface HallSize {
  readonly sections: number
  readonly sectionsAside: number
  readonly rows: number
  readonly seatsInRow: number
  /** The id and name of its first section; by default "s0" and "Section 1". */
  readonly first?: { readonly section_id: string; readonly name: string }
}

/** Answers the map's requests; undefined for any other request. About two thirds of the seats are free. */
export function sampleHall(size: HallSize): (path: string) => string | undefined {
  const chart = JSON.stringify(chartOf(size))
  const seats = size.rows * size.seatsInRow
  const states = Array.from({ length: seats }, (_, i) => ((i >> 3) % 3 === 1 ? SOLD : i % 13 === 0 ? HELD : FREE))
  const available_seats = states.filter((state) => state === FREE).length
  const packed = packStates(states)
  const sections = sectionsOf(size).map(({ section_id }) => ({ section_id, available_seats }))
  return (path) => {
    const [, section] = /\/sections\/([^/]+)\/availability$/.exec(path) ?? []
    if (section) return JSON.stringify({ section_id: section, version: 1, seats: packed })
    if (path.endsWith('/chart')) return chart
    return path.endsWith('/sections') ? JSON.stringify({ sections }) : undefined
  }
}

const sectionsOf = ({ sections, sectionsAside, rows, seatsInRow, first }: HallSize) =>
  Array.from({ length: sections }, (_, section) => ({
    ...(section === 0 && first ? first : { section_id: `s${section}`, name: `Section ${section + 1}` }),
    left: (section % sectionsAside) * (seatsInRow + AISLE),
    top: Math.floor(section / sectionsAside) * (rows + AISLE),
  }))

/** The rows are named A to Z. */
const rowName = (line: number) => String.fromCharCode(65 + (line % 26))

const priceOf = (tier: number) => 9_400 - tier * 2_000

function chartOf(size: HallSize): ChartDocument {
  const { sectionsAside, rows, seatsInRow } = size
  return {
    version: 1,
    focal_point: { x: (sectionsAside * (seatsInRow + AISLE) - AISLE - 1) / 2, y: -AISLE },
    categories: Array.from({ length: TIERS }, (_, tier) => ({ category: `c${tier}`, price_minor: priceOf(tier) })),
    sections: sectionsOf(size).map(({ section_id, name, left, top }) => ({
      section_id,
      name,
      type: 'reserved',
      seats: Array.from({ length: rows * seatsInRow }, (_, i): ChartSeat => {
        const [line, place] = [Math.floor(i / seatsInRow), i % seatsInRow]
        const tier = Math.min(TIERS - 1, Math.floor(((top + line) * TIERS) / (2 * rows)))
        return {
          seat_id: `${rowName(line)}-${place + 1}`,
          row: rowName(line),
          number: String(place + 1),
          place,
          x: left + place,
          y: top + line,
          category: `c${tier}`,
          kind: line === rows - 1 && place < 2 ? (place === 0 ? 'accessible' : 'companion') : 'standard',
          price_minor: priceOf(tier),
        }
      }),
    })),
  }
}
