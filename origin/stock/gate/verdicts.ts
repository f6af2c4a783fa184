/** What the gate says to those who want units. */

import type { Problem } from '../../../shared/problem.ts'
import { partsOf } from '../../ledger/cart.ts'
import type { Quoted } from '../../ledger/record.ts'
import type { CheckoutReservation } from '../../seats/cart-choice.ts'

export interface Stock {
  readonly available: number
  readonly held: number
}

export interface KnownKey {
  readonly order: string
  readonly hash: string
}

export type GateVerdict =
  /** With the seats that were chosen for it, and what they cost. */
  | ({ readonly verdict: 'reserved' } & Quoted & Stock)
  | ({ readonly verdict: 'replay' } & KnownKey & Stock)
  /** How many units of the sale the visitor has, and their latest order. */
  | ({ readonly verdict: 'limit'; readonly units: number; readonly order: string } & Stock)
  /** unpaid: how many unpaid orders the visitor has, if any. */
  /** product: the one of a cart of which too few are left; null if no seats fit its wishes. */
  | ({ readonly verdict: 'none'; readonly unpaid?: number; readonly product?: string | null } & Stock)
  /** Seats of the cart that somebody else has, or that are blocked. */
  | { readonly verdict: 'seat_taken'; readonly seats: readonly number[] }
  /** How many units of a product the visitor has, of which they may have no more. */
  | { readonly verdict: 'product_limit'; readonly product: string; readonly units: number; readonly order: string }
  /** The seats chosen for it cannot be sold at their price, and were not taken. */
  | { readonly verdict: 'priced_out'; readonly problem: Problem }
  /** Others want the remaining units, and come first: so many earlier orders of the visitor failed. */
  | ({ readonly verdict: 'unpaid'; readonly unpaid: number } & Stock)
  /** The networks of the visitor hold as many units unpaid as they may. */
  | { readonly verdict: 'network_full' }
  | { readonly verdict: 'fenced' }
  /** The script was sent, and no reply came: a unit may have been taken, and its intent may wait to be recorded. */
  | { readonly verdict: 'unknown' }

export const quotedOf = ({ cart, charge }: Quoted): Quoted => ({ ...(cart && { cart }), ...(charge && { charge }) })

/** A key's value: see reserve.lua. */
export function readKnownKey(value: string): KnownKey {
  const [order = '', hash = ''] = value.split('|')
  return { order, hash }
}

/** The reply of reserve.lua. */
export function readVerdicts(
  [letters, ...reply]: readonly (string | number)[],
  products: readonly string[],
  calls: readonly { readonly reservation: CheckoutReservation }[],
): GateVerdict[] {
  const stocks = new Map(
    products.map((product, i) => [product, { available: Number(reply[2 * i]), held: Number(reply[2 * i + 1]) }]),
  )
  let next = 2 * products.length
  return Array.from(String(letters), (letter, i): GateVerdict => {
    if (letter === 'f') return { verdict: 'fenced' }
    const { reservation } = calls[i] as (typeof calls)[number]
    const stockOf = (product: string) => stocks.get(product) ?? { available: 0, held: 0 }
    const { available, held } = stockOf(partsOf(reservation)[0]?.product ?? '')
    if (letter === 'r') return { verdict: 'reserved', available, held, ...quotedOf(reservation) }
    if (letter === 'w') return { verdict: 'network_full' }
    if (letter === 'n') return { verdict: 'none', available, held }
    const detail = String(reply[next++])
    if (letter === 'u') return { verdict: 'unpaid', unpaid: Number(detail), available, held }
    if (letter === 'e') return { verdict: 'none', unpaid: Number(detail), available, held }
    if (letter === 'k') return { verdict: 'replay', ...readKnownKey(detail), available, held }
    if (letter === 's') return { verdict: 'seat_taken', seats: detail.split(',').map(Number) }
    if (letter === 'm') {
      const [place, unpaid] = detail.split('|').map(Number)
      const product = products[(place ?? 0) - 1] ?? null
      return { verdict: 'none', product, ...(unpaid && { unpaid }), ...stockOf(product ?? '') }
    }
    if (letter === 'o') {
      const [place, units, order = ''] = detail.split('|')
      return { verdict: 'product_limit', product: products[Number(place) - 1] ?? '', units: Number(units), order }
    }
    const [units, order = ''] = detail.split('|')
    return { verdict: 'limit', units: Number(units), order, available, held }
  })
}
