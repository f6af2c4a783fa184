/**
 * The data by sale that this process keeps in memory. Every map by sale is made here, and one loop (compose.ts)
 * deletes from all of them the entries of sales that are no longer read: those that ended long ago, and deleted ones.
 */
import { saleAndLineOf } from '../../shared/api/access.ts'

/** Values by sale, or by the name of a sale's queue. */
export class PerSale<Value> extends Map<string, Value> {
  getOrAdd(name: string, make: () => Value): Value {
    const found = this.get(name)
    if (found !== undefined) return found
    const value = make()
    this.set(name, value)
    return value
  }
}

export class SaleMemory {
  readonly #maps = new Map<string, PerSale<unknown>>()

  /** Creates a map under its own name. */
  map<Value>(name: string): PerSale<Value> {
    if (this.#maps.has(name)) throw new Error(`there are two maps of ${name}`)
    const map = new PerSale<Value>()
    this.#maps.set(name, map)
    return map
  }

  /** Deletes the entries of all other sales. */
  keepOnly(isKnown: (saleId: string) => boolean): void {
    for (const map of this.#maps.values())
      for (const name of map.keys()) if (!isKnown(saleAndLineOf(name).sale)) map.delete(name)
  }

  /** The number of sales and queues in each map. */
  sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#maps].map(([name, { size }]) => [name, size]))
  }
}
