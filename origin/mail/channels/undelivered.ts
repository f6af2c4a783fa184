/**
 * Why a message did not arrive: `failed` is tried again, `refused` is not, and whose recipient is `gone` gets no other one. `shown`:
 * what of it may be in a log.
 */
export class Undelivered extends Error {
  override readonly name = 'Undelivered'
  readonly why: 'failed' | 'refused' | 'gone'
  readonly shown: object

  constructor(message: string, why: Undelivered['why'], shown: object = {}) {
    super(message)
    this.why = why
    this.shown = shown
  }
}
