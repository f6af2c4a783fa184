/** Wakes one waiter. A notification while nobody waits ends the next wait at once. */
export class Signal {
  #notified = false
  #wake = () => {}

  readonly notify = (): void => {
    this.#notified = true
    this.#wake()
  }

  /** Waits for a notification, `timeoutMs` at most; true if one came. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#notified) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      // No error at the end, which most waits reach: its stack costs more than the wait.
      const timer = setTimeout(resolve, timeoutMs)
      await promise
      clearTimeout(timer)
    }
    const notified = this.#notified
    this.#notified = false
    return notified
  }
}
