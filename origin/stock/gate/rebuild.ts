/** The rebuild of a gate. */
import { cartOf, unitsText } from '../cart.ts'
import type { LiveOrder } from '../reconciliation-queries.ts'
import type { Store } from '../scripts.ts'
import type { GateKeys } from './gate-keys.ts'
import { type HoldEnd, settleHolds } from './hold-ends.ts'
import type { Stock } from './verdicts.ts'

/** Orders restored, or ended, in one call. */
const REBUILD_CHUNK = 500

interface ProductStock extends Stock {
  readonly product: string
}

/**
 * The rebuild of a gate from the ledger, while it is fenced. Orders that begin and end meanwhile are noted in the gate, and
 * `open` counts the notes that the ledger's counts do not include. Overtaken by another's fence, it changes nothing any more.
 */
export class Rebuild {
  readonly #redis: Store
  readonly #key: GateKeys
  readonly #fence: string

  constructor(redis: Store, key: GateKeys, fence: string) {
    this.#redis = redis
    this.#key = key
    this.#fence = fence
  }

  async restore(orders: readonly LiveOrder[]): Promise<void> {
    const { stock, holds, keys, visitors, seats, limited } = this.#key
    for (let at = 0; at < orders.length; at += REBUILD_CHUNK) {
      const chunk = orders.slice(at, at + REBUILD_CHUNK)
      const args = chunk.flatMap((o) => {
        const cart = cartOf(o.lines)
        const units = cart ? unitsText({ product: '', quantity: 0, cart }) : ''
        return [o.order, o.visitor, o.key, o.hash, o.quantity, o.holdEndsAtMs ?? '', units]
      })
      await this.#redis.restoreOrders(stock, holds, keys, visitors, seats, limited, this.#fence, ...args)
    }
  }

  /**
   * Ends the holds of orders that ended after they were read to be restored and before the counts were read. Orders that
   * end later are counted by their own calls, before the gate opens or after.
   */
  async settle(ends: readonly HoldEnd[]): Promise<void> {
    for (let at = 0; at < ends.length; at += REBUILD_CHUNK) {
      await settleHolds(this.#redis, this.#key, ends.slice(at, at + REBUILD_CHUNK), this.#fence)
    }
  }

  /** Marks the seats that operators block. */
  async block(seats: readonly number[]): Promise<void> {
    for (let at = 0; at < seats.length; at += REBUILD_CHUNK) {
      const commands = this.#redis.multi()
      for (const seat of seats.slice(at, at + REBUILD_CHUNK)) commands.setbit(this.#key.seats, seat, 1)
      await commands.exec()
    }
  }

  /** Opens the gate with the ledger's counts; false if another rebuild has begun. */
  async open(counts: readonly ProductStock[]): Promise<boolean> {
    const args = counts.flatMap(({ product, available, held }) => [product, available, held])
    return (await this.#redis.unfenceGate(this.#key.stock, this.#fence, ...args)) === 1
  }
}
