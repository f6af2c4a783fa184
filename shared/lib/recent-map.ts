/**
 * A map of at most `max` entries that drops those used longest ago, in constant time. It has two generations: entries
 * in use are in the young one. When that has half of `max`, it becomes the old one, and the previous old one is
 * dropped. So at least the last half of `max` used entries are retained.
 *
 * Deleting the oldest key of a full Map would take 20 us with 50,000 keys on every call, because the Map skips all
 * deleted keys.
 */
export class RecentMap<Key, Value extends {}> {
  readonly #half: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(max: number) {
    this.#half = Math.ceil(max / 2)
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** Returns the value of a key. If there is none, it adds the result of `make`. */
  getOrAdd(key: Key, make: () => Value): Value {
    const found = this.get(key)
    if (found !== undefined) return found
    const value = make()
    this.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: Key): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
