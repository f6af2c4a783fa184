/**
 * What this process keeps in memory of each sale. Every map by sale is made here, and one loop (compose.ts) deletes from all of them what
 * belongs to sales that are not read any more: those long over, and those that are deleted.
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

  /** A new map, which has a name of its own. */
  map<Value>(name: string): PerSale<Value> {
    if (this.#maps.has(name)) throw new Error(`there are two maps of ${name}`)
    const map = new PerSale<Value>()
    this.#maps.set(name, map)
    return map
  }

  /** Deletes what belongs to all other sales. */
  keepOnly(isKnown: (saleId: string) => boolean): void {
    for (const map of this.#maps.values())
      for (const name of map.keys()) if (!isKnown(saleAndLineOf(name).sale)) map.delete(name)
  }

  /** How many sales and queues each map has. */
  sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#maps].map(([name, { size }]) => [name, size]))
  }
}
