/**
 * A hall's geometry as pages draw it: one document for each version of its chart, which everyone downloads once.
 * Twenty thousand seats are a few megabytes, so that numbers have no more digits than a screen can show. Pure.
 */
import type { ChartDocument, ChartSeat } from '../../shared/api/hall.ts'
import type { ProductRow } from '../ledger/sale-row.ts'
import type { Seat } from './chart.ts'
import type { ChartRow } from './seat-queries.ts'

/** Digits of the hall's larger side: finer than any screen. */
const DIGITS = 5
const MAX_DECIMALS = 6

/** The sections of a sale, in the order of its page. */
export const sectionsIn = (products: readonly ProductRow[]) =>
  products.flatMap((p) => (p.section_type === null ? [] : [{ ...p, section_type: p.section_type }]))

type Geometry = Omit<ChartRow, 'refuseSingle'>

const seatsByGeometry = new WeakMap<Geometry, ReadonlyMap<string, readonly Seat[]>>()

/** The seats of a section in the chart's order; a standing section has none. */
export function seatsOf(hall: Geometry, section: string): readonly Seat[] {
  const bySection = seatsByGeometry.get(hall) ?? Map.groupBy(hall.seats, (seat) => seat.section)
  seatsByGeometry.set(hall, bySection)
  return bySection.get(section) ?? []
}

export function chartDocument(hall: Geometry, products: readonly ProductRow[]): ChartDocument {
  const { version, focalPoint, outlines, seats } = hall
  const outlined = Object.values(outlines).flatMap((line) => line.map(([x, y]) => ({ x, y })))
  const rounded = rounding([...seats, ...outlined, focalPoint])
  return {
    version,
    focal_point: { x: rounded(focalPoint.x), y: rounded(focalPoint.y) },
    categories: categoriesOf(seats),
    sections: sectionsIn(products).map(({ product_id, name, section_type: type }) => {
      const outline = outlines[product_id]?.map(([x, y]) => [rounded(x), rounded(y)] as const)
      return {
        section_id: product_id,
        name,
        type,
        ...(outline && { outline }),
        seats: seatsOf(hall, product_id).map(
          (seat): ChartSeat => ({
            seat_id: seat.seat,
            row: seat.row,
            number: seat.number,
            place: seat.place,
            x: rounded(seat.x),
            y: rounded(seat.y),
            category: seat.category,
            kind: seat.kind,
            price_minor: seat.priceMinor,
          }),
        ),
      }
    }),
  }
}

function categoriesOf(seats: readonly Seat[]): ChartDocument['categories'] {
  const ranges = new Map<string, [least: number, most: number]>()
  for (const { category, priceMinor } of seats) {
    const [least, most] = ranges.get(category) ?? [priceMinor, priceMinor]
    ranges.set(category, [Math.min(least, priceMinor), Math.max(most, priceMinor)])
  }
  return [...ranges].map(([category, [price_minor, most]]) => ({
    category,
    price_minor,
    ...(most > price_minor && { price_to_minor: most }),
  }))
}

/** Rounds to as many decimals as the larger side of what is drawn needs. */
function rounding(points: readonly { readonly x: number; readonly y: number }[]): (value: number) => number {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  const side = Math.max(right - left, bottom - top) || 1
  const decimals = Math.min(MAX_DECIMALS, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(side))))
  const scale = 10 ** decimals
  return (value) => Math.round(value * scale) / scale
}
