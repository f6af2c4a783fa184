/** The fast gates of this process, one per product. */

import { Gate } from './gate.ts'
import type { Store } from './scripts.ts'

export class Gates {
  readonly #redis: Store
  readonly #gates = new Map<string, Gate>()

  constructor(redis: Store) {
    this.#redis = redis
  }

  of(saleId: string, productId: string): Gate {
    const name = `${saleId}:${productId}`
    let gate = this.#gates.get(name)
    if (!gate) {
      gate = new Gate(this.#redis, saleId, productId)
      this.#gates.set(name, gate)
    }
    return gate
  }
}
