/**
 * The units of an order that is more than some units of one product: its parts, one for each product or section, and
 * how they travel through Redis (scripts/units-of.lua) and are read back from an order of the ledger.
 */
import { assert } from '../../shared/lib/assert.ts'
import type { StoredLine } from './schema/orders.ts'

/**
 * Units of a product, places of a standing section, or seats of a section, by their place in the bitmap of taken
 * seats.
 */
export interface CartPart {
  readonly product: string
  readonly quantity: number
  readonly seats?: readonly number[]
}
export type Cart = readonly CartPart[]

/** What an order holds of the stock. */
export interface Units {
  /** The first one's, where there is a cart. */
  readonly product: string
  readonly quantity: number
  /** Null, or left out: units of `product`. */
  readonly cart?: Cart | null
}

/** Returns the units in the format that the scripts read: the product, or the parts of the cart. */
export const unitsText = ({ product, cart }: Units): string =>
  cart
    ? cart.map((part) => part.product + (part.seats ? `:${part.seats.join()}` : `=${part.quantity}`)).join(';')
    : product

const PART = '[^=:;\\s]+(?:=\\d+|:\\d+(?:,\\d+)*)'
/** What `unitsText` writes. */
export const UNITS_TEXT = new RegExp(`^(?:[^=:;\\s]+|${PART}(?:;${PART})*)$`)

/** The cart in a text of `unitsText`; null if it is a product. */
export function cartIn(text: string): Cart | null {
  if (!/[=:]/.test(text)) return null
  return text.split(';').map((part): CartPart => {
    const [, product, seats, quantity] = /^([^=:]+)(?::([\d,]+)|=(\d+))$/.exec(part) ?? []
    assert(product !== undefined, 'A stored cart names products with seats or a quantity.')
    if (seats === undefined) return { product, quantity: Number(quantity) }
    const indexes = seats.split(',').map(Number)
    return { product, quantity: indexes.length, seats: indexes }
  })
}

/** The parts of stored lines, as far as they are not returned; null where an order has no lines stored. */
export function cartOf(lines: readonly StoredLine[] | null | undefined): Cart | null {
  if (!lines) return null
  const byProduct = Map.groupBy(
    lines.filter((one) => !one.returned),
    ({ product }) => product,
  )
  return [...byProduct].map(([product, parts]): CartPart => {
    const quantity = parts.reduce((units, part) => units + part.quantity, 0)
    const seats = parts.map(({ seat }) => seat).filter((seat) => seat !== undefined)
    return seats.length > 0 ? { product, quantity, seats } : { product, quantity }
  })
}

/** The lines that parts are stored as: one for each seat. */
export const unitLines = (parts: Cart) =>
  parts.flatMap(({ product, quantity, seats }): { product: string; quantity: number; seat: number | null }[] =>
    seats ? seats.map((seat) => ({ product, quantity: 1, seat })) : [{ product, quantity, seat: null }],
  )

/** The use of a promo code as a part of a cart. No product has such a name. */
export const usePromoCode = (code: string): CartPart => ({ product: `%${code}`, quantity: 1 })
export const isPromoCode = (product: string) => product.startsWith('%')

/** The seats of parts; units of products and standing places have none. */
export const seatsIn = (parts: readonly CartPart[]): number[] => parts.flatMap(({ seats = [] }) => seats)

/** Everything an order holds, by product. */
export const partsOf = ({ product, quantity, cart }: Units): Cart => cart ?? [{ product, quantity }]
