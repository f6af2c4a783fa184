import { machine, type Runtime } from './runtime.ts'

/** Wakes one waiter. A notification while nobody waits ends the next wait at once. */
export class Signal {
  readonly #runtime: Runtime
  #notified = false
  #wake = () => {}

  constructor(runtime = machine) {
    this.#runtime = runtime
  }

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
      const cancel = this.#runtime.after(timeoutMs, resolve)
      await promise
      cancel()
    }
    const notified = this.#notified
    this.#notified = false
    return notified
  }
}
