/** A visitor's turn: the right to check out, for a while. */
import { type Connection, call, repeated } from './http.ts'
import { OwnOrder } from './own-order.ts'
import type { CheckoutRequest, Order } from './types/buyers.ts'

/**
 * A turn that was claimed. It lasts for minutes, and one order may take its hold from it.
 *
 * @example
 * ```ts
 * import { FlashSale } from '@flash-sale/client'
 *
 * const place = await new FlashSale('https://queue.shop.example').join('drop')
 * const turn = await place.wait()
 * const order = await turn.checkOut({ lines: [{ product_id: 'red', quantity: 2 }], payment_method: 'pm_ok' })
 * console.log(order.current?.reserved_until)
 * ```
 */
export class Turn {
  readonly sale: string
  /** The admission token. */
  readonly token: string
  /** When the turn ends; undefined for one that was resumed. */
  readonly expiresAt: Date | undefined
  readonly #connection: Connection

  /** @internal Turns come from `wait` and `FlashSale.turn`. */
  constructor(connection: Connection, sale: string, token: string, expiresAt?: string) {
    this.#connection = connection
    this.sale = sale
    this.token = token
    this.expiresAt = expiresAt === undefined ? undefined : new Date(expiresAt)
  }

  /**
   * Reserves all lines or none, and pays if a payment method is sent. A call whose answer was lost is repeated with the
   * same key, so that it makes one order.
   *
   * @param key The Idempotency-Key. Send one that you keep to repeat a checkout after a restart.
   * @throws ProblemError `all-in-carts` (retry later), `sold-out`, `seat-taken` (with `offer`), `price-changed`,
   *   `invalid-fields` (with `errors`), `not-admitted` (the turn is over)
   *
   * @example
   * ```ts
   * import { FlashSale, ProblemError } from '@flash-sale/client'
   *
   * const turn = new FlashSale('https://queue.shop.example').turn('drop', 'eyJhbGciOiJFZERTQSJ9...')
   * try {
   *   const order = await turn.checkOut({ lines: [{ section_id: 'stalls', seats: ['A-101'] }] })
   *   console.log(order.id, order.token)
   * } catch (error) {
   *   if (error instanceof ProblemError && error.type === 'seat-taken') console.log(error.fields.offer)
   * }
   * ```
   */
  async checkOut(
    cart: CheckoutRequest,
    { key = crypto.randomUUID(), signal }: { readonly key?: string; readonly signal?: AbortSignal } = {},
  ): Promise<OwnOrder> {
    const path = `/sales/${encodeURIComponent(this.sale)}/checkout`
    const sent = { token: this.token, headers: { 'idempotency-key': key }, body: cart, signal }
    const { body } = await repeated(() => call<Order>(this.#connection, 'POST', path, sent), signal)
    return new OwnOrder(this.#connection, body.order_id, body.order_token ?? this.token, body)
  }
}
