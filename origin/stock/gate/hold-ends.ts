/** The ends of holds in the gate. */

import { isSold } from '../../../shared/api/order-status.ts'
import { cartOf, type Units, unitsText } from '../../ledger/cart.ts'
import { kindOf, type OrderRow } from '../../ledger/order-statements.ts'
import type { Reservation } from '../../ledger/record.ts'
import type { Store } from '../scripts.ts'
import { type GateKeys, keyList } from './gate-keys.ts'

export interface HoldEnd extends Units {
  readonly order: string
  readonly visitor: string
  readonly key: string
  /**
   * release: the units come back; unpaid: they do, and the order counts as failed; declined: the same from the
   * visitor's second one on; sell: they stay gone; refuse: they come back, the key is free again, the intent is gone,
   * since the ledger has noted the refusal.
   */
  readonly how: 'release' | 'unpaid' | 'declined' | 'sell' | 'refuse'
}

/**
 * What became of an intent that was to be given back; where it was not, its state (intents.ts), or that it was gone
 * already.
 */
export type GivenBack = 'given back' | 'promised' | 'taken' | 'gone'

export const refused = ({ order, visitor, product, quantity, cart, key }: Reservation): HoldEnd => ({
  order,
  visitor,
  product,
  quantity,
  ...(cart && { cart }),
  key,
  how: 'refuse',
})

const argsOf = (end: Omit<HoldEnd, 'how'>, how: string) => [
  end.order,
  end.visitor,
  unitsText(end),
  end.quantity,
  end.key,
  how,
]

/** Ends holds, each once; returns how many it ended. */
export async function settleHolds(redis: Store, key: GateKeys, ends: readonly HoldEnd[]): Promise<number> {
  const [ended] = await redis.settleHolds(keyList(key), ...ends.flatMap((end) => argsOf(end, end.how)))
  return ended
}

/** Gives back units that were reserved, unless somebody else knows of the intent. */
export async function giveBack(redis: Store, key: GateKeys, reservation: Reservation): Promise<GivenBack> {
  const [, became] = await redis.settleHolds(keyList(key), ...argsOf(reservation, 'give back'))
  return became as GivenBack
}

/** What the gate does with the hold of an order that has ended. */
export const holdEnd = (order: OrderRow): HoldEnd => ({
  order: order.order_id,
  visitor: order.visitor,
  product: order.product_id,
  quantity: order.quantity,
  cart: cartOf(order.cart),
  key: order.idempotency_key,
  how: endOf(order),
})

/**
 * Others come before a visitor with unpaid orders; not for those that an operator or the provider ended, nor for the
 * first one that was declined: a card's decline is no squatter's order. As in record_reservations
 * (origin/ledger/functions/).
 */
function endOf({ status, reason }: OrderRow): HoldEnd['how'] {
  if (isSold(status)) return 'sell'
  const kind = reason === null ? null : kindOf(reason)
  if (kind === 'declined') return 'declined'
  return status === 'expired' || kind === 'given_back' || kind === 'not_authenticated' ? 'unpaid' : 'release'
}
