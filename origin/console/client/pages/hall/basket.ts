/** The basket of the box office: order lines, and their cost before the best seats are known. Pure. */
import type { CheckoutLine, SeatKind } from '../../../../../shared/api/public.ts'
import type { Hall, Seat } from '../../../../../shared/hall/hall-model.ts'
import { bySection, STATES } from './seats.ts'

/** A product of the sale, or a standing section. */
export interface Goods {
  readonly name: string
  readonly price_minor: number
  readonly line: { readonly product_id: string } | { readonly section_id: string }
}

/** A line with its price. For the best available seats it is the lowest and the highest possible price. */
export interface BasketLine {
  readonly line: CheckoutLine
  readonly text: string
  readonly from_minor: number
  readonly to_minor: number
}

export function goodsLine({ name, price_minor, line }: Goods, quantity: number): BasketLine {
  const sum = quantity * price_minor
  return { line: { ...line, quantity }, text: `${quantity} × ${name}`, from_minor: sum, to_minor: sum }
}

export interface BestWish {
  readonly section_id?: string
  readonly category?: string
  readonly quantity: number
  readonly together: boolean
  readonly accessible: boolean
}

const ORDINARY: readonly SeatKind[] = ['standard', 'restricted_view']

/** Throws if fewer seats of the kind are free. */
export function bestLine(map: Hall, states: Uint8Array, wish: BestWish): BasketLine {
  const { section_id, category, quantity, together, accessible } = wish
  const isMeant = ({ section, kind, category: of, index }: Seat) =>
    STATES[states[index] ?? 0] === 'free' &&
    (section_id === undefined || section.id === section_id) &&
    (category === undefined || of === category) &&
    // Companions of a wheelchair place may sit anywhere.
    (accessible || ORDINARY.includes(kind))
  const prices = map.seats.filter(isMeant).map(({ price_minor }) => price_minor)
  if (prices.length < quantity) throw new Error(`Only ${prices.length} such seats are free.`)
  prices.sort((a, b) => a - b)
  const sum = (of: readonly number[]) => of.reduce((total, price) => total + price, 0)
  const where = map.sections.find(({ id }) => id === section_id)?.name
  const words = [
    `${quantity} × best ${accessible ? 'wheelchair places' : 'seats'}`,
    where,
    category,
    together && quantity > 1 ? 'together' : null,
  ]
  return {
    line: {
      ...(section_id !== undefined && { section_id }),
      ...(category !== undefined && { category }),
      quantity,
      ...(together && { together }),
      ...(accessible && { accessible }),
    },
    text: words.filter(Boolean).join(', '),
    from_minor: sum(prices.slice(0, quantity)),
    to_minor: sum(prices.slice(-quantity)),
  }
}

/** Returns all lines of the order. The seats that were chosen one by one come first, one line for each section. */
export function linesOf(map: Hall | undefined, chosen: readonly number[], others: readonly BasketLine[]) {
  const seats = map ? [...bySection(map, chosen)].map(([section_id, seats]) => ({ section_id, seats })) : []
  return [...seats, ...others.map(({ line }) => line)] satisfies CheckoutLine[]
}

export function sumOf(map: Hall | undefined, chosen: readonly number[], others: readonly BasketLine[]) {
  const seats = chosen.reduce((sum, index) => sum + (map?.seats[index]?.price_minor ?? 0), 0)
  return {
    from_minor: others.reduce((sum, { from_minor }) => sum + from_minor, seats),
    to_minor: others.reduce((sum, { to_minor }) => sum + to_minor, seats),
  }
}
