import { withTimeout } from './with-timeout.ts'

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
      await withTimeout(promise, timeoutMs).catch(() => {})
    }
    const notified = this.#notified
    this.#notified = false
    return notified
  }
}
