/** Values of sales in memory, each read once for each of its versions. */
export class Versions<T> {
  readonly #max: number
  readonly #read: (saleId: string) => Promise<T>
  readonly #known = new Map<string, { readonly version: number; readonly value: Promise<T> }>()

  /** Of `max` sales, the one used last stays longest. */
  constructor(max: number, read: (saleId: string) => Promise<T>) {
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
