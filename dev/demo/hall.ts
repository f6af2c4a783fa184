/**
 * A demo hall: blocks of seats in rings around a stage, a standing section in front of it, and a programme to buy
 * with a seat. Pure: the same number of seats gives the same hall, for the demo, rehearsals and measurements.
 */
import type { Point, Seat } from '../../origin/seats/chart.ts'

interface DemoSection {
  readonly section_id: string
  readonly name: string
  readonly type: 'reserved' | 'general_admission'
  readonly total: number
  /** The price of a standing place; each seat has its own price. */
  readonly price_minor: number
}

export interface DemoHall {
  readonly focalPoint: Point
  readonly currency: 'EUR'
  /** The standing section comes last. */
  readonly sections: readonly DemoSection[]
  /** The seats in the order of their indexes. */
  readonly seats: readonly Seat[]
  readonly outlines: Readonly<Record<string, readonly (readonly [number, number])[]>>
  readonly product: { readonly product_id: string; readonly name: string; unit_price_minor: number; total: number }
}

export const STANDING = 'standing'
export const PROGRAMME = 'programme'

/** Half of the angle that the seats occupy around the stage, and the radius of the stage with the standing places. */
const HALF_ANGLE = Math.PI / 3
const FIRST_RADIUS = 14
const ROW_DEPTH = 1.2
const ROWS_OF_RING = 16
const RING_GAP = 3
/** The gap between two blocks, in seats. */
const BLOCK_GAP = 2
/** Rows longer than this have an aisle in the middle. */
const LONG_ROW = 24
/** The number of blocks in the first ring; each further ring has one more. */
const FIRST_BLOCKS = 3
/** The limit is generous, because a hall of a million seats has about fifty rings. */
const MAX_RINGS = 200
const FRONT = { rows: 3, category: 'front', price_minor: 12_500 }
/** The price categories by ring; the last one is for all others. */
const CATEGORIES = [
  { category: 'A', price_minor: 9_800 },
  { category: 'B', price_minor: 7_900 },
  { category: 'C', price_minor: 5_900 },
] as const
const STANDING_MINOR = 3_900
const PROGRAMME_MINOR = 2_500
/** The number of seats for each standing place, and for each programme. */
const SEATS_PER_PLACE = 15
const SEATS_PER_PROGRAMME = 20
const FEWEST = 10

/** Makes a hall with exactly this many seats. */
export function hallOf(count: number): DemoHall {
  const seats: Seat[] = []
  const sections: DemoSection[] = []
  const outlines: Record<string, [number, number][]> = {}
  for (let ring = 0; ring < MAX_RINGS && seats.length < count; ring++) {
    const blocks = Array.from({ length: FIRST_BLOCKS + ring }, (_, block) => blockOf(ring, block))
    const totals = blocks.map(() => 0)
    let rows = 0
    for (; rows < ROWS_OF_RING && seats.length < count; rows++)
      for (const [i, block] of blocks.entries()) {
        const row = rowOf(block, rows, seats.length).slice(0, count - seats.length)
        seats.push(...row)
        totals[i] = (totals[i] ?? 0) + row.length
      }
    for (const [i, block] of blocks.entries()) {
      const total = totals[i] ?? 0
      if (total === 0) continue
      const { price_minor } = priceOf(ring, ROWS_OF_RING)
      sections.push({ section_id: block.id, name: `Block ${block.name}`, type: 'reserved', total, price_minor })
      outlines[block.id] = outlineOf(block, rows)
    }
  }
  const places = Math.max(FEWEST, Math.round(count / SEATS_PER_PLACE))
  const type = 'general_admission'
  sections.push({ section_id: STANDING, name: 'Standing', type, total: places, price_minor: STANDING_MINOR })
  const total = Math.max(FEWEST, Math.round(count / SEATS_PER_PROGRAMME))
  const product = { product_id: PROGRAMME, name: 'Programme', unit_price_minor: PROGRAMME_MINOR, total }
  return { focalPoint: { x: 0, y: 0 }, currency: 'EUR', sections, seats, outlines, product }
}

/** All units that can be sold. */
export const unitsOf = ({ sections, product }: DemoHall) =>
  sections.reduce((units, { total }) => units + total, product.total)

interface Block {
  readonly id: string
  readonly name: string
  readonly ring: number
  /** The outer seats of a ring's first and last block have a restricted view of the stage. */
  readonly side: 'left' | 'right' | null
  readonly radius: number
  readonly from: number
  readonly to: number
}

function blockOf(ring: number, block: number): Block {
  const blocks = FIRST_BLOCKS + ring
  const angle = (2 * HALF_ANGLE) / blocks
  const name = String((ring + 1) * 100 + block + 1)
  return {
    id: `block-${name}`,
    name,
    ring,
    side: block === 0 ? 'left' : block === blocks - 1 ? 'right' : null,
    radius: radiusOf(ring),
    from: block * angle - HALF_ANGLE,
    to: (block + 1) * angle - HALF_ANGLE,
  }
}

const radiusOf = (ring: number) => FIRST_RADIUS + ring * (ROWS_OF_RING * ROW_DEPTH + RING_GAP)

/** The seats of a block's row, from the left. */
function rowOf({ id, ring, side, radius, from, to }: Block, row: number, firstIndex: number): Seat[] {
  const rowRadius = radius + row * ROW_DEPTH
  const length = Math.max(1, Math.floor(rowRadius * (to - from)) - BLOCK_GAP)
  const hasAisle = length > LONG_ROW
  const letter = String.fromCharCode(65 + row)
  return Array.from({ length }, (_, i): Seat => {
    const place = i + (hasAisle && i >= length / 2 ? 2 : 1)
    const places = length + (hasAisle ? 1 : 0)
    const angle = (from + to) / 2 + (place - (places + 1) / 2) / rowRadius
    const isOuter = side === 'left' ? i < 2 : side === 'right' && i >= length - 2
    return {
      index: firstIndex + i,
      section: id,
      seat: `${letter}-${i + 1}`,
      row: letter,
      number: String(i + 1),
      place,
      x: round(rowRadius * Math.sin(angle)),
      y: round(rowRadius * Math.cos(angle)),
      category: priceOf(ring, row).category,
      kind: kindOf(ring, row, i, isOuter),
      priceMinor: priceOf(ring, row).price_minor,
    }
  })
}

/** The last row of the first ring, at the gangway, begins with a wheelchair place and a companion seat. */
function kindOf(ring: number, row: number, i: number, isOuter: boolean): Seat['kind'] {
  if (ring === 0 && row === ROWS_OF_RING - 1 && i < 2) return i === 0 ? 'accessible' : 'companion'
  return isOuter ? 'restricted_view' : 'standard'
}

function priceOf(ring: number, row: number): { readonly category: string; readonly price_minor: number } {
  if (ring === 0 && row < FRONT.rows) return FRONT
  return CATEGORIES[Math.min(ring, CATEGORIES.length - 1)] ?? FRONT
}

/** The outline around the rows, as a closed polygon. */
function outlineOf({ radius, from, to }: Block, rows: number): [number, number][] {
  const [inner, outer] = [radius - ROW_DEPTH, radius + rows * ROW_DEPTH]
  const angles = [from, (from + to) / 2, to]
  const arc = (r: number) => angles.map((a): [number, number] => [round(r * Math.sin(a)), round(r * Math.cos(a))])
  const points = [...arc(inner), ...arc(outer).reverse()]
  return [...points, ...points.slice(0, 1)]
}

const round = (value: number) => Math.round(value * 100) / 100
