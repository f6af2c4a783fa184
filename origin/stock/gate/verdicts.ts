/** What the gate says to those who want units. */

import { assert, assertExists } from '../../../shared/lib/assert.ts'
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
  const [order, hash] = value.split('|')
  return { order: assertExists(order, KEYED), hash: assertExists(hash, KEYED) }
}
const KEYED = 'A known key has an order and a hash.'

/** The verdicts of reserve.lua whose detail follows the counters. */
const DETAILED = new Set(['replay', 'limit', 'product_limit', 'none_unpaid', 'none_of_cart', 'unpaid', 'seat_taken'])
/** The stock that counts for wishes that no seats fit: they name no product. */
const NOTHING_FITS: Stock = { available: 0, held: 0 }

/** The reply of reserve.lua. */
export function readVerdicts(
  [words, ...reply]: readonly (string | number)[],
  products: readonly string[],
  calls: readonly { readonly reservation: CheckoutReservation }[],
): GateVerdict[] {
  const stocks = new Map(
    products.map((product, i) => [product, { available: Number(reply[2 * i]), held: Number(reply[2 * i + 1]) }]),
  )
  const stockOf = (product: string) => assertExists(stocks.get(product), 'The gate counts each product of a batch.')
  const verdicts = String(words).split(' ')
  assert(verdicts.length === calls.length, 'The gate has one verdict for each call of a batch.')
  let next = 2 * products.length
  return calls.map(({ reservation }, i) => {
    const verdict = assertExists(verdicts[i], 'The gate has one verdict for each call of a batch.')
    const detail = DETAILED.has(verdict) ? assertExists(reply[next++], DETAIL) : ''
    const first = partsOf(reservation)[0]
    const stock = first ? stockOf(first.product) : NOTHING_FITS
    return readVerdict(verdict, String(detail), { reservation, products, stock, stockOf })
  })
}

interface Asked {
  readonly reservation: CheckoutReservation
  /** The products of the whole batch: a detail names one by its place, from 1. */
  readonly products: readonly string[]
  /** The stock of the call's first product. */
  readonly stock: Stock
  readonly stockOf: (product: string) => Stock
}

function readVerdict(verdict: string, detail: string, { reservation, products, stock, stockOf }: Asked): GateVerdict {
  const parts = detail.split('|')
  switch (verdict) {
    case 'reserved':
      return { verdict, ...stock, ...quotedOf(reservation) }
    case 'replay':
      return { verdict, ...readKnownKey(detail), ...stock }
    case 'limit':
      return { verdict, units: Number(parts[0]), order: assertExists(parts[1], DETAIL), ...stock }
    case 'product_limit': {
      const product = assertExists(products[Number(parts[0]) - 1], PLACED)
      return { verdict, product, units: Number(parts[1]), order: assertExists(parts[2], DETAIL) }
    }
    case 'none':
      return { verdict, ...stock }
    case 'none_unpaid':
      return { verdict: 'none', unpaid: Number(detail), ...stock }
    case 'none_of_cart': {
      const [place, unpaid] = [Number(parts[0]), Number(parts[1])]
      const product = place === 0 ? null : assertExists(products[place - 1], PLACED)
      const left = product === null ? NOTHING_FITS : stockOf(product)
      return { verdict: 'none', product, ...(unpaid > 0 && { unpaid }), ...left }
    }
    case 'unpaid':
      return { verdict, unpaid: Number(detail), ...stock }
    case 'seat_taken':
      return { verdict, seats: detail.split(',').map(Number) }
    case 'network_full':
    case 'fenced':
      return { verdict }
    default:
      assert(false, 'The gate has no verdict of another name.')
  }
}
const DETAIL = 'The gate explains each verdict that has a detail.'
const PLACED = 'The gate names products of the batch alone.'
