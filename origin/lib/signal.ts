/** Wakes one waiter. A notification while nobody waits ends the next wait at once. */
export class Signal {
  #notified = false
  #wake: (() => void) | undefined

  readonly notify = (): void => {
    this.#notified = true
    this.#wake?.()
  }

  /** Waits for a notification, `timeoutMs` at most; true if one came. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#notified) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    const notified = this.#notified
    this.#notified = false
    return notified
  }
}
