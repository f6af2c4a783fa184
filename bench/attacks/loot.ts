/** What an attack got. */
import { isSold } from '../../shared/order-status.ts'
import type { Gains, LedgerOrder } from '../invariants/evidence.ts'

export class Loot {
  readonly numbers = new Set<number>()
  readonly orders = new Set<string>()
  readonly refusals = new Map<string, number>()
  calls = 0
  admissions = 0
  /** From when until when each order was held and not paid for. */
  readonly #holds = new Map<string, { readonly fromMs: number; toMs: number }>()

  /** Several bots may hold the one order of their account. */
  hold(order: string, fromMs: number, toMs: number): void {
    const hold = this.#holds.get(order) ?? { fromMs, toMs }
    hold.toMs = Math.max(hold.toMs, toMs)
    this.#holds.set(order, hold)
  }

  heldMs(): number {
    return [...this.#holds.values()].reduce((all, { fromMs, toMs }) => all + toMs - fromMs, 0)
  }
}

export function gainsOf(
  attack: string,
  bots: number,
  loot: Loot,
  ledger: readonly LedgerOrder[],
  lastedMs: number,
): Gains {
  const { numbers, orders, refusals, calls, admissions } = loot
  const sold = ledger.filter((order) => orders.has(order.order_id) && isSold(order.status))
  return {
    attack,
    bots,
    calls,
    admissions,
    places: numbers.size,
    bought: sold.reduce((units, { quantity }) => units + quantity, 0),
    held: lastedMs > 0 ? loot.heldMs() / lastedMs : 0,
    refusals: [...refusals].sort((a, b) => b[1] - a[1]),
  }
}
