/**
 * Converts the form of a cart, and of a hall, to the lines of a checkout and back. A browser without a script sends the
 * same fields as the map. Each line remembers the part of the form from which it came, because an error is shown
 * there.
 */
import type { SeatOffer, SeatOfferRequest } from '../../../shared/api/hall.ts'
import { type CheckoutLine, SEAT_KINDS } from '../../../shared/api/public.ts'
import type { Fields } from '../../../shared/parse.ts'

/** The name `seat:SECTION:SEAT` means a chosen seat, whatever its value. */
export const seatField = (section: string, seat: string) => `seat:${section}:${seat}`
/** The names `units:PRODUCT` and `places:SECTION` mean a number of units. */
export const unitsField = (product: string, isSection: boolean) => `${isSection ? 'places' : 'units'}:${product}`
/**
 * The names `size:PRODUCT:ROW` and `count:PRODUCT:ROW` mean one row of a product with variants: the chosen variant and
 * the number of its units. A product has a row for each chosen size.
 */
export const sizeField = (product: string, row: number) => `size:${product}:${row}`
export const countField = (product: string, row: number) => `count:${product}:${row}`

/** A seat by the name of its section and its own name, which is unique within the section. */
export interface NamedSeat {
  readonly section: string
  readonly seat: string
}

/** The part of the form from which a line came: the seats, or the field of a number. */
export type Part = 'seats' | `units:${string}` | `places:${string}` | `count:${string}`
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

/**
 * The lines of a form; none if nothing was chosen. A value that is not a number is passed on unchanged, and the
 * origin refuses it.
 */
export function linesIn(fields: Fields): ChosenLine[] {
  const seats = [...Map.groupBy(seatsIn(fields), ({ section }) => section)].map(
    ([section_id, named]): ChosenLine => ({
      part: 'seats',
      line: { section_id, seats: named.map(({ seat }) => seat) },
    }),
  )
  const others = Object.entries(fields).flatMap(([name, typed]): ChosenLine[] => {
    const [kind, id, more] = name.split(':')
    if (kind === 'size' && id && more) return sizeIn(fields, `count:${id}:${more}`, typed)
    if (!id || more !== undefined || isNone(typed)) return []
    if (kind === 'units') return [{ part: `units:${id}`, line: { product_id: id, quantity: Number(typed) } }]
    if (kind === 'places') return [{ part: `places:${id}`, line: { section_id: id, quantity: Number(typed) } }]
    return []
  })
  return [...seats, ...others]
}

/** A chosen size counts one until another number is typed; 0 takes it out. */
function sizeIn(fields: Fields, part: `count:${string}`, variant: string): ChosenLine[] {
  const typed = fields[part]?.trim() || '1'
  return variant === '' || isNone(typed) ? [] : [{ part, line: { product_id: variant, quantity: Number(typed) } }]
}

// -- Between hall and cart -------------------------------------------------------------------------------------------

/** A hall whose form has a field of this name leads to the cart, in which the rest of the sale is chosen. */
export const TAKE = 'take'
/** The cart's buttons of these names lead back to the hall, and take out the seat whose field is the button's value. */
export const TO_HALL = 'hall'
export const REMOVE = 'remove'
/** The form of a cart has a field of this name. */
export const CART = 'cart'

/** True if the form with these values is that of the hall, before the cart. */
export const isInHall = (fields: Fields) =>
  fields[TO_HALL] !== undefined || wishIn(fields) !== null || (fields[TAKE] ?? fields[CART]) === undefined

/** The form without the seat that a button of the cart takes out. */
export function withoutRemoved(fields: Fields): Fields {
  const { [REMOVE]: removed = '', ...others } = fields
  return Object.fromEntries(Object.entries(others).filter(([name]) => name !== removed))
}

/** The values of the cart that a hall's form keeps for the way back. Terms are accepted each time. */
export const keptInHall = (fields: Fields): [name: string, value: string][] =>
  Object.entries(fields).filter(([name]) => !NOT_KEPT.test(name))

const NOT_KEPT =
  /^((seat:|best-).*|find|offered|take|hall|remove|apply|again|cart|product_id|accept|total_minor|idempotency_key)$/

// -- The best seats -------------------------------------------------------------------------------------------------

/** The button of this name asks for an offer. With the value `another`, the offers before are left out. */
export const FIND = 'find'
export const ANOTHER = 'another'
/** The hidden field of this name lists the fields of all seats that were offered, the current offer among them. */
export const OFFERED = 'offered'

/** The seats that were offered, by the names of their fields. */
export const offeredIn = (fields: Fields): string[] => (fields[OFFERED] ?? '').split(' ').filter((name) => name !== '')

/**
 * What the visitor asks the shop to choose; null if nothing. Seats are offered by name before they are reserved, so a
 * form with a number of best seats and no seat by name asks for an offer, whichever button sends it.
 */
export function wishIn(fields: Fields): SeatOfferRequest | null {
  const named = seatsIn(fields)
  const quantity = fields['best-quantity']
  const isAsked = fields[FIND] !== undefined || (named.length === 0 && !isNone(quantity))
  if (!isAsked) return null
  const section = fields['best-section']
  const category = fields['best-category']
  const kind = SEAT_KINDS.find((one) => one === fields['best-kind'])
  const offered = offeredIn(fields)
  const kept = named.filter(({ section, seat }) => !offered.includes(seatField(section, seat)))
  const not = [
    ...kept,
    ...(fields[FIND] === ANOTHER ? seatsIn(Object.fromEntries(offered.map((name) => [name, '1']))) : []),
  ]
  return {
    ...(section && { section_id: section }),
    ...(category && { category }),
    ...(kind && { kind }),
    quantity: Number(quantity),
    ...(not.length > 0 && { not: not.map(({ seat }) => seat) }),
  }
}

/** The form with the offered seats in it, which replace those of an earlier offer. */
export function withOffer(fields: Fields, { section_id, seats }: Pick<SeatOffer, 'section_id' | 'seats'>): Fields {
  const earlier = offeredIn(fields)
  const names = seats.map((seat) => seatField(section_id, seat))
  const others = Object.entries(fields).filter(([name]) => ![FIND, TAKE, ...earlier].includes(name))
  const offered = fields[FIND] === ANOTHER ? [...earlier, ...names] : names
  return { ...Object.fromEntries([...others, ...names.map((name) => [name, '1'])]), [OFFERED]: offered.join(' ') }
}

const isNone = (typed: string | undefined) => typed === undefined || /^0*$/.test(typed.trim())

/**
 * The part of the form to which a field of a problem belongs, for example `lines.2.quantity`; null for a field of no
 * line.
 */
export function partOf(field: string, lines: readonly ChosenLine[]): Part | null {
  const [, index] = /^lines\.(\d+)(\.|$)/.exec(field) ?? []
  return index === undefined ? null : (lines[Number(index)]?.part ?? null)
}
