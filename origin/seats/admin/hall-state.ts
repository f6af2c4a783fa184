/** A hall as operators see it: its sections with their counts, and what has each seat, as two bits. Pure. */
import { SEAT_STATES, type SeatState } from '../../../shared/api/hall.ts'
import type { SectionState } from '../../../shared/api/hall-admin.ts'
import type { SaleRow } from '../../sales/sale-row.ts'
import { available } from '../../sales/sale-state.ts'
import type { Seat } from '../chart.ts'
import type { ChartRow } from '../seat-queries.ts'

/** Sections in their order, as the sale lists its products. */
const sectionsIn = ({ products }: Pick<SaleRow, 'products'>) => products.filter((p) => p.section_type !== null)

export const sectionStates = (sale: Pick<SaleRow, 'products'>): SectionState[] =>
  sectionsIn(sale).map((p) => ({
    section_id: p.product_id,
    name: p.name,
    type: p.section_type ?? 'reserved',
    total: p.total,
    available: available(p),
    held: p.held,
    sold: p.sold,
    blocked: p.buffer,
    price_minor: p.unit_price_minor,
    currency: p.currency,
  }))

/** The seats of a hall, section by section. */
export function seatsInOrder(sale: Pick<SaleRow, 'products'>, { seats }: Pick<ChartRow, 'seats'>) {
  const bySection = Map.groupBy(seats, ({ section }) => section)
  return sectionsIn(sale).map((section) => ({ section, seats: bySection.get(section.product_id) ?? [] }))
}

/** Two bits a seat, the first in the highest ones. */
export function statesText(seats: readonly Seat[], claims: readonly { seat: number; state: number }[]): string {
  const states = new Map(claims.map(({ seat, state }) => [seat, state]))
  const bytes = Buffer.alloc(Math.ceil(seats.length / 4))
  for (const [i, { index }] of seats.entries())
    bytes[i >> 2] = (bytes[i >> 2] ?? 0) | ((states.get(index) ?? 0) << (6 - 2 * (i & 3)))
  return bytes.toString('base64')
}

export const stateNamed = (bits: number): SeatState => SEAT_STATES[bits] ?? 'available'

/** The geometry, as the public chart has it. */
export function chartJson(sale: Pick<SaleRow, 'products'>, chart: Omit<ChartRow, 'chart'>) {
  const prices = new Map<string, number[]>()
  for (const { category, priceMinor } of chart.seats) {
    const [least = priceMinor, most = priceMinor] = prices.get(category) ?? []
    prices.set(category, [Math.min(least, priceMinor), Math.max(most, priceMinor)])
  }
  return {
    version: chart.version,
    focal_point: chart.focalPoint,
    categories: [...prices].map(([category, [least = 0, most = 0]]) => ({
      category,
      price_minor: least,
      ...(most > least && { price_to_minor: most }),
    })),
    sections: seatsInOrder(sale, chart).map(({ section: { product_id, name, section_type }, seats }) => ({
      section_id: product_id,
      name,
      type: section_type,
      ...(chart.outlines[product_id] && { outline: chart.outlines[product_id] }),
      seats: seats.map(({ seat, row, number, place, x, y, category, kind, priceMinor }) => ({
        seat_id: seat,
        row,
        number,
        place,
        x,
        y,
        category,
        kind,
        price_minor: priceMinor,
      })),
    })),
  }
}
