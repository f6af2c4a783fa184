/**
 * Tells whether a store accepts writes, from the results of the last ones: a server without memory, disk or a primary
 * still answers pings and reads. A refusal counts until one of our writes is accepted, which is tried within a second
 * (`retry`). Pure.
 */

/**
 * Refusals of Postgres by SQLSTATE (read-only, out of a resource), and of Redis by the text of the error, also inside
 * the error of a script.
 */
const REFUSED = {
  code: /^(25006|53)/,
  message: /\b(OOM command not allowed|MISCONF |READONLY |NOREPLICAS )/,
}

type StoreError = Error & { readonly code?: string }

export const isRefusedWrite = ({ code, message }: StoreError) =>
  REFUSED.code.test(code ?? '') || REFUSED.message.test(message)

export class Writes {
  #refusal: StoreError | null = null

  /** Takes note of an error of any statement or command; most are no refusal. */
  heard(error: unknown): void {
    if (error instanceof Error && isRefusedWrite(error)) this.#refusal = error
  }

  /** The latest refusal; null while the store takes writes, as far as is known. */
  get refusal(): StoreError | null {
    return this.#refusal
  }

  /** Tries a write if the last one was refused. */
  async retry(write: (refusal: StoreError) => Promise<unknown>): Promise<void> {
    const refusal = this.#refusal
    if (!refusal) return
    await write(refusal)
    // What was refused meanwhile counts on.
    if (this.#refusal === refusal) this.#refusal = null
  }

  /** The same promise, or the refusal: for a ping, which a store that takes no writes answers. */
  async require<T>(ping: () => Promise<T>): Promise<T> {
    if (this.#refusal) throw this.#refusal
    return ping()
  }
}
