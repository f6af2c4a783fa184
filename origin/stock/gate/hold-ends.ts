/** The ends of holds in the gate. */
import type { Reservation } from '../../ledger/record.ts'
import { type Units, unitsText } from '../cart.ts'
import type { Store } from '../scripts.ts'
import { type GateKeys, listed } from './gate-keys.ts'

export interface HoldEnd extends Units {
  readonly order: string
  readonly visitor: string
  readonly key: string
  /**
   * release: the units come back; unpaid: they do, and the order counts as failed; declined: the same from the visitor's second one on;
   * sell: they stay gone; refuse: they come back, the key is free again, the intent is gone.
   */
  readonly how: 'release' | 'unpaid' | 'declined' | 'sell' | 'refuse'
}

export const refused = ({ order, visitor, product, quantity, cart, key }: Reservation): HoldEnd => ({
  order,
  visitor,
  product,
  quantity,
  ...(cart && { cart }),
  key,
  how: 'refuse',
})

const argsOf = (end: HoldEnd) => [end.order, end.visitor, unitsText(end), end.quantity, end.key, end.how]

/** Ends holds, each once; returns how many it ended. `fence`: of the rebuild that ends them; none in a gate that is in use. */
export const settleHolds = (redis: Store, key: GateKeys, ends: readonly HoldEnd[], fence = ''): Promise<number> =>
  redis.settleHolds(listed(key), fence, ...ends.flatMap(argsOf))
