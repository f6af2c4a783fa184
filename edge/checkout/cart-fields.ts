/**
 * What a visitor chose in the form of a sale with a hall, as fields and as the lines of a checkout. A browser without a script
 * sends the same fields as the map does. Each line remembers the part of the form that it came from, where a fault of it is
 * shown.
 */
import type { CheckoutLine } from '../../shared/api/public.ts'
import type { Fields } from '../call.ts'

/** `seat:SECTION:SEAT`: a seat that was chosen, with any value. */
export const seatField = (section: string, seat: string) => `seat:${section}:${seat}`
/** `units:PRODUCT` and `places:SECTION`: how many. */
export const unitsField = (product: string, isSection: boolean) => `${isSection ? 'places' : 'units'}:${product}`

/** A seat by the names of its section and its own, which is known within the section. */
export interface NamedSeat {
  readonly section: string
  readonly seat: string
}

/** The part of the form that a line came from: the seats, the best available ones, or the field of one product. */
export type Part = 'seats' | 'best' | `units:${string}` | `places:${string}`
export interface ChosenLine {
  readonly part: Part
  readonly line: CheckoutLine
}

/** The seats that were chosen by name, in the order of the form. */
export function seatsIn(fields: Fields): NamedSeat[] {
  return Object.keys(fields).flatMap((name) => {
    const [kind, section, seat, more] = name.split(':')
    return kind === 'seat' && section && seat && more === undefined ? [{ section, seat }] : []
  })
}

/** The lines of a form; none where nothing was chosen. What is no number goes on as it is, for the origin to refuse. */
export function linesIn(fields: Fields): ChosenLine[] {
  const seats = [...Map.groupBy(seatsIn(fields), ({ section }) => section)].map(
    ([section_id, named]): ChosenLine => ({
      part: 'seats',
      line: { section_id, seats: named.map(({ seat }) => seat) },
    }),
  )
  const best = bestIn(fields)
  const others = Object.entries(fields).flatMap(([name, typed]): ChosenLine[] => {
    const [kind, id, more] = name.split(':')
    if (!id || more !== undefined || isNone(typed)) return []
    if (kind === 'units') return [{ part: `units:${id}`, line: { product_id: id, quantity: Number(typed) } }]
    if (kind === 'places') return [{ part: `places:${id}`, line: { section_id: id, quantity: Number(typed) } }]
    return []
  })
  return [...seats, ...(best ? [{ part: 'best' as const, line: best }] : []), ...others]
}

function bestIn(fields: Fields): CheckoutLine | null {
  const quantity = fields['best-quantity']
  if (isNone(quantity)) return null
  const section = fields['best-section']
  const category = fields['best-category']
  return {
    ...(section && { section_id: section }),
    ...(category && { category }),
    quantity: Number(quantity),
    together: fields['best-together'] !== undefined,
    ...(fields['best-accessible'] !== undefined && { accessible: true }),
  }
}

const isNone = (typed: string | undefined) => typed === undefined || /^0*$/.test(typed.trim())

/** The part of the form that a field of a problem is about, as in `lines.2.quantity`; null for one of no line. */
export function partOf(field: string, lines: readonly ChosenLine[]): Part | null {
  const [, index] = /^lines\.(\d+)(\.|$)/.exec(field) ?? []
  return index === undefined ? null : (lines[Number(index)]?.part ?? null)
}
