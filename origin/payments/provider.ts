/**
 * What any payment provider must be able to do. A charge is authorized first, and its money taken (captured) when the
 * order is confirmed. It carries the order's id as its idempotency key: asking again is asking after the same charge,
 * never a second one.
 */
interface ChargeRequest {
  readonly order: string
  readonly amountMinor: number
  readonly currency: string
  readonly method: string
}

type AuthorizeResult =
  | { readonly result: 'authorized'; readonly charge: string }
  | { readonly result: 'declined'; readonly reason: string }
  /** No answer in time: it may have happened, or may yet. */
  | { readonly result: 'unknown'; readonly reason: string }
  /** Nothing has happened: the provider had no time for it, or does not let us charge, and may later. */
  | { readonly result: 'turned_away'; readonly reason: string }

/** A charge, and the order that it was made for. */
export interface ChargeOf {
  readonly charge: string
  readonly order: string
}

/** A charge as the provider has it. */
export type ChargeRecord = ChargeOf &
  (
    | {
        readonly status: 'authorized' | 'captured'
        readonly amountMinor: number
        readonly currency: string
      }
    /**
     * `cancelled`: no money was taken, and none ever will be. `refund_failed`: it was refunded, and the money has come back
     * since.
     */
    | { readonly status: 'pending' | 'declined' | 'cancelled' | 'refunded' | 'refund_failed' }
  )

/** Some of what changed in the provider's records, and from where to go on. */
interface Changes {
  readonly records: readonly ChargeRecord[]
  readonly cursor: string
}

export interface PaymentProvider {
  /** The name in the path of its webhooks. */
  readonly name: string
  authorize(request: ChargeRequest): Promise<AuthorizeResult>
  /**
   * Takes the money; a second call changes nothing. False if it can never be taken, since nothing is authorized any more;
   * what fails otherwise may be tried again.
   */
  capture(of: ChargeOf): Promise<boolean>
  /** Ends a charge whose money was not taken, so that it never will be; returns what stands. */
  cancel(charge: string): Promise<ChargeRecord>
  /** Gives back whatever there is: an authorization is voided, money that was taken refunded. A second call changes nothing. */
  refund(of: ChargeOf): Promise<void>
  /** The charge of an order, if there is one. */
  find(order: string): Promise<ChargeRecord | undefined>
  /** What changed since a cursor of the provider's own, the oldest first; null begins as far back as matters. */
  changes(since: string | null): AsyncIterable<Changes>
  /** Reads a webhook; undefined when its signature does not hold, null when it is of no interest. */
  readWebhook(headers: Headers, body: string): Promise<ChargeRecord | null | undefined>
}

/** What the status of a charge says after an attempt to capture it: done, false for never, or a failure for not yet. */
export function wasCaptured(status: ChargeRecord['status']): boolean {
  if (status === 'captured' || status === 'refunded') return true
  if (status === 'cancelled') return false
  throw new Error(`the charge is ${status}`)
}

/** A call to a provider must end well before its job is taken to be lost (EXPIRE_SECONDS in jobs.ts). */
export const PROVIDER_TIMEOUT_MS = 6_000
