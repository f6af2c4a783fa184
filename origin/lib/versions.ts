/** A value as it was read last. */
export interface Version<T> {
  readonly version: number
  readonly value: Promise<T>
}

/** Values of sales in memory, each read once for each of its versions. */
export class Versions<T> {
  readonly #max: number
  readonly #read: (saleId: string) => Promise<T>
  readonly #known: Map<string, Version<T>>

  /** Keeps `max` sales in `known` and drops the one that was used longest ago. */
  constructor(known: Map<string, Version<T>>, max: number, read: (saleId: string) => Promise<T>) {
    this.#known = known
    this.#max = max
    this.#read = read
  }

  /** Fails as `read` does. */
  async of(saleId: string, version: number): Promise<T> {
    const known = this.#known.get(saleId)
    this.#known.delete(saleId)
    const value = known?.version === version ? known.value : this.#read(saleId)
    this.#known.set(saleId, { version, value })
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > this.#max) this.#known.delete(oldest)
    try {
      return await value
    } catch (error) {
      if (this.#known.get(saleId)?.value === value) this.#known.delete(saleId)
      throw error
    }
  }
}
