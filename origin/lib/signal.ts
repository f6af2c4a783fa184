/** Wakes one sleeper; a ring while nobody sleeps is heard by the next to lie down. */
export class Alarm {
  #rung = false
  #wake: (() => void) | undefined

  readonly ring = (): void => {
    this.#rung = true
    this.#wake?.()
  }

  /** Sleeps until it rings, or for so long; true if it did not ring. */
  async rings(withinMs: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    const quiet = !this.#rung
    this.#rung = false
    return quiet
  }
}
