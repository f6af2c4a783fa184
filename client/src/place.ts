/** A visitor's place in a line. */
import { type Connection, call, pause, pauseMs, repeated } from './http.ts'
import { ProblemError, WaitOver } from './problems.ts'
import { Turn } from './turn.ts'
import type { QueueAnswer } from './types/buyers.ts'

const OVER: readonly string[] = ['sold_out', 'ended', 'missed_turn'] satisfies WaitOver['reason'][]
/** A status is not read more often, whatever the answer before says. */
const MIN_POLL_MS = 100

export interface WaitOptions {
  /** Ends the wait; the place stays. */
  readonly signal?: AbortSignal
  /** Called with each status, for a page or an app that shows it. */
  readonly onStatus?: (status: QueueAnswer) => void
}

/**
 * A place in the line of a sale. The number never changes, and the place stays while nobody asks.
 *
 * @example
 * ```ts
 * import { FlashSale } from '@flash-sale/client'
 *
 * const place = await new FlashSale('https://queue.shop.example').join('drop')
 * const turn = await place.wait({
 *   signal: AbortSignal.timeout(30 * 60_000),
 *   onStatus: ({ position_in_queue, estimated_wait_time }) => console.log(position_in_queue, estimated_wait_time),
 * })
 * console.log(turn.expiresAt)
 * ```
 */
export class Place {
  readonly sale: string
  readonly #connection: Connection
  #token: string
  #last: QueueAnswer | undefined

  /** @internal Places come from `join` and `resume`. */
  constructor(connection: Connection, sale: string, token: string, last?: QueueAnswer) {
    this.#connection = connection
    this.sale = sale
    this.#token = token
    this.#last = last
  }

  /** The token of the place. Keep the latest one to find the place again: a status may renew it. */
  get token(): string {
    return this.#token
  }

  /** The number of the place; undefined for a place that was resumed and not asked about yet. */
  get number(): number | undefined {
    return this.#last?.number
  }

  /**
   * Where the place is now.
   *
   * @throws ProblemError `invalid-token`, `signed-out`, `refused`
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const place = await new FlashSale('https://queue.shop.example').join('drop')
   * const { status, estimated_wait_time } = await place.status()
   * console.log(status, estimated_wait_time, 'seconds')
   * ```
   */
  async status({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<QueueAnswer> {
    const path = `/sales/${encodeURIComponent(this.sale)}/queue/status`
    const ask = () => call<QueueAnswer>(this.#connection, 'GET', path, { token: this.#token, signal })
    const { body } = await repeated(ask, signal)
    this.#token = body.queue_token ?? this.#token
    this.#last = body
    return body
  }

  /**
   * Waits for the turn, and claims it. Asks as often as it is told to, also while the sale is paused or all units are
   * in carts, and goes on after failures of the network or the server until `signal` ends it.
   *
   * @throws WaitOver if there will be no turn; ProblemError if the place is not valid any more
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const leave = new AbortController()
   * const place = await new FlashSale('https://queue.shop.example').join('drop')
   * const turn = await place.wait({ signal: leave.signal })
   * console.log(turn.token)
   * ```
   */
  async wait({ signal, onStatus }: WaitOptions = {}): Promise<Turn> {
    let failures = 0
    for (let known = this.#last; ; known = undefined) {
      try {
        const status = known ?? (await this.status({ signal }))
        failures = 0
        onStatus?.(status)
        if (OVER.includes(status.status)) throw new WaitOver(status.status as WaitOver['reason'])
        const { admission_token, admission_expires_at } = status
        if (status.status === 'ready' && admission_token !== undefined)
          return new Turn(this.#connection, this.sale, admission_token, admission_expires_at)
        await pause(Math.max(MIN_POLL_MS, status.poll_after_ms), signal)
      } catch (error) {
        signal?.throwIfAborted()
        const isFinal = error instanceof WaitOver || (error instanceof ProblemError && !isPassing(error))
        if (isFinal) throw error
        await pause(pauseMs(error, ++failures), signal)
      }
    }
  }

  /**
   * Gives the place up. Whoever leaves the lobby keeps their lot; whoever leaves after the draw is out.
   *
   * @example
   * ```ts
   * import { FlashSale } from '@flash-sale/client'
   *
   * const place = await new FlashSale('https://queue.shop.example').join('drop')
   * await place.leave()
   * ```
   */
  async leave({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const path = `/sales/${encodeURIComponent(this.sale)}/queue`
    await repeated(() => call(this.#connection, 'DELETE', path, { token: this.#token, signal }), signal)
  }
}

/** Problems after which the place is as good as before. */
const isPassing = ({ status, type }: ProblemError) =>
  status >= 500 || status === 408 || type === 'too-many-requests' || type === 'too-many-orders'
