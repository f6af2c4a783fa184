/** The rebuild of a gate. */
import { cartOf, unitsText } from '../../ledger/cart.ts'
import type { RestoredOrder } from '../reconciliation-queries.ts'
import type { Store } from '../scripts.ts'
import { type GateKeys, keyList } from './gate-keys.ts'
import type { Stock } from './verdicts.ts'

/** Orders restored, or ended, in one call. */
const REBUILD_CHUNK = 500

/** In place of the end of a hold: the order has none, for it is sold, or has ended. */
const [SOLD, ENDED] = ['', 'ended']

interface ProductStock extends Stock {
  readonly product: string
  /** The version of the product's row. */
  readonly version?: number
}

/**
 * The rebuild of a gate from the ledger as it is at one moment, while the gate is fenced. What happens to orders and
 * seats meanwhile is noted in the gate; the notes that this moment does not include are counted as it opens.
 * Overtaken by another's fence, a rebuild changes nothing any more.
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

  async restore(orders: readonly RestoredOrder[]): Promise<void> {
    const { stock, holds, keys, visitors, seats, limited, claims } = this.#key
    for (let at = 0; at < orders.length; at += REBUILD_CHUNK) {
      const chunk = orders.slice(at, at + REBUILD_CHUNK)
      const args = chunk.flatMap((o) => {
        const cart = cartOf(o.lines)
        const units = cart ? unitsText({ product: '', quantity: 0, cart }) : ''
        const ends = o.hasEnded ? ENDED : (o.holdEndsAtMs ?? SOLD)
        return [o.order, o.visitor, o.key, o.hash, o.quantity, ends, units]
      })
      await this.#redis.restoreOrders(stock, holds, keys, visitors, seats, limited, claims, this.#fence, ...args)
    }
  }

  /** Marks the seats that operators block. */
  async block(blocked: readonly number[]): Promise<void> {
    const { stock, seats, claims } = this.#key
    for (let at = 0; at < blocked.length; at += REBUILD_CHUNK)
      await this.#redis.blockSeats(stock, seats, claims, this.#fence, ...blocked.slice(at, at + REBUILD_CHUNK))
  }

  /**
   * Opens the gate with the ledger's counts of the moment at which the orders were read; false if another rebuild has
   * begun.
   */
  async open(counts: readonly ProductStock[]): Promise<boolean> {
    await this.#endAgain()
    const { stock, seats, claims, limited } = this.#key
    const args = counts.flatMap(({ product, available, held, version = 0 }) => [product, available, held, version])
    return (await this.#redis.unfenceGate(stock, seats, claims, limited, this.#fence, ...args)) === 1
  }

  /** Ends the holds whose end was noted before they were restored. */
  async #endAgain(): Promise<void> {
    const notes = Object.entries(await this.#redis.hgetall(this.#key.stock))
    const over = notes.filter(([field]) => field.startsWith('over ')).map(([, note]) => JSON.parse(note) as string[])
    for (let at = 0; at < over.length; at += REBUILD_CHUNK)
      await this.#redis.settleHolds(keyList(this.#key), ...over.slice(at, at + REBUILD_CHUNK).flat())
  }
}
