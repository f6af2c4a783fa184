/** Errors that calls end with. */

/**
 * A problem (RFC 9457) that a call was answered with. Its `type` is stable: `sold-out`, `not-admitted`,
 * `invalid-fields` and so on, as the API reference lists for each call.
 *
 * @example
 * ```ts
 * import { FlashSale, ProblemError } from '@flash-sale/client'
 *
 * const shop = new FlashSale('https://queue.shop.example')
 * try {
 *   await shop.join('drop')
 * } catch (error) {
 *   if (error instanceof ProblemError && error.type === 'sold-out') console.log('too late')
 *   else throw error
 * }
 * ```
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** The last part of the problem's address, such as `sold-out`. */
  readonly type: string
  /** The HTTP status. */
  readonly status: number
  /** All fields of the problem, such as `errors`, `gone` or `sign_in_url`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Milliseconds after which the call may be made again; undefined if it should not be repeated as it is. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, fields: Readonly<Record<string, unknown>>, retryAfterMs?: number) {
    super(String(fields.detail ?? fields.title ?? `The server answered ${status}.`))
    this.type = String(fields.type ?? 'about:blank').replace(/^.*\/problems\//, '')
    this.status = status
    this.fields = fields
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The wait ended without a turn: `sold_out`, `ended`, or `missed_turn` (join again for a new place).
 *
 * @example
 * ```ts
 * import { type Place, WaitOver } from '@flash-sale/client'
 *
 * async function turnOf(place: Place) {
 *   try {
 *     return await place.wait()
 *   } catch (error) {
 *     if (error instanceof WaitOver) return null
 *     throw error
 *   }
 * }
 * ```
 */
export class WaitOver extends Error {
  override readonly name = 'WaitOver'
  readonly reason: 'sold_out' | 'ended' | 'missed_turn'

  constructor(reason: WaitOver['reason']) {
    super({ sold_out: 'Sold out.', ended: 'The sale has ended.', missed_turn: 'The turn has passed.' }[reason])
    this.reason = reason
  }
}
