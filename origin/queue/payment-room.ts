/**
 * How many people may be inside a sale while payments are limited (PAYMENTS_PER_SECOND): nobody is called whose
 * charge could not be tried before their hold ends. It is one more bound on `max_inside`, which the edge keeps. And
 * whether anybody can pay at all: while the provider is away, whoever is called can only let their hold end.
 */

import type { SaleRow } from '../ledger/sale-row.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { chargesWaiting } from '../payments/call-budget.ts'
import type { Gates } from '../stock/gate/gate.ts'
import type { Store } from '../stock/scripts.ts'

/** The rest of a hold is for its buyer, to enter a card. */
const WAIT_SHARE = 1 / 2
const REDIS_TIMEOUT_MS = 300

/**
 * The most units held, people who wait for stock and people on their way, together, as `max_inside` counts them. An
 * open order is one charge, whatever its units. `waiting`: charges of all sales that wait; the sale's own count
 * twice, on the safe side.
 */
export function mostInside(of: {
  readonly perSecond: number
  readonly holdSeconds: number
  readonly waiting: number
  readonly unitsHeld: number
  readonly openOrders: number
}): number {
  const inTime = Math.floor(of.perSecond * of.holdSeconds * WAIT_SHARE)
  return Math.max(0, inTime - of.waiting - of.openOrders + of.unitsHeld)
}

interface PaymentRoomDeps {
  /** Null: payments are not limited. */
  readonly perSecond: number | null
  readonly account: string
  readonly redis: Pick<Store, 'get'>
  readonly gates: Pick<Gates, 'of'>
  /** True if no worker gets an answer from the provider; throws if that is unknown. */
  readonly isProviderAway: () => Promise<boolean>
}

const isFree = ({ products }: SaleRow) => products.every((product) => product.unit_price_minor === 0)

export class PaymentRoom {
  readonly #deps: PaymentRoomDeps
  constructor(deps: PaymentRoomDeps) {
    this.#deps = deps
  }

  /** `max_inside` of a sale with this bound; null where nothing bounds it. */
  async bound(sale: SaleRow): Promise<number | null> {
    const { sale_id, hold_seconds: holdSeconds, max_inside, products } = sale
    const { perSecond, account, redis, gates } = this.#deps
    if (perSecond === null || isFree(sale)) return max_inside
    const unitsHeld = products.reduce((units, product) => units + product.held, 0)
    // While Redis is away, each held unit counts as an order, and no charge counts as waiting.
    const unknown = [0, unitsHeld] as const
    const counts = Promise.all([chargesWaiting(redis, account), gates.of(sale_id).countHolds()])
    const [waiting, openOrders] = await withTimeout(counts, REDIS_TIMEOUT_MS).catch(() => unknown)
    const payable = mostInside({ perSecond, holdSeconds, waiting, unitsHeld, openOrders })
    return max_inside === null ? payable : Math.min(max_inside, payable)
  }

  /** True while those who are called could not pay. */
  async isClosed(sale: SaleRow): Promise<boolean> {
    return !isFree(sale) && (await this.#deps.isProviderAway().catch(() => false))
  }
}
