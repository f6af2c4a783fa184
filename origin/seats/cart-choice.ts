/**
 * A cart whose seats are left to the system: what it asks for, and the seats that it gets from those that are free.
 * Pure.
 */
import { type Cart, type CartPart, seatsIn } from '../ledger/cart.ts'
import type { Quote, Reservation } from '../ledger/record.ts'
import type { Bits, Chart, Seat } from './chart.ts'
import { choose, stranded, type Wish } from './choice.ts'
import { Free } from './free.ts'

/** One line of a checkout: units, places, seats by name, or the best seats available. */
export type Want = CartPart | { readonly wish: Wish }

export const isWish = (want: Want): want is Extract<Want, { wish: Wish }> => 'wish' in want
export const isPart = (want: Want): want is CartPart => !isWish(want)

/** The seats and units of a hall that a cart asks for. */
export interface CartChoice {
  readonly chart: Chart
  readonly wants: readonly Want[]
}

/** A reservation with what its checkout asks for beside it, which is never stored. */
export interface CheckoutReservation extends Reservation {
  /** What it asks for of a hall; without a cart, seats are still to be chosen. */
  readonly choice?: CartChoice
  /** Computes its charge, once its seats are chosen. */
  readonly quote?: Quote
  /** The networks of the buyer, each with the units that it may hold unpaid, in the format of EDGE_NETWORKS_HEADER. */
  readonly networks?: string
}

/** The cart with its seats, which are free no longer; empty if no seats fit one of its wishes. */
export function chooseCart({ chart, wants }: CartChoice, free: Free): Cart {
  const parts = wants.filter(isPart)
  // Two wishes of a cart never get one seat, nor one that the cart names.
  for (const { seats } of parts) if (seats) free.take(seats)
  for (const want of wants) {
    if (!isWish(want)) continue
    const chosen = choose(chart, free, want.wish)
    if (!chosen) return []
    free.take(chosen.map(({ index }) => index))
    for (const [product, seats] of Map.groupBy(chosen, ({ section }) => section))
      parts.push({ product, quantity: seats.length, seats: seats.map(({ index }) => index) })
  }
  return mergeParts(parts)
}

/** The same at its price, as `quote` computes it; a cart that got no seats has none. */
export function chooseQuoted<Quoted>(
  choice: CartChoice,
  quote: ((cart: Cart) => Quoted) | undefined,
  free: Free,
): Quoted | { readonly cart: Cart } {
  const cart = chooseCart(choice, free)
  return quote && cart.length > 0 ? quote(cart) : { cart }
}

/** One part for each product or section, in the order of the first line of each. */
export const mergeParts = (parts: readonly CartPart[]): Cart =>
  [...Map.groupBy(parts, ({ product }) => product)].map(([product, same]): CartPart => {
    const quantity = same.reduce((units, part) => units + part.quantity, 0)
    const seats = seatsIn(same)
    return seats.length > 0 ? { product, quantity, seats } : { product, quantity }
  })

/** True if a cart asks for the seat by its name. */
export const isNamed =
  ({ wants }: CartChoice) =>
  (seat: number) =>
    wants.some((want) => isPart(want) && want.seats?.includes(seat))

/**
 * The single free seats that the seats named by a cart would leave behind. None if one of those is taken: the gate
 * says which.
 */
export function strandedBy({ chart, wants }: CartChoice, taken: Bits): readonly Seat[] {
  const free = new Free(chart, taken)
  const seats = chart.seatsAt(seatsIn(wants.filter(isPart)))
  return seats.every((seat) => free.isFree(seat)) ? stranded(chart, free, seats) : []
}

/** The sections whose seats a cart leaves to the system; null: any. */
export const wishedSections = ({ wants }: CartChoice): readonly string[] | null => {
  const sections = wants.flatMap((want) => (isWish(want) ? [want.wish.section ?? null] : []))
  return sections.includes(null) ? null : sections.filter((section) => section !== null)
}
