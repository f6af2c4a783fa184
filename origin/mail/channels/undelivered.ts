/**
 * Says why a message did not arrive. `failed` is tried again, but not within `retryAfterMs`. `refused` is not tried
 * again, and a recipient that is `gone` gets no further messages. `shown` is the part of the reason that may appear
 * in a log.
 */
export class Undelivered extends Error {
  override readonly name = 'Undelivered'
  readonly why: 'failed' | 'refused' | 'gone'
  readonly shown: object
  readonly retryAfterMs: number

  constructor(message: string, why: Undelivered['why'], shown: object = {}, retryAfterMs = 0) {
    super(message)
    this.why = why
    this.shown = shown
    this.retryAfterMs = retryAfterMs
  }
}
