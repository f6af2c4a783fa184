/** The entry: a shop's edge, by its address. */
import { type Connection, call, repeated } from './http.ts'
import { OwnOrder } from './own-order.ts'
import { Place } from './place.ts'
import { ProblemError } from './problems.ts'
import { type Challenge, solve } from './proof-of-work.ts'
import { Turn } from './turn.ts'
import type { JoinRequest, PublicSale, QueueAnswer } from './types/buyers.ts'

/** A proof that has expired, or costs more by now, is made again so often. */
const MAX_PROOFS = 3

export interface FlashSaleOptions {
  /** The session of the shop (a JWT) with which a signed-in visitor joins. */
  readonly session?: string
  /** The `fetch` that makes all calls; the runtime's own if left out. */
  readonly fetch?: typeof fetch
}

/**
 * The sales of a shop, at the address of its edge. Safe to share: it keeps no state.
 *
 * @example
 * ```ts
 * import { FlashSale } from '@flash-sale/client'
 *
 * const shop = new FlashSale('https://queue.shop.example')
 * const place = await shop.join('drop')
 * const turn = await place.wait()
 * const order = await turn.checkOut({ lines: [{ product_id: 'red', quantity: 1 }] })
 * await order.pay('pm_ok')
 * console.log((await order.settled()).status)
 * ```
 */
export class FlashSale {
  readonly #connection: Connection

  constructor(url: string | URL, { session, fetch: ownFetch = fetch }: FlashSaleOptions = {}) {
    this.#connection = {
      url: String(url).replace(/\/$/, ''),
      // Browsers and Workers refuse a `fetch` that is called on another object.
      fetch: (...request) => ownFetch(...request),
      headers: session === undefined ? {} : { 'x-shop-authorization': `Bearer ${session}` },
    }
  }

  /**
   * The public data of a sale: its phase, products and times.
   *
   * @throws ProblemError `unknown-sale`
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const { phase, opens_at } = await new FlashSale('https://queue.shop.example').sale('drop')
   * console.log(phase, new Date(opens_at))
   * ```
   */
  async sale(sale: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<PublicSale> {
    const path = `/sales/${encodeURIComponent(sale)}`
    return (await repeated(() => call<PublicSale>(this.#connection, 'GET', path, { signal }), signal)).body
  }

  /**
   * Joins the line, or the lobby before the opening. A proof of work that the sale asks for is solved here, which
   * takes a processor about half a second.
   *
   * @param asked What the sale asks for: a line, an invitation, where the visitor came from.
   * @throws ProblemError `sold-out`, `ended`, `sign-in-required` (with `sign_in_url`), `invitation-required`, `refused`
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const shop = new FlashSale('https://queue.shop.example')
   * const place = await shop.join('drop', { invitation: 'friend-of-the-house', source: { utm_source: 'app' } })
   * // Kept by the app, it finds the place again after a restart: shop.resume('drop', token).
   * const token = place.token
   * console.log(place.number, token)
   * ```
   */
  async join(
    sale: string,
    asked: JoinRequest = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Place> {
    const path = `/sales/${encodeURIComponent(sale)}`
    let body = asked
    for (let proofs = 0; ; proofs++) {
      try {
        const joined = await repeated(
          () => call<QueueAnswer>(this.#connection, 'POST', `${path}/queue`, { body, signal }),
          signal,
        )
        return new Place(this.#connection, sale, joined.body.queue_token ?? '', joined.body)
      } catch (error) {
        const isPriced =
          error instanceof ProblemError && error.type === 'proof-required' && error.fields.kind === 'altcha'
        if (!isPriced || proofs === MAX_PROOFS) throw error
        const query = asked.line === undefined ? '' : `?line=${encodeURIComponent(asked.line)}`
        const { body: challenge } = await repeated(
          () => call<Challenge>(this.#connection, 'GET', `${path}/challenge${query}`, { signal }),
          signal,
        )
        body = { ...asked, altcha: await solve(challenge, signal) }
      }
    }
  }

  /**
   * The place of a token that was kept (`place.token`). Nothing is called yet.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const place = new FlashSale('https://queue.shop.example').resume('drop', 'eyJhbGciOiJIUzI1NiJ9...')
   * const { status, position_in_queue } = await place.status()
   * console.log(status, position_in_queue)
   * ```
   */
  resume(sale: string, token: string): Place {
    return new Place(this.#connection, sale, token)
  }

  /**
   * The turn of an admission token that was kept (`turn.token`), such as one that a site before the shop received.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const turn = new FlashSale('https://queue.shop.example').turn('drop', 'eyJhbGciOiJFZERTQSJ9...')
   * const order = await turn.checkOut({ product_id: 'red' })
   * console.log(order.id)
   * ```
   */
  turn(sale: string, token: string): Turn {
    return new Turn(this.#connection, sale, token)
  }

  /**
   * An order by its id and its token (`order.token`), which reads it for 24 hours.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const shop = new FlashSale('https://queue.shop.example')
   * const order = shop.order('01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'eyJhbGciOiJIUzI1NiJ9...')
   * console.log((await order.read()).status)
   * ```
   */
  order(id: string, token: string): OwnOrder {
    return new OwnOrder(this.#connection, id, token)
  }
}
