/**
 * A map that forgets what was not used for long, in constant time however much it holds. Two generations: what is used
 * is in the young one; when that is half of `max`, it becomes the old one, and what the old one had is forgotten. So at
 * least half of `max` entries are remembered, and never more than `max`.
 *
 * (To delete the oldest key of a Map, as one would, takes as long as the keys deleted before it: 20 us with 50,000 keys,
 * on every call of a hot path, as long as the map is full.)
 */
export class Recent<Key, Value extends {}> {
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
