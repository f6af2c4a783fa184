/** An invented hall with the documents that its map reads, for screenshots and for measuring the map. Pure. */

/** The gap between sections, in seats. */
const AISLE = 4
const TIERS = 4
const [HELD, SOLD] = [1, 2]

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
  const bytes = new Uint8Array(Math.ceil(seats / 4))
  let available_seats = 0
  for (let i = 0; i < seats; i++) {
    const state = (i >> 3) % 3 === 1 ? SOLD : i % 13 === 0 ? HELD : 0
    bytes[i >> 2] = (bytes[i >> 2] ?? 0) | (state << (6 - 2 * (i & 3)))
    if (state === 0) available_seats++
  }
  const states = Buffer.from(bytes).toString('base64')
  const sections = sectionsOf(size).map(({ section_id }) => ({ section_id, available_seats }))
  return (path) => {
    const [, section] = /\/sections\/([^/]+)\/availability$/.exec(path) ?? []
    if (section) return JSON.stringify({ section_id: section, version: 1, seats: states })
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

function chartOf(size: HallSize) {
  const { sectionsAside, rows, seatsInRow } = size
  return {
    version: 1,
    focal_point: { x: (sectionsAside * (seatsInRow + AISLE) - AISLE - 1) / 2, y: -AISLE },
    categories: Array.from({ length: TIERS }, (_, tier) => ({ category: `c${tier}`, price_minor: priceOf(tier) })),
    sections: sectionsOf(size).map(({ section_id, name, left, top }) => ({
      section_id,
      name,
      type: 'reserved',
      seats: Array.from({ length: rows * seatsInRow }, (_, i) => {
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
