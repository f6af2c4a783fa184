/** Figures by the second: in all, and in the busiest one. */
export class PerSecond {
  readonly #seconds = new Map<number, number>()
  total = 0
  add(atMs: number, many: number): void {
    const second = Math.floor(atMs / 1000)
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + many)
    this.total += many
  }
  at(atMs: number): number {
    return this.#seconds.get(Math.floor(atMs / 1000)) ?? 0
  }
  get peak(): number {
    return Math.max(0, ...this.#seconds.values())
  }
  get values(): Iterable<number> {
    return this.#seconds.values()
  }
}
