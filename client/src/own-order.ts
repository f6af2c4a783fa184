/** A buyer's own order. */
import { eventsIn } from './event-stream.ts'
import { type Connection, call, pause, pauseMs, repeated, send } from './http.ts'
import { ProblemError } from './problems.ts'
import type { Order } from './types/buyers.ts'

/** In these an order is over for its buyer. The shop may still send it, or give its price back. */
const SETTLED: readonly string[] = [
  'confirmed',
  'fulfilled',
  'expired',
  'cancelled',
  'refunded',
] satisfies Order['status'][]
/** A stream that ended at once is opened again after this time. */
const AGAIN_MS = 1_000

/**
 * An order of one's own. Keep `id` and `token` to come back to it.
 *
 * @example
 * ```ts
 * import { FlashSale } from '@flash-sale/client'
 *
 * const order = new FlashSale('https://queue.shop.example').order('01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'eyJ...')
 * for await (const { status, payment } of order.follow()) {
 *   if (payment?.next_action) console.log('confirm the payment at', payment.next_action.url)
 *   console.log(status)
 * }
 * ```
 */
export class OwnOrder {
  readonly id: string
  /** The token of the order: it reads for 24 hours, and acts while the order can still change. */
  readonly token: string
  readonly #connection: Connection
  #current: Order | undefined

  /** @internal Orders come from `checkOut` and `FlashSale.order`. */
  constructor(connection: Connection, id: string, token: string, current?: Order) {
    this.#connection = connection
    this.id = id
    this.token = token
    this.#current = current
  }

  /** The order as it was last read; undefined before the first time. */
  get current(): Order | undefined {
    return this.#current
  }

  /**
   * The order as it is now.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const order = new FlashSale('https://queue.shop.example').order('01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'eyJ...')
   * const { status, total_minor, currency } = await order.read()
   * console.log(status, total_minor, currency)
   * ```
   */
  read({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Order> {
    return this.#act('GET', '', undefined, signal)
  }

  /**
   * Begins a payment. Whether it succeeds is said by `follow` or `settled`. Repeating it pays once.
   *
   * @param paymentMethod A method of the provider, such as `pm_...`.
   * @throws ProblemError `conflict` if the hold has ended or another payment goes on
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const turn = new FlashSale('https://queue.shop.example').turn('drop', 'eyJ...')
   * const order = await turn.checkOut({ product_id: 'red' })
   * await order.pay('pm_card_visa')
   * console.log((await order.settled()).status)
   * ```
   */
  pay(paymentMethod: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Order> {
    return this.#act('POST', '/payment', { payment_method: paymentMethod }, signal)
  }

  /**
   * Gives the order back while it is reserved, so that others can buy.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const turn = new FlashSale('https://queue.shop.example').turn('drop', 'eyJ...')
   * const order = await turn.checkOut({ product_id: 'red' })
   * await order.cancel()
   * ```
   */
  cancel({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Order> {
    return this.#act('DELETE', '', undefined, signal)
  }

  /**
   * The order now, and after each change, until it is settled. Reconnects when the stream ends.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const order = new FlashSale('https://queue.shop.example').order('01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'eyJ...')
   * const leave = new AbortController()
   * for await (const { status } of order.follow({ signal: leave.signal })) console.log(status)
   * ```
   */
  async *follow({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Order, void> {
    let seen = ''
    for (let failures = 0; ; ) {
      try {
        const headers = { accept: 'text/event-stream' }
        const stream = await send(this.#connection, 'GET', `/orders/${this.id}/events`, {
          token: this.token,
          headers,
          signal,
        })
        for await (const { event, data } of eventsIn(stream)) {
          if (event !== 'order') continue
          failures = 0
          const order = JSON.parse(data) as Order
          this.#current = order
          if (data !== seen) yield order
          seen = data
          if (SETTLED.includes(order.status)) return
        }
        await pause(AGAIN_MS, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ProblemError && error.status < 500 && error.type !== 'too-many-requests') throw error
        await pause(pauseMs(error, ++failures), signal)
      }
    }
  }

  /**
   * Waits until the order is paid, cancelled or expired. A declined payment does not settle it: pay again while the
   * hold lasts.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const order = new FlashSale('https://queue.shop.example').order('01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'eyJ...')
   * const { status, short_number } = await order.settled({ signal: AbortSignal.timeout(120_000) })
   * if (status === 'confirmed') console.log('yours:', short_number)
   * ```
   */
  async settled({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Order> {
    let last: Order | undefined
    for await (const order of this.follow(signal ? { signal } : {})) last = order
    if (!last) throw new Error('The stream of a settled order has the order.')
    return last
  }

  async #act(method: string, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Order> {
    const sent = { token: this.token, ...(body !== undefined && { body }), signal }
    const answer = await repeated(
      () => call<Order>(this.#connection, method, `/orders/${this.id}${path}`, sent),
      signal,
    )
    this.#current = answer.body
    return answer.body
  }
}
