/** A hall as operators see it: its sections with their counts, and what has each seat, as two bits. Pure. */
import type { SectionState } from '../../shared/api/operators/hall-admin.ts'
import { packStates } from '../../shared/hall/hall-model.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { available } from '../sales/sale-state.ts'
import { seatsOf, sectionsIn } from '../seats/chart-document.ts'
import type { ChartRow } from '../seats/seat-queries.ts'

export const sectionStates = ({ products }: Pick<SaleRow, 'products'>): SectionState[] =>
  sectionsIn(products).map((p) => ({
    section_id: p.product_id,
    name: p.name,
    type: p.section_type,
    total: p.total,
    available: available(p),
    held: p.held,
    sold: p.sold,
    blocked: p.buffer,
    price_minor: p.unit_price_minor,
    currency: p.currency,
  }))

/** What has each seat of a hall, section by section. */
export function statesText(
  { products }: Pick<SaleRow, 'products'>,
  hall: ChartRow,
  claims: readonly { readonly seat: number; readonly state: number }[],
): string {
  const states = new Map(claims.map(({ seat, state }) => [seat, state]))
  const seats = sectionsIn(products).flatMap(({ product_id }) => seatsOf(hall, product_id))
  return packStates(seats.map(({ index }) => states.get(index) ?? 0))
}
